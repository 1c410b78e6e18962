"""Which schema wrote a record that is framed: the table lists them by the registry's number."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

from connectors.dead_letter import RecordFault

S = TypeVar("S")
_LISTED = "schema."


class WriterSchemas(Generic[S]):
    """The schemas of one table by number; `make` makes one of its text and label."""

    def __init__(self, options: Mapping[str, str], make: Callable[[str, str], S]) -> None:
        self._by_id = {
            number: make(text, f"schema {number}")
            for number, text in (
                (int(name.removeprefix(_LISTED)), text) for name, text in options.items() if name.startswith(_LISTED)
            )
        }

    def of(self, number: int) -> S:
        """Return the schema of a number. Raises RecordFault."""
        schema = self._by_id.get(number)
        if schema is None:
            known = ", ".join(map(str, sorted(self._by_id)))
            raise RecordFault("unknown_schema", f"schema {number} wrote it, and the table lists {known}")
        return schema
