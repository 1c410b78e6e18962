"""One record of format `debezium-json`, decoded exactly: the rules, in the order in which they are checked.

1. Key and value together are at most `MAX_ENVELOPE_BYTES` long.
2. No value: a tombstone, which deletes its key; without a key it says nothing and is ignored.
3. The value is a JSON object, or {"schema", "payload"} with one as payload (`connect_schema.py`).
4. Without `op` it is a heartbeat, a transaction's boundary or a change of schema, and ignored, or no envelope.
5. `op`: c, u, r upsert `after`; d deletes; t empties the table; m is a message, and ignored.
6. The key, if there is one, is an object of exactly the primary key's columns.
7. `after`: absent columns follow the table's `absent`, null only where nullable, the placeholder (not in the primary
   key) keeps the stored value, all else by `debezium_scalar.py`. Texts of more than `MAX_RECORD_BYTES` are refused.
8. The row's primary key equals the key's. Without a key, rows are taken only where the topic has one partition;
   then a delete, and an update that changed the primary key, go by `before`.

`before` is used for nothing else: it may hold the key alone and make up the rest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from catalog.schema.format_options import PLACEHOLDER, UNITS, unit_of
from catalog.schema.relation import Column, Relation
from connectors.dead_letter import RecordFault
from connectors.formats.debezium_position import position_of
from connectors.formats.debezium_scalar import read_debezium
from connectors.json.canonical_key import CanonicalKey
from connectors.json.document import Members, Number, shown
from connectors.json.scalar import Coded
from connectors.record_limits import MAX_ENVELOPE_BYTES, MAX_RECORD_BYTES
from connectors.schemas.connect_schema import FieldSchema, SchemaReader
from connectors.unresolved import Position

_IGNORED = (
    {"ts_ms"},
    {"status", "id"},
    {"source", "ddl"},
    {"source", "tableChanges"},
)
"""Members that a heartbeat, a transaction's boundary and a change of schema have; the first has no others."""
_CLOCKS = {"ts_ms", "ts_us", "ts_ns"}
_SHOWN_CHARACTERS = 100
_NO_SCHEMA = FieldSchema("struct")
_ABSENT = object()

Kind = Literal["upsert", "delete", "truncate"]


@dataclass(slots=True)
class DebeziumChange:
    """What one record does. `values` are None for NULL and for what `unchanged` says is to be kept.

    origin: the key that the row had before, where it had another one.
    moment: what names the change in the database's own log; equal in the delete and the create of one change of key.
    position: where it stands in that log, where the connector says so in a way that we understand.
    """

    kind: Kind
    key: bytes = b""
    values: list[Coded | None] = field(default_factory=list)
    present: list[bool] = field(default_factory=list)
    unchanged: list[bool] = field(default_factory=list)
    origin: bytes | None = None
    moment: bytes | None = None
    unknown: list[str] = field(default_factory=list)
    position: Position | None = None


