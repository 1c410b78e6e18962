"""Protobuf schemas by their text, the base64 of a descriptor set, in a pool of Google's library.

What a set imports and does not bring: Google's own files are the library's, those of dates and decimals stand here, and
any other counts as empty. Rows are of the file that no other one imports. A set that gives the name of a message which
means one value (a timestamp, a decimal) to a message of other fields is no schema.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Sequence
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from google.protobuf import text_format
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError, EncodeError

from tidewire.verification.schemas.schema_fault import NoSchema

_GOOGLES = re.compile(r"google/protobuf/([a-z_]+)\.proto")
_SMALL = {
    "google/type/date.proto": ("google.type", "Date", "year:INT32 month:INT32 day:INT32"),
    "google/type/decimal.proto": ("google.type", "Decimal", "value:STRING"),
    "confluent/type/decimal.proto": ("confluent.type", "Decimal", "value:BYTES precision:UINT32 scale:INT32"),
}
_MEANT = {
    "google.protobuf.Timestamp": "seconds:INT64 nanos:INT32",
    "google.type.Date": "year:INT32 month:INT32 day:INT32",
    "google.type.Decimal": "value:STRING",
    "confluent.type.Decimal": "value:BYTES scale:INT32",
    **{
        f"google.protobuf.{name}Value": f"value:{name.upper()}"
        for name in ("Bool", "Bytes", "Double", "Float", "Int32", "Int64", "String", "UInt32", "UInt64")
    },
}
"""The fields by which messages are read that mean one value."""


class Schema:
    """The files of a set, all that they import in a pool, and those that no other imports."""

    def __init__(self, files: Iterable[FileDescriptorProto]) -> None:
        """Raises NoSchema."""
        brought = {file.name: file for file in files}
        self._pool = DescriptorPool()
        for file in _in_order(brought):
            try:
                self._pool.AddSerializedFile(file.SerializeToString())
            except (TypeError, ValueError, KeyError, EncodeError) as error:
                raise NoSchema(f"no Protobuf schema: {error}"[:200]) from None
        for name, fields in _MEANT.items():
            if self._lacks(name, set(fields.split())):
                raise NoSchema(f"its {name} is none")
        imported = {name for file in brought.values() for name in file.dependency}
        self._roots = [name for name in brought if name not in imported]

    def named(self, name: str) -> Any:
        """Return the descriptor of a message by its full name, by '' the only one there is. Raises NoSchema."""
        if name:
            try:
                return self._pool.FindMessageTypeByName(name)
            except KeyError:
                raise NoSchema(f"no message {name}") from None
        found = [message for root in self._roots for message in self._top(root)]
        if len(found) != 1:
            raise NoSchema(f"{len(found)} messages")
        return found[0]

    def at(self, path: Sequence[int]) -> Any:
        """Return the descriptor of the message at a place, None if there is none. Raises NoSchema."""
        level, found = self._top(self.root), None
        for number in path:
            if not 0 <= number < len(level):
                return None
            found = level[number]
            level = [one for one in found.nested_types if not one.GetOptions().map_entry]
        return found

    @property
    def root(self) -> str:
        """The name of the file whose messages rows are. Raises NoSchema if there are several."""
        if len(self._roots) != 1:
            raise NoSchema(f"{len(self._roots)} files that no other imports")
        return str(self._roots[0])

    def _lacks(self, name: str, fields: set[str]) -> bool:
        """Return whether there is a message of this name without one of the fields, each `name:TYPE` of one value."""
        try:
            found = self._pool.FindMessageTypeByName(name).fields
        except KeyError:
            return False
        types = FieldDescriptorProto.Type
        return not fields <= {f"{f.name}:{types.Name(f.type)[5:]}" for f in found if not f.is_repeated}

    def _top(self, file: str) -> list[Any]:
        return list(self._pool.FindFileByName(file).message_types_by_name.values())


@cache
def proto_schema(text: str) -> Schema:
    """Return the schema of a text. Raises NoSchema."""
    try:
        files = FileDescriptorSet.FromString(base64.b64decode(text, validate=True)).file
    except (ValueError, DecodeError):
        raise NoSchema("not the base64 of a descriptor set") from None
    if not files or not all(file.name for file in files):
        raise NoSchema("a descriptor set without files")
    if any(isinstance(name, bytes) for file in files for name in (file.name, *file.dependency)):
        raise NoSchema("a name of a file that is no UTF-8")
    return Schema(files)


def small_files() -> list[FileDescriptorProto]:
    """Return the files of dates and decimals, which schemas may import without bringing them."""
    return [_small(name) for name in _SMALL]


def _in_order(brought: dict[str, FileDescriptorProto]) -> list[FileDescriptorProto]:
    """Return the files and all that they import, each behind its imports. Raises NoSchema."""
    known, waiting = dict[str, FileDescriptorProto](), list(brought)
    while waiting:
        name = waiting.pop()
        if name not in known:
            known[name] = brought[name] if name in brought else _missing(name)
            waiting += known[name].dependency
    try:
        order = list(TopologicalSorter({name: file.dependency for name, file in known.items()}).static_order())
    except CycleError:
        raise NoSchema("files that import each other") from None
    return [known[name] for name in order]


def _missing(name: str) -> FileDescriptorProto:
    googles = _GOOGLES.fullmatch(name)
    module = f"google.protobuf.{googles[1]}_pb2" if googles else None
    if module is not None and find_spec(module) is not None:
        return FileDescriptorProto.FromString(import_module(module).DESCRIPTOR.serialized_pb)
    return _small(name) if name in _SMALL else FileDescriptorProto(name=name)


def _small(name: str) -> FileDescriptorProto:
    package, message, fields = _SMALL[name]
    written = "".join(
        f'field {{ name: "{field}" number: {i} label: LABEL_OPTIONAL type: TYPE_{type} }}'
        for i, (field, _, type) in enumerate((one.partition(":") for one in fields.split()), 1)
    )
    text = f'name: "{name}" package: "{package}" syntax: "proto3" message_type {{ name: "{message}" {written} }}'
    return text_format.Parse(text, FileDescriptorProto())
