"""Protobuf schemas as writers used them: the descriptors of a `.proto` file and of all that it imports.

The text of a schema is the base64 of a `FileDescriptorSet` (`protoc --include_imports --descriptor_set_out`): a binary
form that needs no compiler where records are read. Its root is the one file that no other imports.

Imports that the set lacks: the types that a registry takes for granted are known anyway (Google's, and decimals), all
others count as empty. They often hold nothing but options; a type that is needed and missing makes the schema none.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError, EncodeError
from google.protobuf.message_factory import GetMessageClass

from catalog.types.value_messages import DATE, DECIMAL, UNSCALED, unlike

_WELL_KNOWN = {
    f"google/protobuf/{name}.proto": f"google.protobuf.{name}_pb2"
    for name in (
        "any", "api", "descriptor", "duration", "empty", "field_mask", "source_context", "struct", "timestamp", "type",
        "wrappers",
    )
}  # fmt: skip
_INT32, _STRING, _BYTES, _UINT32 = 5, 9, 12, 13
_SMALL = {
    "google/type/date.proto": (DATE, {"year": _INT32, "month": _INT32, "day": _INT32}),
    "google/type/decimal.proto": (DECIMAL, {"value": _STRING}),
    "confluent/type/decimal.proto": (UNSCALED, {"value": _BYTES, "precision": _UINT32, "scale": _INT32}),
}
_SHOWN_NAMES = 10


class ProtoSchemaError(ValueError):
    """A text that is no Protobuf schema, or one that does not say what is needed."""


class ProtoMessage:
    """One kind of message. `fields`: descriptor by name; `read` makes a message of bytes; `label` says which it is."""

    def __init__(self, descriptor: Any, schema: str) -> None:
        self.name: str = descriptor.full_name
        self.fields: Mapping[str, Any] = {field.name: field for field in descriptor.fields}
        self.label = f"{schema} `{self.name}`"
        self._class = GetMessageClass(descriptor)

    def read(self, data: bytes) -> Any:
        """Return the message that `data` is. Raises google.protobuf.message.DecodeError."""
        return self._class.FromString(data)


class ProtoSchema:
    """One writer's schema; `label` says which it is."""

    def __init__(self, text: str, label: str) -> None:
        """Read `text`, the base64 of a descriptor set. Raises ProtoSchemaError."""
        files = {file.name: file for file in _files(text)}
        self.label = label
        self._pool = DescriptorPool()
        for file in _in_order(files):
            try:
                self._pool.AddSerializedFile(file.SerializeToString())
            except (TypeError, ValueError, KeyError, EncodeError) as error:
                raise ProtoSchemaError(f"no Protobuf schema: {error}"[:300]) from None
        if (fault := unlike(self._pool)) is not None:
            raise ProtoSchemaError(f"no Protobuf schema: {fault}")
        imported = {name for file in files.values() for name in file.dependency}
        self._roots = {name: file for name, file in files.items() if name not in imported}
        self._messages: dict[str, ProtoMessage] = {}

    @property
    def names(self) -> list[str]:
        """Full names of the messages at the top of the root."""
        return [_within(file.package, one.name) for file in self._roots.values() for one in file.message_type]

    def only_root(self) -> FileDescriptorProto:
        """Return the root file. Raises ProtoSchemaError if there are several."""
        if len(self._roots) != 1:
            listed = ", ".join(list(self._roots)[:_SHOWN_NAMES])
            raise ProtoSchemaError(f"expected one .proto file with what it imports, got {len(self._roots)}: {listed}")
        return next(iter(self._roots.values()))

    def message(self, name: str) -> ProtoMessage:
        """Return the message of a full name; '' is the only one of the root. Raises ProtoSchemaError."""
        names = self.names
        if not name and len(names) != 1:
            raise ProtoSchemaError(f"which message is it? The schema has {_listed(names)}")
        try:
            return self._made(self._pool.FindMessageTypeByName(name or names[0]))
        except KeyError:
            raise ProtoSchemaError(f"there is no message `{name}`; the schema has {_listed(names)}") from None

    def message_at(self, path: Sequence[int]) -> ProtoMessage | None:
        """Return the message at `path`: its number in the root, that of one inside it, and so on; None if none is.

        Numbers go by the text of the .proto file, as in Confluent's framing: maps' entries are not counted.
        """
        root = self.only_root()
        level, name = list(root.message_type), root.package
        for number in path:
            if not 0 <= number < len(level):
                return None
            name = _within(name, level[number].name)
            level = [one for one in level[number].nested_type if not one.options.map_entry]
        return self.message(name) if path else None

    def every(self) -> Iterator[ProtoMessage]:
        """Yield each message of the root, those inside others too."""
        waiting = [(_within(file.package, one.name), one) for file in self._roots.values() for one in file.message_type]
        while waiting:
            name, one = waiting.pop(0)
            waiting += [(_within(name, i.name), i) for i in one.nested_type if not i.options.map_entry]
            yield self.message(name)

    def _made(self, descriptor: Any) -> ProtoMessage:
        made = self._messages.get(descriptor.full_name)
        if made is None:
            made = self._messages[descriptor.full_name] = ProtoMessage(descriptor, self.label)
        return made


