"""What is wrong with a record that one part of tidewire wrote for another: it is damaged, or newer than its reader."""

from __future__ import annotations

from collections.abc import Container
from typing import Annotated

import msgspec

from state.errors import TidewireError

OLDEST_FORMAT = 1
"""The oldest format of packed and control records that is read here; a record that does not say its own is of it."""
FORMAT = 2
"""That of packed records, and of control records that name channels, where they need no newer one:"""
ROWS_FORMAT = 3
"""That of what edges register for questions for rows (`operators/needed_format.py`)."""
WINDOW_FORMAT = 4
"""That of what a cell sends whose rows edges are to keep, or have (`operators/row_window.py`)."""
HORIZON_FORMAT = 5
"""That of what a view of streams sends with its horizon (`catalog/schema/stream.py`)."""
VIEWS_FORMAT = 6
"""That of what a cell sends while questions join views there."""
NEWEST_FORMAT = VIEWS_FORMAT
"""The newest one that is read here, of whatever kind the record is; the next one gets the next number."""
Number = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
"""A number of 64 bits: JSON has larger ones, which nothing here counts up to."""


class RecordError(TidewireError):
    """A record cannot be read. `newer`: a version of tidewire wrote it that knows more than this one."""

    code = "unreadable_record"

    def __init__(self, message: str, *, newer: bool = False) -> None:
        super().__init__(message)
        self.newer = newer


class _Said(msgspec.Struct):
    kind: str = ""
    format: object = OLDEST_FORMAT


_SAID = msgspec.json.Decoder(_Said)


def newer_than_we(header: bytes, kinds: Container[str]) -> str:
    """Return what a record's JSON says that only another tidewire writes: its format or kind; '' where it says none.

    Cost: 0.3 us and the length of the JSON.

    >>> newer_than_we(b'{"kind":"epoch","format":99}', ("epoch",))
    'format 99, expected at most 6'
    """
    try:
        said = _SAID.decode(header)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""
    if type(said.format) is not int or not OLDEST_FORMAT <= said.format <= NEWEST_FORMAT:
        return f"format {said.format!r}, expected at most {NEWEST_FORMAT}"
    return f"kind `{said.kind}`, which this version does not know" if said.kind and said.kind not in kinds else ""


def format_of(header: bytes) -> int:
    """Return the format that a record's JSON says, the oldest where it says none. Raises msgspec.DecodeError."""
    said = _SAID.decode(header).format
    return said if isinstance(said, int) else OLDEST_FORMAT
