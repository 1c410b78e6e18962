import base64

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

from catalog.schema.proto_schema import ProtoSchema, ProtoSchemaError, schema_text


def file(name: str, *imports: str, package: str = "", messages: tuple[str, ...] = (), **fields: str):
    made = FileDescriptorProto(name=name, package=package, dependency=imports, syntax="proto3")
    for message in messages:
        added = made.message_type.add(name=message)
        for number, (field, type_) in enumerate(fields.items(), 1):
            added.field.add(name=field, number=number, label=1, type=11, type_name=type_)
    return made


def text(*files: FileDescriptorProto) -> str:
    return base64.b64encode(FileDescriptorSet(file=files).SerializeToString()).decode()


def test_files_may_come_in_any_order():
    top = file("top.proto", "low.proto", "google/protobuf/timestamp.proto", package="a", messages=("T", "U"), x=".b.L",
               y=".google.protobuf.Timestamp")  # fmt: skip
    low = file("low.proto", package="b", messages=("L",))
    for files in ((top, low), (low, top)):
        schema = ProtoSchema(text(*files), "schema 7")
        assert (schema.only_root().name, schema.names) == ("top.proto", ["a.T", "a.U"])
        assert [f.message_type.full_name for f in schema.message("a.T").fields.values()] == [
            "b.L", "google.protobuf.Timestamp",
        ]  # fmt: skip
        assert schema.message_at((1,)).label == "schema 7 `a.U`"
        assert schema.message("b.L") is schema.message("b.L")
        assert schema.message_at(()) is schema.message_at((2,)) is None


def test_a_missing_import_matters_where_a_type_of_it_is_used():
    assert ProtoSchema(text(file("t.proto", "buf/validate.proto", messages=("T",))), "").names == ["T"]
    with pytest.raises(ProtoSchemaError, match="no Protobuf schema"):
        ProtoSchema(text(file("t.proto", "o.proto", messages=("T",), x=".o.Other")), "")


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ((), "it has no file"),
        ((file(""),), "it has no file"),
        ((file("a", "b"), file("b", "a")), "imports itself"),
        ((file("a", "a"),), "imports itself"),
        ((file("a", messages=("T", "T")),), "no Protobuf schema"),
    ],
)
def test_what_is_no_schema(files, said):
    with pytest.raises(ProtoSchemaError, match=said):
        ProtoSchema(text(*files), "")


def test_options_that_are_not_whole_make_no_schema():
    made = FileDescriptorSet(file=[file("a", messages=("T",))])
    made.file[0].options.uninterpreted_option.add().name.add()
    with pytest.raises(ProtoSchemaError, match="missing required fields"):
        ProtoSchema(base64.b64encode(made.SerializePartialToString()).decode(), "")


@pytest.mark.parametrize("place", [b"top.proto", b"low.proto"])
def test_names_of_files_are_utf8(place):
    """In descriptors, which are of the older syntax, they need not be."""
    made = FileDescriptorSet(file=[file("top.proto", "low.proto", messages=("T",)), file("other.proto")])
    damaged = made.SerializeToString().replace(place, b"\xff" + place[1:])
    with pytest.raises(ProtoSchemaError, match=r"no Protobuf schema: .*not UTF-8"):
        ProtoSchema(base64.b64encode(damaged).decode(), "")


def test_several_roots_have_no_order():
    schema = ProtoSchema(text(file("a", messages=("T",)), file("b", messages=("U",))), "")
    assert schema.message("U").name == "U"
    with pytest.raises(ProtoSchemaError, match="got 2: a, b"):
        schema.message_at((0,))
    with pytest.raises(ProtoSchemaError, match="which message"):
        schema.message("")


def test_descriptors_are_told_from_text():
    assert schema_text(b"") is schema_text(b'{"type":"long"}') is schema_text(b'\n{"type":"long"}') is None
    assert schema_text(base64.b64decode(text(file("a")))) == text(file("a"))