def schema_text(files: bytes) -> str | None:
    """Return the bytes of a descriptor set as the text of a schema; None if they are none."""
    try:
        found = FileDescriptorSet.FromString(files)
    except DecodeError:
        return None
    return base64.b64encode(files).decode() if found.file and all(file.name for file in found.file) else None


def with_built_in(files: bytes) -> bytes:
    """Add to a descriptor set what `.proto` files may import without bringing it, unless the set has its types.

    Not `google/protobuf/*`, which a compiler knows itself.
    """
    given = FileDescriptorSet.FromString(files).file
    has = {_within(file.package, one.name) for file in given for one in file.message_type}
    more = FileDescriptorSet(file=[_small(name) for name, (message, _) in _SMALL.items() if message not in has])
    return files + bytes(more.SerializeToString())


def _files(text: str) -> Sequence[FileDescriptorProto]:
    try:
        found = FileDescriptorSet.FromString(base64.b64decode(text, validate=True)).file
    except (binascii.Error, ValueError, DecodeError):
        raise ProtoSchemaError("no Protobuf schema: not the base64 of a descriptor set") from None
    if not found or not all(file.name for file in found):
        raise ProtoSchemaError("no Protobuf schema: not the base64 of a descriptor set: it has no file")
    if not all(isinstance(name, str) for file in found for name in (file.name, *file.dependency)):
        raise ProtoSchemaError("no Protobuf schema: the name of a file is not UTF-8")
    return list(found)


def _in_order(files: Mapping[str, FileDescriptorProto]) -> Iterator[FileDescriptorProto]:
    """Yield every file after those that it imports, also those that are missing. Raises ProtoSchemaError."""
    done: set[str] = set()
    stack: list[tuple[str, bool]] = [(name, False) for name in reversed(list(files))]
    above: set[str] = set()
    while stack:
        name, imports_done = stack.pop()
        if imports_done:
            above.discard(name)
            done.add(name)
            yield _file(name, files)
        elif name in above:
            raise ProtoSchemaError(f"no Protobuf schema: `{name[:60]}` imports itself")
        elif name not in done:
            above.add(name)
            stack.append((name, True))
            stack += [(one, False) for one in _file(name, files).dependency if one not in done]


def _file(name: str, files: Mapping[str, FileDescriptorProto]) -> FileDescriptorProto:
    if name in files:
        return files[name]
    if name in _WELL_KNOWN:
        return FileDescriptorProto.FromString(import_module(_WELL_KNOWN[name]).DESCRIPTOR.serialized_pb)
    return _small(name) if name in _SMALL else FileDescriptorProto(name=name)


def _small(name: str) -> FileDescriptorProto:
    message, fields = _SMALL[name]
    package, _, short = message.rpartition(".")
    made = FileDescriptorProto(name=name, package=package, syntax="proto3")
    added = made.message_type.add(name=short)
    for number, (field, type_) in enumerate(fields.items(), 1):
        added.field.add(name=field, number=number, label=1, type=type_)
    return made


def _within(scope: str, name: str) -> str:
    return f"{scope}.{name}" if scope else name


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names[:_SHOWN_NAMES]) + (", ..." if len(names) > _SHOWN_NAMES else "")
