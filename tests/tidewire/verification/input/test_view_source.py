"""What a view may read: for everybody where nothing is said, and hashable, since plans are kept by it."""

from __future__ import annotations

from tidewire.verification.input.column import Column
from tidewire.verification.input.view_source import NoView, Source
from tidewire.verification.records.attributes import EVERYBODY, Audience

COLUMN = Column("id", "INTEGER", False)


def test_rows_are_for_everybody_where_nothing_else_is_said() -> None:
    made = Source((COLUMN,), ("id",))
    assert made.audience == EVERYBODY and made != Source((COLUMN,), ("id",), Audience((("team", "id"),)))


def test_no_view_is_told_apart_from_a_bad_value() -> None:
    """`planned` makes it of errors of reading, and must not take its own words for one of these."""
    assert not issubclass(NoView, ValueError | LookupError | TypeError | ArithmeticError)
