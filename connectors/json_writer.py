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

from catalog.column_type import Kind
from catalog.relation import Column, Relation
from connectors.canonical_key import CanonicalKey
from connectors.dead_letter import MAX_RECORD_BYTES, RecordFault
from connectors.json_document import Number
from connectors.json_scalar import Coded, expected, read_scalar, scalar_text
from state.errors import UserError

_SHOWN_CHARACTERS = 60


class RowError(UserError):
    """A row or key to publish does not fit its table."""

    code = "malformed_row"


def encode_row(relation: Relation, row: Mapping[str, object]) -> bytes:
    """Return the JSON of a row: columns in DDL order, no blanks, decimals as strings at the column's scale.

    A column that `row` leaves out follows the relation's `absent`: it is NULL, refused, or left out so that the
    stored value is kept. Cost: about 1 us a column.
    Raises RowError for a column that does not exist, a value its type does not hold, a missing or null value
    where none may be, and a row above 64 kB.
    """
    known = {column.name for column in relation.columns}
    for name in row:
        if name not in known:
            raise _error(relation, f"expected one of its columns, got `{name}`; correct the name")
    members = [_member(relation, column, row) for column in relation.columns if not _kept(relation, column, row)]
    data = ("{" + ",".join(members) + "}").encode()
    length = len(data) + len(encode_key(relation, row))
    if length > MAX_RECORD_BYTES:
        raise _error(relation, f"expected at most {MAX_RECORD_BYTES} bytes with its key, got {length}; shorten it")
    return data


def encode_key(relation: Relation, row: Mapping[str, object]) -> bytes:
    """Return the canonical key of a row; of `row`, a whole row or only its key, the primary key is read.

    Raises RowError for a primary-key column that is missing, null, or not of its type.
    """
    key = CanonicalKey(relation)
    values = []
    for column in key.columns:
        coded = _coded(relation, column, row)
        if coded is None:
            raise _error(
                relation, f"column `{column.name}`: expected {expected(column.type)}, got NULL; give it a value"
            )
        values.append(coded)
    return key.write(values)


def _kept(relation: Relation, column: Column, row: Mapping[str, object]) -> bool:
    return relation.absent == "keep" and column.name not in row and column.name not in relation.key


def _member(relation: Relation, column: Column, row: Mapping[str, object]) -> str:
    coded = _coded(relation, column, row)
    text = "null" if coded is None else scalar_text(column.type, coded)
    return f"{json.dumps(column.name, ensure_ascii=False)}:{text}"


def _coded(relation: Relation, column: Column, row: Mapping[str, object]) -> Coded | None:
    value = row.get(column.name)
    if value is None:
        required = not column.nullable or column.name in relation.key
        if required or (column.name not in row and relation.absent == "error"):
            got = "NULL" if column.name in row else "no value"
            raise _error(
                relation, f"column `{column.name}`: expected {expected(column.type)}, got {got}; give it a value"
            )
        return None
    try:
        return read_scalar(column.type, _as_json(column, value))
    except RecordFault as fault:
        raise _error(relation, f"column `{column.name}`: {fault.message}; correct the value") from None
    except (TypeError, UnicodeEncodeError):
        shown = repr(value)[:_SHOWN_CHARACTERS]
        wanted = expected(column.type)
        raise _error(relation, f"column `{column.name}`: expected {wanted}, got {shown}; correct the value") from None


def _as_json(column: Column, value: object) -> object:
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
    if isinstance(value, float) and math.isfinite(value) and column.type.kind is not Kind.DECIMAL:
        return Number(float.__repr__(value))
    if isinstance(value, dt.datetime) and value.tzinfo is None and column.type.kind is Kind.TIMESTAMP:
        return value.isoformat()
    if isinstance(value, dt.date) and not isinstance(value, dt.datetime):
        return value.isoformat()
    raise TypeError


def _error(relation: Relation, what: str) -> RowError:
    return RowError(f"cannot encode a row of table `{relation.name}`: {what}")
