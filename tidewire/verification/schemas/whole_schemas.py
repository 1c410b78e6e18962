"""Schemas of a registry with all that they use, as one text that a table could list."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.protobuf.message import DecodeError

from tidewire.verification.schemas.listed_schemas import check_schema
from tidewire.verification.schemas.proto_texts import compiled
from tidewire.verification.schemas.registry import Answer, Registry
from tidewire.verification.schemas.schema_fault import NoSchema

_NAMED = ("record", "error", "enum", "fixed")
_MOST_USES = 500


def whole_text(registry: Registry, format: str, number: int) -> str:
    """Return the schema of a number. Raises NoSchema for none of the format that records can be read by, Silent."""
    answer = registry.schema(number)
    if answer.kind != format.upper():
        raise NoSchema(f"it is {answer.kind}")
    used = _used(registry, answer)
    text = _avro(answer, used) if format == "avro" else _protobuf(f"schema-{number}.proto", answer, used)
    check_schema(format, text)
    return text


def _used(registry: Registry, answer: Answer) -> dict[str, Answer]:
    """Return all that a schema uses, by name, at whatever remove."""
    found, waiting = dict[str, Answer](), list(answer.uses)
    while waiting:
        use = waiting.pop()
        if use.name in found:
            continue
        if len(found) == _MOST_USES:
            raise NoSchema(f"it uses more than {_MOST_USES} others")
        found[use.name] = registry.version(use)
        waiting += found[use.name].uses
    return found


def _avro(answer: Answer, used: Mapping[str, Answer]) -> str:
    """Write the definition of each type that is used in the place of its first name."""
    if not used:
        return answer.text
    try:
        waiting = {name: json.loads(one.text) for name, one in used.items()}
        return json.dumps(_written(json.loads(answer.text), waiting, set(used), ""))
    except (ValueError, RecursionError, AttributeError, KeyError, TypeError):
        raise NoSchema("no Avro schema") from None


def _written(schema: Any, waiting: dict[str, Any], names: set[str], space: str) -> Any:
    if isinstance(schema, str):
        full = f"{space}.{schema}"
        name = full if "." not in schema and full in names else schema
        return _defined(name, waiting, names) if name in waiting else name
    if isinstance(schema, list):
        return [_written(one, waiting, names, space) for one in schema]
    made = dict(schema)
    if made.get("type") in _NAMED:
        own = str(made.get("name", ""))
        stated = space if made.get("namespace") is None else str(made["namespace"])
        space = own.rpartition(".")[0] if "." in own else stated
        names.add(own if "." in own else ".".join(filter(None, (space, own))))
    else:
        made["type"] = _written(made["type"], waiting, names, space) if "type" in made else None
        if isinstance(schema.get("type"), str) and isinstance(made["type"], dict):
            return made["type"]
    for part in ("items", "values"):
        if part in made:
            made[part] = _written(made[part], waiting, names, space)
    if "fields" in made:
        made["fields"] = [field | {"type": _written(field["type"], waiting, names, space)} for field in made["fields"]]
    return made


def _defined(name: str, waiting: dict[str, Any], names: set[str]) -> Any:
    definition = waiting.pop(name)
    if isinstance(definition, dict) and definition.get("type") in _NAMED:
        definition = {part: value for part, value in definition.items() if part != "namespace"} | {"name": name}
    return _written(definition, waiting, names, "")


def _protobuf(root: str, answer: Answer, used: Mapping[str, Answer]) -> str:
    """Return the set of a schema's file and those that it uses; texts of `.proto` files are compiled."""
    written = {root: answer.text} | {name: one.text for name, one in used.items()}
    made = {name: file for name, text in written.items() if (file := _descriptor(name, text)) is not None}
    texts = {name: text for name, text in written.items() if name not in made}
    files = compiled(root, texts, list(made.values())) if texts else made.values()
    return base64.b64encode(FileDescriptorSet(file=files).SerializeToString()).decode()


def _descriptor(name: str, text: str) -> FileDescriptorProto | None:
    """Return the file that a serialized answer is, which has no name of its own; None of another text."""
    try:
        file = FileDescriptorProto.FromString(base64.b64decode(text, validate=True))
    except (ValueError, DecodeError):
        return None
    file.name = name
    return file
