import base64

import pytest
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from catalog.schema.proto_schema import ProtoSchema, ProtoSchemaError
from catalog.types.value_messages import FIELDS, WRAPPERS
from state.errors import TidewireError


def own(name: str, fields: dict[str, str], label: int = FieldDescriptorProto.LABEL_OPTIONAL) -> str:
    """A schema `Row {id, v}` that brings the message `name`, which `v` is, with fields of its own."""
    package, _, short = name.rpartition(".")
    kinds = FileDescriptorProto(name="kinds.proto", package=package, syntax="proto2")
    message = kinds.message_type.add(name=short)
    for number, (field, type_) in enumerate(fields.items(), 1):
        added = message.field.add(name=field, number=number, label=label)
        if type_ == "SELF":
            added.type, added.type_name = FieldDescriptorProto.TYPE_MESSAGE, f".{name}"
        else:
            added.type = FieldDescriptorProto.Type.Value(f"TYPE_{type_}")
    root = FileDescriptorProto(name="root.proto", package="shop", dependency=["kinds.proto"])
    row = root.message_type.add(name="Row")
    row.field.add(name="id", number=1, label=1, type=FieldDescriptorProto.TYPE_INT64)
    row.field.add(name="v", number=2, label=1, type=FieldDescriptorProto.TYPE_MESSAGE, type_name=f".{name}")
    return base64.b64encode(FileDescriptorSet(file=[kinds, root]).SerializeToString()).decode()


UNLIKE = [
    ("google.protobuf.Timestamp", {}, "expected a field `seconds` of int64, got none"),
    ("google.protobuf.Timestamp", {"seconds": "INT64"}, "expected a field `nanos` of int32, got none"),
    ("google.protobuf.Timestamp", {"seconds": "STRING", "nanos": "INT32"}, "`seconds` of int64, got string"),
    ("google.protobuf.Timestamp", {"seconds": "INT64", "nanos": "SELF"}, "`nanos` of int32, got message"),
    ("google.type.Date", {"year": "INT32", "month": "INT32"}, "`day` of int32, got none"),
    ("google.type.Date", {"year": "DOUBLE", "month": "INT32", "day": "INT32"}, "`year` of int32, got double"),
    ("google.type.Decimal", {"value": "BYTES"}, "`value` of string, got bytes"),
    ("google.type.Decimal", {"unscaled": "INT64"}, "`value` of string, got none"),
    ("confluent.type.Decimal", {"value": "STRING", "scale": "INT32"}, "`value` of bytes, got string"),
    ("confluent.type.Decimal", {"value": "BYTES"}, "`scale` of int32, got none"),
    ("google.protobuf.Int64Value", {}, "`value` of int64, got none"),
    ("google.protobuf.BytesValue", {"value": "SELF"}, "`value` of bytes, got message"),
]


@pytest.mark.parametrize(("name", "fields", "said"), UNLIKE)
def test_a_message_of_a_known_name_with_other_fields_makes_the_schema_none(name, fields, said):
    schema = own(name, fields)
    with pytest.raises(ProtoSchemaError, match=f"no Protobuf schema: its own `{name}` .*{said}"):
        ProtoSchema(schema, "")
    for options in (f"'schema'='{schema}', 'message'='shop.Row'", f"'schema.7'='{schema}'"):
        ddl = f"CREATE TABLE t (id BIGINT PRIMARY KEY) WITH ('format'='protobuf', {options})"
        with pytest.raises(TidewireError, match=f"its own `{name}`"):
            apply_ddl(Catalog(), ddl, 0)


def test_a_repeated_field_is_another_field():
    with pytest.raises(ProtoSchemaError, match="`value` of string, got repeated string"):
        ProtoSchema(own("google.type.Decimal", {"value": "STRING"}, FieldDescriptorProto.LABEL_REPEATED), "")


@pytest.mark.parametrize("name", FIELDS)
def test_what_reads_the_same_is_as_good(name):
    """Other numbers, the older syntax, more fields, and a name that only looks alike."""
    fields = {"more": "STRING"} | {field: type_.upper() for field, type_ in FIELDS[name].items()}
    assert ProtoSchema(own(name, fields), "").names == ["shop.Row"]
    assert ProtoSchema(own(f"other.{name}", {}), "").names == ["shop.Row"]


def test_the_wrappers_are_of_one_value():
    assert len(WRAPPERS) == 9 and all(FIELDS[name].keys() == {"value"} for name in WRAPPERS)
