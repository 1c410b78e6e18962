"""Format `avro`: rows as Avro records, with the schema registry's framing or without.

    schema.7='{"type":"record",...}'   bytes 00 00 00 00 07, then the datum: the table lists the schemas by their id
    schema='registry'                  the same, and schemas that are not listed are the registry's
    schema='{"type":"record",...}'     the datum alone, always of this schema

A field is read by the schema that wrote it (`avro_schema.py`), exactly: no number is rounded but a double for a REAL.
The Kafka key is framed in the same way (a record of exactly the primary key, or for one column its value), or JSON.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from catalog.schema.avro_schema import AvroSchema
from catalog.schema.avro_type import AvroType
from catalog.schema.relation import Relation
from catalog.types.column_type import ColumnType, Kind
from connectors.dead_letter import RecordFault
from connectors.decoded import Decoded
from connectors.formats.avro_datum import NESTED, AvroDatums
from connectors.formats.binary_scalar import read_float, read_unscaled, whole_micros, within
from connectors.formats.row_decoding import Read, RowDecoder
from connectors.json.canonical_key import CanonicalKey
from connectors.json.document import Number
from connectors.json.scalar import Coded, read_scalar
from connectors.record import RawRecords
from connectors.schemas.fetched_schema import avro_text
from connectors.schemas.schema_frame import unframe
from connectors.schemas.writer_schemas import WriterSchemas

_NANOS = {
    f"{local}timestamp-{unit}": nanos
    for local in ("", "local-")
    for unit, nanos in (("millis", 1_000_000), ("micros", 1_000), ("nanos", 1))
}


class AvroFormat:
    """Decodes batches of one relation. `keyless`: rows without a Kafka key are taken (one partition)."""

    def __init__(self, relation: Relation, keyless: bool = False) -> None:
        self._decoder = RowDecoder(relation, keyless, _Datums(relation))

    def decode(self, records: RawRecords) -> Decoded:
        """Decode a batch of ordered records. Raises nothing for bad input, RegistryFailure if the registry is away."""
        return self._decoder.decode(records)


class _Writer:
    """A schema that wrote records, and how they are read for the columns of one table."""

    def __init__(self, schema: AvroSchema, columns: Mapping[str, ColumnType]) -> None:
        self.schema = schema
        self._datums = AvroDatums(schema, columns)
        self._absent: dict[str, Read] = dict.fromkeys(schema.fields, _nothing)
        self._values = {
            name: partial(_told, schema.label, type_, schema.fields[name])
            for name, type_ in columns.items()
            if name in schema.fields
        }

    def reads(self, data: bytes) -> Mapping[str, Read]:
        """Return how to read the values of the record that `data` is, by field. Raises RecordFault."""
        reads = self._absent.copy()
        for name, value in self.record(data).items():
            reads[name] = partial(self._values[name], value)
        return reads

    def record(self, data: bytes) -> Mapping[str, Any]:
        """Return the fields that are columns. Raises RecordFault."""
        try:
            return self._datums.record(data)
        except RecordFault as fault:
            raise self._told(fault) from None

    def whole(self, data: bytes) -> Any:
        """Return a datum that is no record. Raises RecordFault."""
        try:
            return self._datums.whole(data)
        except RecordFault as fault:
            raise self._told(fault) from None

    def _told(self, fault: RecordFault) -> RecordFault:
        return RecordFault(fault.code, f"not a datum of its schema: {fault.message} ({self.schema.label})")


class _Datums:
    def __init__(self, relation: Relation) -> None:
        self._types = {column.name: column.type for column in relation.columns}
        self._primary = [column for column in relation.columns if column.name in relation.key]
        self._key = CanonicalKey(relation)
        self._schemas = WriterSchemas(relation, self._writer, avro_text)
        self._only = self._schemas.only

    def key(self, data: bytes) -> tuple[Coded, ...]:
        if not data.startswith(b"\0") or self._only is not None:
            return self._key.read(data)
        try:
            found = self._key_values(data)
        except RecordFault as fault:
            code = fault.code if fault.code in ("unknown_schema", "malformed_frame") else "malformed_key"
            raise RecordFault(code, f"the Kafka key: {fault.message}") from None
        if any(value is None for value in found):
            raise RecordFault("malformed_key", "the Kafka key: a column of it is null")
        return tuple(value for value in found if value is not None)

    def _key_values(self, data: bytes) -> list[Coded | None]:
        number, rest = unframe(data)
        writer = self._schemas.of(number)
        schema = writer.schema
        if schema.is_record and schema.fields.keys() == {column.name for column in self._primary}:
            datum = writer.record(rest)
            return [_value(c.type, schema.fields[c.name], datum[c.name]) for c in self._primary]
        if not schema.is_record and len(self._primary) == 1:
            return [_value(self._primary[0].type, schema.whole, writer.whole(rest))]
        raise RecordFault("", f"expected exactly the primary key ({schema.label})")

    def row(self, data: bytes) -> Mapping[str, Read]:
        if self._only is not None:
            writer = self._only
        else:
            number, data = unframe(data)
            writer = self._schemas.of(number)
        if not writer.schema.is_record:
            raise RecordFault("not_an_object", f"expected a record, got another datum ({writer.schema.label})")
        return writer.reads(data)

    def _writer(self, text: str, label: str) -> _Writer:
        return _Writer(AvroSchema(text, label), self._types)


def _told(label: str, type_: ColumnType, written: AvroType | None, value: Any) -> Coded | None:
    """Read a value; a refusal says which schema wrote it."""
    try:
        return _value(type_, written, value)
    except RecordFault as fault:
        raise RecordFault(fault.code, f"{fault.message} ({label})") from None


def _nothing() -> None:
    return None


def _value(type_: ColumnType, written: AvroType | None, value: Any) -> Coded | None:
    if value is None:
        return None
    if written is None or value is NESTED:
        raise RecordFault("wrong_type", f"expected {type_}, got a value of no single scalar type")
    return _READERS.get(type_.kind, _plain)(type_, written, value)


def _plain(type_: ColumnType, written: AvroType, value: Any) -> Coded:
    """Read what is the same in JSON: booleans, integers, texts (enums, too)."""
    if isinstance(value, bytes):
        raise RecordFault("wrong_type", f"expected {type_}, got {written}")
    if isinstance(value, float) and not math.isfinite(value):  # JSON has no word for it
        raise RecordFault("wrong_type", f"expected {type_}, got {written} {value!r}")
    return read_scalar(type_, _as_json(value))


def _as_json(value: Any) -> object:
    if isinstance(value, bool | str):
        return value
    return Number(value) if isinstance(value, int) else Number(repr(value))


def _float(type_: ColumnType, written: AvroType, value: Any) -> Coded:
    if not isinstance(value, float):
        return _plain(type_, written, value)
    return read_float(type_, value)


def _decimal(type_: ColumnType, written: AvroType, value: Any) -> Coded:
    if isinstance(value, float) or (isinstance(value, bytes) and written.logical != "decimal"):
        raise RecordFault("wrong_type", f"expected {type_}, got {written}")
    if not isinstance(value, bytes):
        return read_scalar(type_, _as_json(value))
    return read_unscaled(type_, value, written.scale)


def _date(type_: ColumnType, written: AvroType, value: Any) -> Coded:
    if isinstance(value, str):
        return read_scalar(type_, value)
    if written.logical != "date":
        raise RecordFault("wrong_type", f"expected {type_}, got {written}")
    return within(type_, value)


def _timestamp(type_: ColumnType, written: AvroType, value: Any) -> Coded:
    if isinstance(value, str):
        return read_scalar(type_, value)
    if written.logical not in _NANOS:
        raise RecordFault("wrong_type", f"expected {type_}, got {written}")
    return whole_micros(type_, value * _NANOS[written.logical])


_READERS: dict[Kind, Callable[[ColumnType, AvroType, Any], Coded]] = {
    Kind.REAL: _float,
    Kind.DOUBLE: _float,
    Kind.DECIMAL: _decimal,
    Kind.DATE: _date,
    Kind.TIMESTAMP: _timestamp,
}
