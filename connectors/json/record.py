"""One record of format `json`, decoded exactly: the rules, in the order in which they are checked.

1. Key and value together are at most `MAX_RECORD_BYTES` long.
2. The key, if there is one, is the primary key (`canonical_key.py`). Without one: a row is taken if the topic
   has one partition (`keyless`), a tombstone never.
3. A tombstone (no value) is a delete of that key.
4. The value is one JSON text (`json_document.py`) and an object. The last of equal member names wins, members
   that are no columns are ignored and their names told.
5. Each column: absent follows the relation's `absent`; null only where nullable; else the scalar's own rules
   (`json_scalar.py`).
6. The row's primary key equals the key's.

`absent`: `null` makes NULL of a nullable column; `error` refuses; `keep` keeps the stored value, of a primary-key
column the key's. What may be absent from nothing: a NOT NULL column under `null`, a primary-key column under
`null` and `error`.
"""

from __future__ import annotations

from dataclasses import dataclass

from catalog.schema.relation import Column, Relation
from connectors.dead_letter import RecordFault
from connectors.json.canonical_key import CanonicalKey
from connectors.json.document import Members, other_case, parse_document, shown
from connectors.json.scalar import Coded, expected, read_scalar
from connectors.record_limits import MAX_RECORD_BYTES

_SHOWN_CHARACTERS = 100


@dataclass(slots=True)
class JsonRow:
    """One decoded change. `values[c]` is None for NULL and for what is absent; `live` False means delete."""

    key: bytes
    live: bool
    values: list[Coded | None]
    present: list[bool]
    unknown: list[str]


class JsonRecordDecoder:
    """Decodes single records of one relation; slow (about 10 us), exact, and it knows the reason of a refusal."""

    def __init__(self, relation: Relation, keyless: bool = False) -> None:
        self.relation = relation
        self.keyless = keyless
        self.key = CanonicalKey(relation)
        self._key_indexes = [relation.index(column.name) for column in self.key.columns]
        self._primary = frozenset(relation.key)
        self._names = frozenset(column.name for column in relation.columns)

    def decode(self, key: bytes | None, value: bytes | None) -> JsonRow:
        """Decode one record. Raises RecordFault."""
        length = len(key or b"") + len(value or b"")
        if length > MAX_RECORD_BYTES:
            raise RecordFault("too_large", f"key and value have {length} bytes, expected at most {MAX_RECORD_BYTES}")
        stated = None if key is None else self.key.read(key)
        if value is None:
            return self._delete(stated)
        if stated is None and not self.keyless:
            raise RecordFault(
                "missing_key",
                "the record has no Kafka key, and its topic may have several partitions, or its table buckets",
            )
        return self._row(stated, value)

    def _delete(self, stated: tuple[Coded, ...] | None) -> JsonRow:
        if stated is None:
            raise RecordFault("missing_key", "a tombstone without a Kafka key: it does not say what to delete")
        width = len(self.relation.columns)
        return JsonRow(self.key.write(stated), False, [None] * width, [False] * width, [])

    def _row(self, stated: tuple[Coded, ...] | None, value: bytes) -> JsonRow:
        document = parse_document(value)
        if not isinstance(document, Members):
            raise RecordFault("not_an_object", f"expected a JSON object, got {shown(document)}")
        members = dict(document)
        if stated is not None and self.relation.absent == "keep":
            for column, coded in zip(self.key.columns, stated, strict=True):
                members.setdefault(column.name, _Known(coded))
        columns = self.relation.columns
        values = [self._value(column, members) for column in columns]
        row_key = self.key.write([_not_null(values[i]) for i in self._key_indexes])
        if stated is not None and row_key != self.key.write(stated):
            raise RecordFault(
                "key_disagrees", f"the row says {_cut(row_key)}, its Kafka key {_cut(self.key.write(stated))}"
            )
        present = [column.name in members for column in columns]
        unknown = [name for name in members if name not in self._names]
        return JsonRow(row_key, True, values, present, unknown)

    def _value(self, column: Column, members: dict[str, object]) -> Coded | None:
        value = members.get(column.name, _ABSENT)
        if value is _ABSENT:
            self._check_absent(column, members)
            return None
        if value is None:
            if not column.nullable or column.name in self._primary:
                raise RecordFault(
                    "null_not_allowed", f"column `{column.name}`: expected {expected(column.type)}, got null"
                )
            return None
        if isinstance(value, _Known):
            return value.coded
        try:
            return read_scalar(column.type, value)
        except RecordFault as fault:
            raise RecordFault(fault.code, f"column `{column.name}`: {fault.message}") from None

    def _check_absent(self, column: Column, members: dict[str, object]) -> None:
        rule = self.relation.absent
        primary = column.name in self._primary
        if primary or rule == "error" or (rule == "null" and not column.nullable):
            cased = other_case(column.name, members)
            what = f"column `{column.name}`: expected {expected(column.type)}, got no such member{cased}"
            raise RecordFault("missing_column", what)


class _Known:
    """The value of a primary-key column that the row leaves out and the Kafka key says (`absent` = `keep`)."""

    __slots__ = ("coded",)

    def __init__(self, coded: Coded) -> None:
        self.coded = coded


_ABSENT = object()


def _not_null(value: Coded | None) -> Coded:
    assert value is not None  # rule 5: a primary-key column is neither absent nor null
    return value


def _cut(key: bytes) -> str:
    text = key.decode()
    return text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…"
