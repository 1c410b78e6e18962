"""What is read of rows to answer a question about them: columns of codes, and the texts that these name.

A row store has them (`state/row_store.py`), and so has a join of several (`operators/joined_rows.py`).
"""

from __future__ import annotations

from typing import Any, Protocol

from state.byte_table import Strings
from state.change_batch import I64


class Texts(Protocol):
    """The texts of each column that has some, by number."""

    def strings_of(self, column: int) -> Strings:
        """Return all of them, each under its number."""
        ...

    def texts_of(self, column: int, numbers: I64) -> list[str]:
        """Return those under `numbers`."""
        ...


class _Columns(Protocol):
    def __getitem__(self, column: int, /) -> Any: ...


class Images(Protocol):
    """Rows as they are, column by column: a code each, order code or number of a text, and whether there is a value."""

    @property
    def codes(self) -> _Columns:
        """The codes; 0 where there is no value."""
        ...

    @property
    def valid(self) -> _Columns:
        """Where there is a value."""
        ...
