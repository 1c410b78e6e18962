"""Canonical keys: the primary key of a row as bytes, one spelling for each value; these bytes are its identity.

A JSON object of the primary-key columns in DDL order, no blanks, raw UTF-8 with only the escapes JSON demands:

    {"symbol":"AAPL"}    {"origin":"JFK","day":"2013-01-01","fare":"10.25"}

Accepted from a record: any JSON object with exactly these members and equal values (blanks, other order, other
spelling of the same value), or for a single column the bare JSON scalar. Plain text is refused: `NaN`, `1` and
`true` would be ambiguous. Members beyond the primary key are refused too: Kafka would compact and partition
such keys as different rows.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from catalog.schema.relation import Column, Relation
from connectors.dead_letter import RecordFault
from connectors.json.document import Members, other_case, parse_document, shown
from connectors.json.scalar import Coded, expected, read_scalar, scalar_text


class CanonicalKey:
    """Writes and reads the keys of one relation. `columns` are those of the primary key, in DDL order."""

    def __init__(self, relation: Relation) -> None:
        self.columns: tuple[Column, ...] = tuple(c for c in relation.columns if c.name in relation.key)
        self._names = tuple(json.dumps(c.name, ensure_ascii=False) + ":" for c in self.columns)

    def write(self, values: Sequence[Coded]) -> bytes:
        """Return the canonical bytes of a primary key, given as order codes or texts in DDL order."""
        pairs = zip(self._names, self.columns, values, strict=True)
        return ("{" + ",".join(name + scalar_text(c.type, value) for name, c, value in pairs) + "}").encode()

    def read(self, data: bytes) -> tuple[Coded, ...]:
        """Return the primary key that a record's key bytes spell. Raises RecordFault (`malformed_key`)."""
        try:
            document = parse_document(data)
        except RecordFault as fault:
            raise RecordFault("malformed_key", f"the Kafka key: {fault.message}; expected {self._shape()}") from None
        if isinstance(document, Members):
            members = dict(document)
        elif len(self.columns) == 1:
            members = {self.columns[0].name: document}
        else:
            raise self._fault(f"expected {self._shape()}, got {shown(document)}")
        extra = members.keys() - {c.name for c in self.columns}
        if extra:
            cased = next((said for c in self.columns if (said := other_case(c.name, sorted(extra)))), "")
            raise self._fault(f"expected {self._shape()}, got another member {shown(min(extra))}{cased}")
        return tuple(self._value(column, members) for column in self.columns)

    def _value(self, column: Column, members: dict[str, object]) -> Coded:
        if column.name not in members:
            raise self._fault(f"column `{column.name}`: expected {expected(column.type)}, got no such member")
        value = members[column.name]
        if value is None:
            raise self._fault(f"column `{column.name}`: expected {expected(column.type)}, got null")
        try:
            return read_scalar(column.type, value)
        except RecordFault as fault:
            raise self._fault(f"column `{column.name}`: {fault.message}") from None

    def _shape(self) -> str:
        names = ", ".join(f"`{c.name}`" for c in self.columns)
        return f"a JSON object of {names}" + (" or its bare JSON value" if len(self.columns) == 1 else "")

    @staticmethod
    def _fault(message: str) -> RecordFault:
        return RecordFault("malformed_key", "the Kafka key: " + message)