class DebeziumRecordDecoder:
    """Decodes single records of one relation. `keyless`: the topic has one partition."""

    def __init__(self, relation: Relation, keyless: bool = False) -> None:
        self.relation = relation
        self.keyless = keyless
        self._key = CanonicalKey(relation)
        self._names = frozenset(c.name for c in relation.columns)
        self._primary = frozenset(relation.key)
        self._key_indexes = [relation.index(c.name) for c in self._key.columns]
        self._units = {c.name: unit_of(relation, c) for c in relation.columns}
        self._placeholder = dict(relation.options).get("placeholder", PLACEHOLDER)
        self._values = SchemaReader()
        self._keys = SchemaReader()

    def decode(self, key: bytes | None, value: bytes | None) -> DebeziumChange | None:
        """Decode one record; None: it is ignored. Raises RecordFault."""
        length = len(key or b"") + len(value or b"")
        if length > MAX_ENVELOPE_BYTES:
            raise RecordFault("too_large", f"key and value have {length} bytes, expected at most {MAX_ENVELOPE_BYTES}")
        if value is None:
            return None if key is None else DebeziumChange("delete", self._key.write(self._stated(key)))
        enveloped = self._values.read(value)
        payload, schema = enveloped.payload, enveloped.schema
        if not isinstance(payload, Members):
            raise RecordFault("not_an_object", f"expected an envelope, got {shown(payload)}")
        members = dict(payload)
        if "op" not in members:
            _check_ignored(members)
            return None
        op = members["op"]
        try:
            change = self._change(op, key, members, schema)
        except RecordFault as fault:
            raise RecordFault(fault.code, fault.message + _written_by(schema)) from None
        if change is not None and op != "r":
            change.position = position_of(members.get("source"))
        return change

    def _change(
        self, op: object, key: bytes | None, members: Mapping[str, object], schema: FieldSchema | None
    ) -> DebeziumChange | None:
        if op == "m" and not isinstance(op, Number):
            return None
        if op == "t" and not isinstance(op, Number):
            return DebeziumChange("truncate")
        if op not in ("c", "u", "r", "d") or isinstance(op, Number):
            raise RecordFault("unknown_operation", f"`op`: expected c, u, d, r, t or m, got {shown(op)}")
        stated = None if key is None else self._stated(key)
        moment = _moment(members.get("source"))
        if op == "d":
            return self._delete(stated, members.get("before"), _image(schema, "before"), moment)
        if stated is None and not self.keyless:
            raise RecordFault("missing_key", "the record has no Kafka key, and its topic may have several partitions")
        change = self._upsert(members.get("after"), _image(schema, "after"))
        change.moment = moment
        if stated is not None:
            if change.key != self._key.write(stated):
                said = _cut(self._key.write(stated))
                raise RecordFault("key_disagrees", f"the row says {_cut(change.key)}, its Kafka key {said}")
        elif op == "u":
            change.origin = self._origin(members.get("before"), _image(schema, "before"), change.key)
        return change

    def _delete(
        self, stated: tuple[Coded, ...] | None, before: object, schema: FieldSchema | None, moment: bytes | None
    ) -> DebeziumChange:
        if stated is not None:
            return DebeziumChange("delete", self._key.write(stated), moment=moment)
        if not self.keyless:
            raise RecordFault("missing_key", "the record has no Kafka key, and its topic may have several partitions")
        if not isinstance(before, Members):
            raise RecordFault("missing_key", "a delete without a Kafka key and `before` does not say what to delete")
        members = dict(before)
        return DebeziumChange("delete", self._key.write([self._known(c, members, schema) for c in self._key.columns]))

    def _origin(self, before: object, schema: FieldSchema | None, key: bytes) -> bytes | None:
        """Return the key that an update without a Kafka key found, if it is another one than it left."""
        if not isinstance(before, Members):
            return None
        members = dict(before)
        found = self._key.write([self._known(c, members, schema) for c in self._key.columns])
        return None if found == key else found

    def _stated(self, key: bytes) -> tuple[Coded, ...]:
        """Read the Kafka key. Raises RecordFault (`malformed_key`)."""
        names = ", ".join(f"`{c.name}`" for c in self._key.columns)
        try:
            enveloped = self._keys.read(key)
            if not isinstance(enveloped.payload, Members):
                raise RecordFault("", f"expected an object of {names}, got {shown(enveloped.payload)}")
            members = dict(enveloped.payload)
            if members.keys() != self._primary:
                raise RecordFault("", f"expected an object of {names}, got one of {_listed(members)}")
            return tuple(self._known(c, members, enveloped.schema) for c in self._key.columns)
        except RecordFault as fault:
            code = "missing_schema" if fault.code == "missing_schema" else "malformed_key"
            raise RecordFault(code, f"the Kafka key: {fault.message}") from None

    def _upsert(self, after: object, schema: FieldSchema | None) -> DebeziumChange:
        if not isinstance(after, Members):
            raise RecordFault("missing_image", f"`after`: expected the row as an object, got {shown(after)}")
        members = dict(after)
        unchanged = [self._is_unchanged(c, members) for c in self.relation.columns]
        values = [
            None if kept else self._value(column, members, schema)
            for column, kept in zip(self.relation.columns, unchanged, strict=True)
        ]
        length = sum(len(text.encode()) for text in values if isinstance(text, str))
        if length > MAX_RECORD_BYTES:
            raise RecordFault("too_large", f"the row's texts have {length} bytes, expected at most {MAX_RECORD_BYTES}")
        key = self._key.write([_not_null(values[i]) for i in self._key_indexes])
        present = [column.name in members for column in self.relation.columns]
        unknown = [name for name in members if name not in self._names]
        return DebeziumChange("upsert", key, values, present, unchanged, unknown=unknown)

    def _is_unchanged(self, column: Column, members: Mapping[str, object]) -> bool:
        value = members.get(column.name)
        is_text = isinstance(value, str) and not isinstance(value, Number)
        return is_text and value == self._placeholder and column.name not in self._primary

    def _value(self, column: Column, members: Mapping[str, object], schema: FieldSchema | None) -> Coded | None:
        value = members.get(column.name, _ABSENT)
        if value is _ABSENT:
            rule = self.relation.absent
            if column.name in self._primary or rule == "error" or (rule == "null" and not column.nullable):
                raise RecordFault("missing_column", f"column `{column.name}`: expected {column.type}, got none")
            return None
        if value is None and column.nullable and column.name not in self._primary:
            return None
        return self._known(column, members, schema)

    def _known(self, column: Column, members: Mapping[str, object], schema: FieldSchema | None) -> Coded:
        """Return a value that must be there."""
        value = members.get(column.name)
        if value is None:
            raise RecordFault("null_not_allowed", f"column `{column.name}`: expected {column.type}, got null")
        unit = (schema or _NO_SCHEMA).fields.get(column.name) or self._units[column.name]
        if unit is None and column.type.kind in UNITS:
            nobody = "neither the record's schema nor the table says"
            raise RecordFault("missing_schema", f"column `{column.name}`: {nobody} how its {column.type} is written")
        try:
            return read_debezium(column.type, value, unit)
        except RecordFault as fault:
            raise RecordFault(fault.code, f"column `{column.name}`: {fault.message}") from None


