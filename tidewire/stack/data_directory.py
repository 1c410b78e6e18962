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
from typing import Any

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
        """Whether nothing was ever kept here."""
        return not (self.path / "broker").exists() and not (self.path / "checkpoint").exists()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Create the directory, make sure it can be written, and hold its lock.

        Raises:
            NoPermissionError: it cannot be created or written.
            DirectoryInUseError: another process holds it.
        """
        self._create()
        with (self.path / "lock").open("a+b") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                lock.seek(0)
                raise DirectoryInUseError(self._taken(lock.read(20))) from error
            lock.truncate(0)
            lock.write(str(os.getpid()).encode())
            lock.flush()
            try:
                yield
            finally:
                self.status_file.unlink(missing_ok=True)
                lock.truncate(0)

    def write_status(self, status: Mapping[str, Any]) -> None:
        """Replace the status file; a reader sees the old one or the new one, never a part."""
        handle, name = tempfile.mkstemp(dir=self.run, prefix=".status-")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(status, file, indent=1)
        Path(name).replace(self.status_file)

    def read_status(self) -> dict[str, Any] | None:
        """Return what runs here as its `up` last wrote it, None when nothing does."""
        try:
            status = json.loads(self.status_file.read_text(encoding="utf-8"))
            os.kill(int(status["pid"]), 0)
        except PermissionError:
            return dict(status)
        except (OSError, ValueError, KeyError):
            return None
        return dict(status)

    def _create(self) -> None:
        try:
            for folder in (self.path, self.logs, self.run):
                folder.mkdir(parents=True, exist_ok=True)
                with tempfile.TemporaryFile(dir=folder):
                    pass
        except OSError as error:
            raise NoPermissionError(
                f"the data directory `{self.path}` cannot be used: {error.strerror} (`{error.filename}`). "
                "Give this user the right to write there, or choose another `data_dir`."
            ) from error

    def _taken(self, pid: bytes) -> str:
        holder = f" (process {pid.decode()})" if pid.isdigit() else ""
        return (
            f"the data directory `{self.path}` is in use by another `tidewire up`{holder}. "
            "Stop that one, or choose another `data_dir` (and another `broker_port`)."
        )


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
    return before if before and before != directory and before.is_dir() else None
