"""Schemas as a registry has them, with the others that they use, made whole: texts that a table could list."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.protobuf.message import DecodeError

from catalog.schema.avro_references import inlined
from connectors.schemas.proto_compiler import ProtoTextError, compile_texts
from connectors.schemas.schema_registry import NoSchema, Registry

_MOST_REFERENCES = 500


@lru_cache(maxsize=4096)
def avro_text(registry: Registry, number: int) -> str:
    """Return the Avro schema of a number, types of other schemas written out. Raises NoSchema, RegistryFailure."""
    answer = registry.schema(number)
    _check_type(answer, "AVRO")
    others = {name: _avro(other) for name, other in _references(registry, answer)}
    try:
        return json.dumps(inlined(_avro(answer), others)) if others else str(answer["schema"])
    except RecursionError:
        raise NoSchema("it is no Avro schema: nested too deep") from None


@lru_cache(maxsize=4096)
def proto_text(registry: Registry, number: int) -> str:
    """Return the descriptors of a number, in base64. Raises NoSchema, RegistryFailure, NoProtoCompiler."""
    answer = registry.schema(number)
    _check_type(answer, "PROTOBUF")
    root = f"schema-{number}.proto"
    texts = {root: str(answer["schema"])}
    texts |= {name: str(other["schema"]) for name, other in _references(registry, answer)}
    made = {name: _descriptor(name, text) for name, text in texts.items()}
    whole = FileDescriptorSet(file=[file for file in made.values() if file is not None])
    if len(whole.file) == len(texts):
        return base64.b64encode(whole.SerializeToString()).decode()
    try:
        compiled = compile_texts({n: t for n, t in texts.items() if made[n] is None}, root, whole.SerializeToString())
    except ProtoTextError as error:
        raise NoSchema(str(error)) from None
    return base64.b64encode(compiled).decode()


def _references(registry: Registry, answer: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield all that `answer` uses, by the name that it is used by; those that they use, too."""
    waiting, seen = list(answer["references"]), set[str]()
    while waiting:
        reference = waiting.pop()
        name = str(reference.get("name"))
        if name in seen:
            continue
        seen.add(name)
        if len(seen) > _MOST_REFERENCES:
            raise NoSchema(f"it uses more than {_MOST_REFERENCES} others")
        other = registry.version(reference)
        waiting += other["references"]
        yield name, other


def _check_type(answer: Mapping[str, Any], expected: str) -> None:
    found = str(answer.get("schemaType") or "AVRO")
    if found != expected:
        raise NoSchema(f"the registry says that it is {found[:20]}, not {expected}")


def _avro(answer: Mapping[str, Any]) -> Any:
    try:
        return json.loads(answer["schema"])
    except (ValueError, RecursionError):
        raise NoSchema("it is no Avro schema: not JSON") from None


def _descriptor(name: str, text: str) -> FileDescriptorProto | None:
    """Return the descriptor that `text` is, under the name by which others import it; None of the text of a file."""
    try:
        found = FileDescriptorProto.FromString(base64.b64decode(text, validate=True))
    except (binascii.Error, ValueError, DecodeError):
        return None
    found.name = name
    return found
