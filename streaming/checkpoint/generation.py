"""Generations of a checkpoint: a rebuilt state gets a folder of its own, and the old one stays as it is.

    <checkpoint>/tidewire/generation.json    {"number": 1, "rebuild": null}    which one is in force, what was asked for
    <checkpoint>/                            generation 0
    <checkpoint>/rebuilt-1/                  generation 1

The file is replaced as a whole, when everything of the next generation is in its place: a kill before that leaves the
old one in force and the request standing, one after it leaves nothing to do.
"""

from __future__ import annotations

import msgspec

from state.errors import StateError, TidewireError
from streaming.checkpoint.files import Files

FILE = "tidewire/generation.json"


class RebuildAskedError(TidewireError):
    """Somebody wants the state rebuilt; the engine does it when it starts again."""

    code = "rebuild_asked"
    retry_helps = True


class Generation(msgspec.Struct, frozen=True):
    """The generation in force, and the table whose state is to be rebuilt, None if none."""

    number: int = 0
    rebuild: str | None = None


class Generations:
    """The generations of the checkpoint at `uri`, whose files are `files`."""

    def __init__(self, files: Files, uri: str) -> None:
        self._files = files
        self._uri = uri

    def read(self) -> Generation:
        """Return what the file says. *Raises* StateError if it cannot be read. *Cost*: one small file."""
        data = self._files.read(FILE)
        if data is None:
            return Generation()
        try:
            return msgspec.json.decode(data, type=Generation)
        except msgspec.DecodeError as error:
            raise StateError(f"`{self._uri}/{FILE}` cannot be read: {error}. Delete it to begin anew.") from error

    def location(self, number: int | None = None) -> str:
        """Return where a generation has its checkpoint: the one in force, or that of `number`."""
        number = self.read().number if number is None else number
        return f"{self._uri.rstrip('/')}/rebuilt-{number}" if number else self._uri

    def ask(self, table: str) -> None:
        """Ask for the state of `table` to be rebuilt."""
        self._write(Generation(self.read().number, table))

    def check(self) -> None:
        """Raise RebuildAskedError if somebody has asked for a rebuild."""
        table = self.read().rebuild
        if table is not None:
            raise RebuildAskedError(
                f"the state of `{table}` is to be rebuilt; the engine does it when it starts again."
            )

    def enter(self, number: int) -> None:
        """Put a generation in force; nothing is asked for any more."""
        self._write(Generation(number))

    def _write(self, generation: Generation) -> None:
        self._files.write(FILE, msgspec.json.encode(generation))
