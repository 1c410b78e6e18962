"""Text that a command takes from a file or, named `-`, from standard input."""

from __future__ import annotations

import codecs
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from connectors.json.reader import MAX_BYTES
from state.errors import UserError

STDIN = Path("-")
MAX_LINE_BYTES = MAX_BYTES
"""Longest line of a file of JSON lines, the longest that is read."""


class UnreadableInput(UserError):
    """An input file cannot be read."""

    code = "unreadable_input"


def read_text(path: Path) -> str:
    """Return the whole text. Raises UnreadableInput."""
    with open_input(path) as stream:
        return text_of(stream.read(), path)


def text_of(data: bytes, path: Path) -> str:
    """Return the text that was read from `path`; a byte order mark is no part of it. Raises UnreadableInput."""
    try:
        return data.removeprefix(codecs.BOM_UTF8).decode()
    except UnicodeDecodeError as error:
        raise UnreadableInput(f"`{path}` is not UTF-8: byte {error.start}. Save it as UTF-8.") from None


def lines_of(stream: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a file; a byte order mark before the first is no part of it.

    Of a line longer than `MAX_LINE_BYTES` only so much is kept and one byte more, so that any file takes little memory.
    """
    mark = codecs.BOM_UTF8
    while line := stream.readline(MAX_LINE_BYTES + 1):
        rest = line
        while len(rest) > MAX_LINE_BYTES and not rest.endswith(b"\n"):
            rest = stream.readline(MAX_LINE_BYTES + 1)
        yield line.removeprefix(mark)
        mark = b""


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
