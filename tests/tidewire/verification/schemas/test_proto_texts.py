"""Texts of `.proto` files become descriptors: the root's and those of all that it imports."""

from __future__ import annotations

from pathlib import Path

import pytest
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto

from tidewire.verification.schemas import proto_texts
from tidewire.verification.schemas.proto_texts import compiled
from tidewire.verification.schemas.registry import Silent
from tidewire.verification.schemas.schema_fault import NoSchema

ROW = 'syntax = "proto3"; package shop; import "{}"; message Row {{ int64 id = 1; {} v = 2; }}'


def names(root: str, texts: dict[str, str], *made: FileDescriptorProto) -> list[str]:
    return sorted(file.name for file in compiled(root, texts, made))


def test_imports_are_texts_or_made_or_known() -> None:
    inner = FileDescriptorProto(name="inner.proto", package="shop", syntax="proto3")
    inner.message_type.add(name="Inner").field.add(name="id", number=1, label=1, type=FieldDescriptorProto.TYPE_INT64)
    texts = {
        "root.proto": ROW.format("deep/middle.proto", "Middle"),
        "deep/middle.proto": 'syntax = "proto3"; package shop; import "inner.proto"; message Middle { Inner v = 1; }',
    }
    assert names("root.proto", texts, inner) == ["deep/middle.proto", "inner.proto", "root.proto"]
    for file, type_ in (("google/type/date.proto", "google.type.Date"),
                        ("google/protobuf/timestamp.proto", "google.protobuf.Timestamp")):  # fmt: skip
        assert names("root.proto", {"root.proto": ROW.format(file, type_)}) == [file, "root.proto"]


def test_a_schemas_own_date_goes_before_ours() -> None:
    own = FileDescriptorProto(name="own.proto", package="google.type", syntax="proto3")
    own.message_type.add(name="Date").field.add(name="d", number=1, label=1, type=FieldDescriptorProto.TYPE_INT64)
    texts = {"root.proto": ROW.format("own.proto", "google.type.Date")}
    found = {file.name: file for file in compiled("root.proto", texts, [own])}
    assert set(found) == {"own.proto", "root.proto"}
    assert [field.name for field in found["own.proto"].message_type[0].field] == ["d"]


@pytest.mark.parametrize(
    "texts",
    [
        {"root.proto": "mesage A {}"},
        {"root.proto": ROW.format("absent.proto", "int64")},
        {"other.proto": 'syntax = "proto3";'},
        {"root.proto": "", "../out.proto": ""},
        {"root.proto": "", "a\\b.proto": ""},
        {"root.proto": "", "": ""},
    ],
)
def test_what_does_not_compile_is_no_schema(texts: dict[str, str]) -> None:
    with pytest.raises(NoSchema):
        compiled("root.proto", texts, [])


def test_no_text_is_written_elsewhere(tmp_path: Path) -> None:
    with pytest.raises(NoSchema):
        compiled("root.proto", {"root.proto": "", str(tmp_path / "out.proto"): ""}, [])
    assert not list(tmp_path.iterdir())


def test_without_the_compiler_the_registry_has_not_said_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proto_texts, "find_spec", lambda name: None)
    with pytest.raises(Silent, match=r"pip install tidewire\[protoc\]"):
        compiled("root.proto", {"root.proto": ""}, [])
