"""Records as they were captured: JSON lines of topic, key and value, each byte as it was.

    {"topic": "pg.public.item", "key": "{\\"id\\":1}", "value": {"base64": "AAAAAAEC"}}
    {"topic": "pg.public.item", "partition": 0, "key": {"json": {"id": 1}}, "value": null}

A key or value is text (its UTF-8), {"base64": ...}, {"json": ...} (the JSON as it is written there, numbers of any size
included), or null for none.
"""

from __future__ import annotations

import base64
import binascii
import re

import msgspec

from connectors.json.document import Members, Number
from connectors.json.reader import UnreadableJson, read_document
from connectors.record import OutRecord

_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")
_FORMS = 'text, null, {"base64": "..."} or {"json": ...}'


class RawRecord(msgspec.Struct, forbid_unknown_fields=True):
    """Key and value as they are written in a line; `topic` may be said elsewhere."""

    value: msgspec.Raw
    key: msgspec.Raw = msgspec.Raw(b"null")
    topic: str | None = None
    partition: int | None = None

    def pair(self) -> tuple[bytes | None, bytes | None]:
        """Return key and value as bytes. Raises ValueError."""
        return _bytes("key", self.key), _bytes("value", self.value)


class _Wrapped(msgspec.Struct, forbid_unknown_fields=True):
    base64: str | msgspec.UnsetType = msgspec.UNSET
    json: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


def read_raw_line(line: bytes) -> OutRecord:
    """Return the record that a line says. Raises ValueError."""
    read_document(line)
    record = msgspec.json.decode(line, type=RawRecord)
    if record.topic is None or not _TOPIC.fullmatch(record.topic):
        raise ValueError(f'expected a "topic", its name in letters, digits, . _ -, got {(record.topic or "")[:80]!r}')
    if record.partition is not None and record.partition < 0:
        raise ValueError(f'"partition": expected 0 or more, got {record.partition}')
    return OutRecord(record.topic, record.partition, *record.pair())


def _bytes(name: str, raw: msgspec.Raw) -> bytes | None:
    try:
        document = read_document(bytes(raw))
    except UnreadableJson as error:
        raise ValueError(f'"{name}": {error}') from None
    if document is None:
        return None
    if isinstance(document, str) and not isinstance(document, Number):
        return document.encode()
    if not isinstance(document, Members):
        raise ValueError(f'"{name}": expected {_FORMS}')
    try:
        wrapped = msgspec.json.decode(raw, type=_Wrapped)
    except msgspec.ValidationError as error:
        raise ValueError(f'"{name}": expected {_FORMS}; {error}') from None
    if isinstance(wrapped.base64, str) and wrapped.json is msgspec.UNSET:
        return _decoded(name, wrapped.base64)
    if isinstance(wrapped.json, msgspec.Raw) and wrapped.base64 is msgspec.UNSET:
        return bytes(wrapped.json)
    raise ValueError(f'"{name}": expected {_FORMS}')


def _decoded(name: str, text: str) -> bytes:
    try:
        return base64.b64decode(text.encode(), validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError(f'"{name}": not base64: {error}') from None
