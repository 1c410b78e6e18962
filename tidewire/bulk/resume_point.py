"""How far a long registration has come, in a small file, so that one that was interrupted goes on from there.

    {"source": "subs.jsonl 104857600 1772409599 …", "sent": 420000, "acks": {"0": 17, …}, "waiting": {"id": 7, …},
     "live": 350000, "refused": 2, "ended": 0}

`sent` entries of the source are with the broker. Of these `waiting` have no answer yet, by id, with the offsets of
their records; `acks` is from where to read for them. Sending one again changes nothing, so the file may be behind.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

import msgspec

from state.errors import UserError


class UnwritableResume(UserError):
    """The file that says how far it has come cannot be written."""

    code = "unwritable_resume"


class Reached(msgspec.Struct):
    """What the file holds. A `source` that has changed since is another one."""

    source: str
    acks: dict[int, int]
    sent: int = 0
    waiting: dict[str, int] = {}
    live: int = 0
    refused: int = 0
    ended: int = 0


class ResumePoint:
    """The file at `path`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self, source: str) -> Reached | None:
        """Return how far an earlier run of the same source came; None if there was none, or it was another."""
        try:
            found = msgspec.json.decode(self.path.read_bytes(), type=Reached)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return None
        return found if found.source == source else None

    def write(self, reached: Reached) -> None:
        """Store it, whole or not at all. *Raises* UnwritableResume."""
        draft = self.path.with_name(self.path.name + ".new")
        try:
            draft.write_bytes(msgspec.json.encode(reached))
            draft.replace(self.path)
        except OSError as error:
            problem = f"`{self.path}` cannot be written: {error.strerror}"
            raise UnwritableResume(f"{problem}. Name another file with --resume.") from None

    def remove(self) -> None:
        """Forget it: all is done."""
        with contextlib.suppress(OSError):
            self.path.unlink(missing_ok=True)


def source_of(path: Path, *options: object) -> str:
    """Return what tells a source from another one: name, size and time of the file, and how it is read."""
    with contextlib.suppress(OSError):
        status = path.stat()
        return f"{path.name} {status.st_size} {status.st_mtime_ns} {options!r}"
    return f"{path.name} {options!r}"
