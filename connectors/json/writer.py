"""What a publisher sends: rows and keys of a relation as canonical JSON, checked as strictly as the decoder does.

A value may be what Python has for the column (`Decimal`, `date`, naive `datetime`, numbers, `bool`, `str`, None)
or its JSON form (`"10.25"`, `"2026-03-01"`). What is written, the decoder of the relation takes; the key is the
canonical one, so all publishers agree on a row's partition.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import numbers
from collections.abc import Mapping
from decimal import Decimal
from functools import lru_cache
from json.encoder import encode_basestring

from catalog.schema.relation import Column, Relation
from catalog.types.column_type import Kind
from connectors.dead_letter import RecordFault
from connectors.json.document import Number
from connectors.json.scalar import INTEGER_BOUNDS, expected, read_scalar, scalar_text
from connectors.record_limits import MAX_RECORD_BYTES
from state.errors import UserError

_SHOWN_CHARACTERS = 60
_ABSENT = object()


class RowError(UserError):
    """A row or key to publish does not fit its table."""

    code = "malformed_row"


class RowEncoder:
    """Encodes the rows and keys of one relation; make it once for many rows.

    A column that a row leaves out follows the relation's `absent`: it is NULL, refused, or left out so that the
    stored value is kept. Raises RowError for a relation of another format than `json`.
    """

    def __init__(self, relation: Relation) -> None:
        if relation.format != "json":
            raise RowError(
                f"table `{relation.name}` is fed in format '{relation.format}', and rows are written in 'json' only; "
                "let its own producer write them, or send records as they are with `tidewire publish --raw`"
            )
        self.relation = relation
        self._columns = [(_Member(relation, column), column.name in relation.key) for column in relation.declared]
        self._names = frozenset(column.name for column in relation.declared)

    def record(self, row: Mapping[str, object]) -> tuple[bytes, bytes]:
        """Return key and value of a row: columns in DDL order, no blanks, decimals as strings at the column's scale.

        Cost: about 1 us a column, 2 us for a DECIMAL.
        Raises RowError for a column that does not exist, a value its type does not hold, a missing or null value
        where none may be, and a record above 64 kB.
        """
        if not row.keys() <= self._names:
            name = next(name for name in row if name not in self._names)
            raise self._error(f"expected one of its columns, got `{name}`; correct the name")
        keep = self.relation.absent == "keep"
        members, primary = [], []
        for member, is_primary in self._columns:
            if keep and not is_primary and member.name not in row:
                continue
            text = member.text(row.get(member.name, _ABSENT))
            members.append(text)
            if is_primary:
                primary.append(text)
        key, value = _object(primary), _object(members)
        if len(key) + len(value) > MAX_RECORD_BYTES:
            length = len(key) + len(value)
            raise self._error(f"expected at most {MAX_RECORD_BYTES} bytes with its key, got {length}; shorten it")
        return key, value

    def key(self, row: Mapping[str, object]) -> bytes:
        """Return the canonical key of a row; of `row`, a whole row or only its key, the primary key is read.

        Raises RowError for a primary-key column that is missing, null, or not of its type.
        """
        return _object([m.text(row.get(m.name, _ABSENT)) for m, is_primary in self._columns if is_primary])

    def _error(self, what: str) -> RowError:
        return RowError(f"cannot encode a row of table `{self.relation.name}`: {what}")


_encoder = lru_cache(maxsize=64)(RowEncoder)


def encode_row(relation: Relation, row: Mapping[str, object]) -> bytes:
    """Return the JSON of one row; for many, see `RowEncoder`. Raises RowError."""
    return _encoder(relation).record(row)[1]


def encode_key(relation: Relation, row: Mapping[str, object]) -> bytes | None:
    """Return the canonical key of one row, None of a stream; for many, see `RowEncoder`. Raises RowError."""
    return _encoder(relation).key(row) if relation.key else None


class _Member:
    """Writes the member of one column."""

    __slots__ = ("_absent_is_null", "_bound", "_column", "_kind", "_prefix", "_required", "_table", "name")

    def __init__(self, relation: Relation, column: Column) -> None:
        self.name = column.name
        self._column = column
        self._kind = column.type.kind
        self._bound = INTEGER_BOUNDS.get(column.type.kind, 0)
        self._table = relation.name
        self._prefix = json.dumps(column.name, ensure_ascii=False) + ":"
        self._required = not column.nullable or column.name in relation.key
        self._absent_is_null = relation.absent == "null"

    def text(self, value: object) -> str:
        """Return `"name":value`. Usual values take a short way that writes the same text."""
        kind = self._kind
        if kind is Kind.VARCHAR and isinstance(value, str) and value.isascii():
            return self._prefix + encode_basestring(value)
        if kind is Kind.DOUBLE and isinstance(value, float) and math.isfinite(value):
            return self._prefix + float.__repr__(value + 0.0)
        if isinstance(value, int) and not isinstance(value, bool) and -self._bound <= value < self._bound:
            return self._prefix + str(int(value))
        return self._prefix + self._any_text(value)

    def _any_text(self, value: object) -> str:
        if value is None or value is _ABSENT:
            if self._required or (value is _ABSENT and not self._absent_is_null):
                got = "NULL" if value is None else "no value"
                raise self._error(f"expected {expected(self._column.type)}, got {got}; give it a value")
            return "null"
        try:
            return scalar_text(self._column.type, read_scalar(self._column.type, _as_json(self._kind, value)))
        except RecordFault as fault:
            raise self._error(f"{fault.message}; correct the value") from None
        except (TypeError, ValueError):
            got = _described(value)
            raise self._error(f"expected {expected(self._column.type)}, got {got}; correct the value") from None

    def _error(self, what: str) -> RowError:
        return RowError(f"cannot encode a row of table `{self._table}`: column `{self.name}`: {what}")


def _described(value: object) -> str:
    try:
        return repr(value)[:_SHOWN_CHARACTERS]
    except ValueError:  # Python writes no integer of more than 4,300 digits
        return "an integer of thousands of digits"


def _object(members: list[str]) -> bytes:
    return ("{" + ",".join(members) + "}").encode()


def _as_json(kind: Kind, value: object) -> object:
    """Turn a Python value into what `parse_document` would have made of its JSON. Raises TypeError for no JSON."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        value.encode()
        return str(value)
    if isinstance(value, numbers.Integral):
        return Number(int(value))
    if isinstance(value, Decimal) and value.is_finite():
        return Number(value)
    if isinstance(value, float) and math.isfinite(value) and kind is not Kind.DECIMAL:
        return Number(float.__repr__(value))
    if isinstance(value, dt.datetime) and value.tzinfo is None and kind is Kind.TIMESTAMP:
        return value.isoformat()
    if isinstance(value, dt.date) and not isinstance(value, dt.datetime):
        return value.isoformat()
    raise TypeError
