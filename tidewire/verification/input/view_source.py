"""What a view may read: a table or a view, by its columns, its key and for whom its rows are."""

from __future__ import annotations

from dataclasses import dataclass

from tidewire.verification.input.column import Column
from tidewire.verification.records.attributes import EVERYBODY, Audience


class NoView(Exception):
    """A statement about views that does not apply, or none that is known here."""


@dataclass(frozen=True, slots=True)
class Source:
    """A table or view that may be read; `key` are the columns that tell its rows apart, () where none are known.

    `audience` says for whom its rows are.
    """

    columns: tuple[Column, ...]
    key: tuple[str, ...]
    audience: Audience = EVERYBODY