def _check_ignored(members: Mapping[str, object]) -> None:
    """Raise RecordFault if a record without `op` is none of those that say nothing about rows."""
    names = set(members)
    if "ts_ms" in names and names <= _CLOCKS:
        return
    if any(known <= names for known in _IGNORED[1:]):
        return
    raise RecordFault("not_an_envelope", f"expected an object with `op`, got one of {_listed(members)}")


def _image(schema: FieldSchema | None, name: str) -> FieldSchema | None:
    return None if schema is None else schema.fields.get(name)


def _moment(source: object) -> bytes | None:
    """Return a digest of where the change stands in the database's log."""
    if not isinstance(source, Members):
        return None
    return hashlib.blake2b(repr(source).encode("utf-8", "surrogatepass"), digest_size=12).digest()


def _written_by(schema: FieldSchema | None) -> str:
    return f" (schema `{_cut(schema.name.encode())}`)" if schema is not None and schema.name else ""


def _listed(members: Mapping[str, object]) -> str:
    names = ", ".join(f"`{name}`" for name in members) or "nothing"
    return names if len(names) <= _SHOWN_CHARACTERS else names[:_SHOWN_CHARACTERS] + "…"


def _not_null(value: Coded | None) -> Coded:
    assert value is not None  # rule 7: a primary-key column is neither absent, null nor a placeholder
    return value


def _cut(key: bytes) -> str:
    text = key.decode()
    return text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…"
