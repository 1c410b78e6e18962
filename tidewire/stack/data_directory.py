"""The data directory of an embedded stack: what lies where, and that only one `tidewire up` works on it.

lock            held (flock) as long as `up` lives: the kernel lets go of it however the process ends
broker/         the broker's properties and its log directory
checkpoint/     the engine's checkpoint
logs/           one file a process
run/            status.json: what runs now; removed at a clean stop
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import psutil

from tidewire.option_name import option_of
from tidewire.stack.disk import is_there, nearest
from tidewire.stack.failure import DirectoryInUseError, NoPermissionError

DEFAULT_DIRECTORY = Path("tidewire-data")
"""What `conf/settings.toml` says, too."""


class DataDirectory:
    """Paths in a data directory, its lock and its status file."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self.logs = self.path / "logs"
        self.run = self.path / "run"
        self.status_file = self.run / "status.json"

    @property
    def is_new(self) -> bool:
        """Whether nothing was ever kept here, as far as this user can see."""
        return not is_there(self.path / "broker") and not is_there(self.path / "checkpoint")

    @contextmanager
    def held(self) -> Iterator[None]:
        """Create the directory, make sure it can be written, and hold its lock.

        What was created and is still empty at the end is removed: a start that fails leaves nothing behind.

        Raises:
            NoPermissionError: it cannot be created or written.
            DirectoryInUseError: another process holds it.
        """
        made: list[Path] = []
        lock = self._lock(made)
        try:
            yield
        finally:
            self.status_file.unlink(missing_ok=True)
            lock.truncate(0)
            self._remove_empty(made)
            lock.close()

    def write_status(self, status: Mapping[str, Any]) -> None:
        """Replace the status file; a reader sees the old one or the new one, never a part."""
        handle, name = tempfile.mkstemp(dir=self.run, prefix=".status-")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(status, file, indent=1)
        Path(name).replace(self.status_file)

    def read_status(self) -> dict[str, Any] | None:
        """Return what runs here as its `up` last wrote it, None when nothing does."""
        try:
            status = dict(json.loads(self.status_file.read_text(encoding="utf-8")))
            pid = int(status["pid"])
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return status if psutil.pid_exists(pid) else None

    def _lock(self, made: list[Path]) -> BinaryIO:
        """Return the lock file, locked, with our number in it; note in `made` what had to be created for it."""
        path = self.path / "lock"
        while True:
            self._create(made)
            if not is_there(path):
                made.append(path)
            try:
                lock = path.open("a+b")
            except OSError as error:
                self._remove_empty(made)
                raise self._unusable(path, error) from error
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                with lock:
                    lock.seek(0)
                    raise DirectoryInUseError(self._taken(lock.read(20))) from error
            if _is_still(lock, path):
                break
            lock.close()  # whoever held it has just removed it
        lock.truncate(0)
        lock.write(str(os.getpid()).encode())
        lock.flush()
        return lock

    def _create(self, made: list[Path]) -> None:
        for folder in (self.path, self.logs, self.run):
            above = [one for one in (folder, *folder.parents) if not is_there(one)]
            try:
                folder.mkdir(parents=True, exist_ok=True)
                made += reversed(above)
                with tempfile.TemporaryFile(dir=folder):
                    pass
            except (OSError, ValueError) as error:
                made += [one for one in reversed(above) if one not in made and is_there(one)]
                self._remove_empty(made)
                raise self._unusable(folder, error) from error

    def _remove_empty(self, made: list[Path]) -> None:
        """Remove what we have made and nobody has used; the lock only with all else that is beside it."""
        for place in (self.run, self.logs):
            if place in made:
                with contextlib.suppress(OSError):
                    place.rmdir()
        lock = self.path / "lock"
        if lock in made and self.is_new and not any(one in made and is_there(one) for one in (self.run, self.logs)):
            lock.unlink(missing_ok=True)
        for place in reversed(made):
            if place != lock:
                with contextlib.suppress(OSError):
                    place.rmdir()

    def _unusable(self, place: Path, error: OSError | ValueError) -> NoPermissionError:
        what = f"the data directory `{self.path}` cannot be used"
        blocking = not_a_directory(place if place.name != "lock" else self.path)
        if blocking is not None:
            return NoPermissionError(
                f"{what}: `{blocking}` is a file, not a directory. Choose a directory by {option_of('data_dir')}."
            )
        reason = getattr(error, "strerror", None) or str(error)
        return NoPermissionError(
            f"{what}: {reason} (`{place}`). Give this user the right to write there, or choose another by "
            f"{option_of('data_dir')}."
        )

    def _taken(self, pid: bytes) -> str:
        holder = f" (process {pid.decode()})" if pid.isdigit() else ""
        return (
            f"the data directory `{self.path}` is in use by another `tidewire up`{holder}. "
            f"Stop that one, or choose another {option_of('data_dir')} and another {option_of('broker_port')}."
        )


def not_a_directory(path: Path) -> Path | None:
    """Return what stands where `path` or a folder above it should be and is no directory; None if nothing does."""
    found = nearest(path)
    return None if found.is_dir() else found


def _is_still(lock: BinaryIO, path: Path) -> bool:
    """Whether `path` names the file that is open."""
    try:
        there = path.stat()
    except OSError:
        return False
    return os.path.samestat(os.fstat(lock.fileno()), there)


def remember(directory: Path, cache: Path | None) -> Path | None:
    """Note that `directory` is used now; return the one used before if it was another and still exists."""
    if cache is None:
        return None
    note = cache / "last-data-directory"
    before: Path | None = None
    with contextlib.suppress(OSError, UnicodeDecodeError):
        before = Path(note.read_text(encoding="utf-8"))
    with contextlib.suppress(OSError):
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(str(directory), encoding="utf-8")
    return before if before and before != directory and is_there(before) else None
