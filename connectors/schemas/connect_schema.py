"""Schemas of Kafka Connect as its JSON converter writes them: {"schema": {...}, "payload": {...}}.

    {"type":"struct","name":"pg.public.item.Envelope","fields":[
      {"field":"after","type":"struct","fields":[
        {"field":"id","type":"int64","optional":false},
        {"field":"price","type":"bytes","name":"org.apache.kafka.connect.data.Decimal","parameters":{"scale":"2"}}, ..

A schema is the larger part of a record and the same in almost all of them: what stands before the payload is looked up
by its bytes, and read only the first time. That is as strict as reading the whole text: of `HEAD PAYLOAD }`, HEAD was
seen as the beginning of a JSON object with a schema and a payload, and PAYLOAD is read as one JSON text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from connectors.dead_letter import RecordFault
from connectors.json.document import MAX_DEPTH, Members, Number, parse_document

_PAYLOAD = b',"payload":'
_BEGIN = b'{"schema":{'
_HEADS_KEPT = 64
_LONGEST_HEAD = 1 << 18


@dataclass(frozen=True, slots=True)
class FieldSchema:
    """How one field is written: `type` (int32, string, ..), logical `name` or '', and the fields of a struct."""

    type: str
    name: str = ""
    scale: int | None = None
    fields: Mapping[str, FieldSchema] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.type} {self.name}".rstrip()


@dataclass(frozen=True, slots=True)
class Enveloped:
    """A payload, and the schema that came with it, if any."""

    payload: object
    schema: FieldSchema | None


class SchemaReader:
    """Takes records out of their wrapper; remembers the schemas that it saw last. Cost: see `parse_document`."""

    def __init__(self) -> None:
        self._heads: dict[bytes, FieldSchema] = {}

    def read(self, data: bytes) -> Enveloped:
        """Return payload and schema; what has no wrapper is its own payload. Raises RecordFault."""
        at = data.find(_PAYLOAD) + len(_PAYLOAD) if data.startswith(_BEGIN) else 0
        head, payload = data[:at], data[at:-1]
        known = self._heads.get(head) if at and data.endswith(b"}") else None
        if known is not None and payload.count(b"[") + payload.count(b"{") < MAX_DEPTH:
            try:
                return Enveloped(parse_document(payload), known)
            except RecordFault:
                pass  # the whole text says it better, and may be another one than it seems
        enveloped = _unwrapped(parse_document(data))
        if enveloped.schema is not None and 0 < at <= _LONGEST_HEAD:
            self._remember(head)
        return enveloped

    def _remember(self, head: bytes) -> None:
        try:
            found = _unwrapped(parse_document(head + b"null}"))
        except RecordFault:
            return
        if found.schema is not None:
            if len(self._heads) >= _HEADS_KEPT:
                self._heads.clear()
            self._heads[head] = found.schema


def _unwrapped(document: object) -> Enveloped:
    if not isinstance(document, Members):
        return Enveloped(document, None)
    members = dict(document)
    if members.keys() != {"schema", "payload"}:
        return Enveloped(document, None)
    schema = members["schema"]
    return Enveloped(members["payload"], None if schema is None else _schema(schema))


def _schema(document: object) -> FieldSchema:
    if not isinstance(document, Members):
        raise RecordFault("malformed_schema", "the record's schema is no object")
    members = dict(document)
    type_, name = members.get("type"), members.get("name")
    if not _is_text(type_) or not (name is None or _is_text(name)):
        raise RecordFault("malformed_schema", "the record's schema has a field without a type, or a name that is none")
    fields = members.get("fields")
    inner = _fields(fields) if type_ == "struct" else {}
    return FieldSchema(str(type_), str(name or ""), _scale(members.get("parameters")), inner)


def _fields(listed: object) -> dict[str, FieldSchema]:
    if not isinstance(listed, list) or isinstance(listed, Members):
        raise RecordFault("malformed_schema", "the record's schema has a struct without a list of fields")
    found: dict[str, FieldSchema] = {}
    for one in listed:
        name = dict(one).get("field") if isinstance(one, Members) else None
        if not _is_text(name) or name in found:
            raise RecordFault("malformed_schema", "the record's schema has a field without a name of its own")
        found[str(name)] = _schema(one)
    return found


def _scale(parameters: object) -> int | None:
    """Return the parameter `scale`, which a Decimal has."""
    written = dict(parameters).get("scale") if isinstance(parameters, Members) else None
    if written is None:
        return None
    digits = str(written).removeprefix("-") if isinstance(written, str) else ""
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 6):
        raise RecordFault("malformed_schema", "the record's schema has a scale that is no number")
    return int(str(written))


def _is_text(value: object) -> bool:
    return isinstance(value, str) and not isinstance(value, Number)
