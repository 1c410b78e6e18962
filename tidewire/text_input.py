"""Text that a command takes from a file or, named `-`, from standard input."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from state.errors import UserError

STDIN = Path("-")


class UnreadableInput(UserError):
    """An input file cannot be read."""

    code = "unreadable_input"


def read_text(path: Path) -> str:
    """Return the whole text. Raises UnreadableInput."""
    with open_input(path) as stream:
        return text_of(stream.read(), path)


def text_of(data: bytes, path: Path) -> str:
    """Return the text that was read from `path`. Raises UnreadableInput."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise UnreadableInput(f"`{path}` is not UTF-8: byte {error.start}. Save it as UTF-8.") from None


@contextmanager
def open_input(path: Path) -> Iterator[BinaryIO]:
    """Open the file, or standard input. Raises UnreadableInput."""
    if path == STDIN:
        yield sys.stdin.buffer
        return
    try:
        with path.open("rb") as stream:
            yield stream
    except OSError as error:
        raise UnreadableInput(
            f"`{path}` cannot be read: {error.strerror}. Name another file, or - for input."
        ) from None
