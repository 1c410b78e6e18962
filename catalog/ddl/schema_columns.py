"""Whether rows of a table can be read by the schemas that it lists: each record would be a dead letter otherwise.

A row needs its primary key, with `absent` = `null` each column that is NOT NULL, with `error` every column. Where the
registry is asked for schemas, nothing is known before the first record. Of several that are listed one has to do: the
others may be of keys, or of records from before a column was added. Where only values of keys are listed, those of rows
may follow later.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from catalog.schema.avro_schema import AvroSchema
from catalog.schema.format_options import REGISTRY
from catalog.schema.proto_schema import ProtoMessage, ProtoSchema, ProtoSchemaError
from catalog.schema.relation import Column, Relation
from catalog.sql.errors import suggestion


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Why no row can be read: what is wrong with which column, None if with all; what would help."""

    column: str | None
    what: str
    hint: str


def unreadable(relation: Relation) -> Unreadable | None:
    """Return why no record can ever be a row of the table; None if one can, or nobody knows. Cost: parses schemas."""
    options = dict(relation.options)
    if relation.format not in ("avro", "protobuf") or options.get("schema") == REGISTRY:
        return None
    texts = {name: text for name, text in options.items() if name == "schema" or name.startswith("schema.")}
    find = _avro_fault if relation.format == "avro" else _proto_fault
    faults = [find(relation, name, text) for name, text in texts.items()]
    if None in faults:
        return None
    found = [fault for fault in faults if fault is not None and (fault.column is not None or "schema" in texts)]
    return found[0] if found else None


def _avro_fault(relation: Relation, name: str, text: str) -> Unreadable | None:
    schema = AvroSchema(text, name)
    if not schema.is_record:
        return Unreadable(
            None, f"{name} is no record, so no record of the topic can be a row", "A row is an Avro record."
        )
    return _fields_fault(relation, schema.label, schema.fields)


def _proto_fault(relation: Relation, name: str, text: str) -> Unreadable | None:
    schema, message = ProtoSchema(text, name), dict(relation.options).get("message", "")
    faults = []
    for one in _messages(schema, message, framed=name != "schema"):
        fault = _fields_fault(relation, one.label, one.fields)
        if fault is None:
            return None
        faults.append(fault)
    lacking = f"{name} has no message that a row can be"
    return faults[0] if faults else Unreadable(None, lacking, "Name one that it has: 'message'='shop.Trade'.")


def _messages(schema: ProtoSchema, message: str, framed: bool) -> Iterator[ProtoMessage]:
    """Yield the messages that rows may be."""
    if message or not framed:
        try:
            yield schema.message(message)
        except ProtoSchemaError:
            return
    else:
        yield from schema.every()


def _fields_fault(relation: Relation, label: str, fields: Mapping[str, Any]) -> Unreadable | None:
    for column in relation.declared:
        if column.name not in fields and _is_needed(relation, column):
            return _missing(column, label, fields)
    return None


def _is_needed(relation: Relation, column: Column) -> bool:
    if column.name in relation.key or relation.absent == "error":
        return True
    return relation.absent == "null" and not column.nullable


def _missing(column: Column, label: str, fields: Mapping[str, Any]) -> Unreadable:
    same = next((name for name in fields if name.lower() == column.name.lower()), None)
    hint = suggestion(column.name, fields, "field")
    if same is not None:
        hint = f'Did you mean `{same}`? Names are told by case: write "{same}" in double quotes.'
    return Unreadable(column.name, f"{label} has no field for column `{column.name}`, so no record can be a row", hint)
