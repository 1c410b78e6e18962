"""What of a type is one scalar."""

from __future__ import annotations

import pytest

from catalog.schema.avro_names import resolved
from catalog.schema.avro_type import AvroType, scalar_type


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("int", AvroType("int")),
        (["null", "int"], AvroType("int")),
        (["int"], AvroType("int")),
        (["null", {"type": "null"}, "string"], AvroType("string")),
        (["null", ["null", "string"]], AvroType("string")),
        (["int", "string"], None),
        (["null"], None),
        ([], None),
        ({"type": "map", "values": "int"}, None),
        (["null", {"type": "array", "items": "int"}], None),
    ],
)
def test_one_scalar_beside_null(written: object, found: AvroType | None) -> None:
    assert scalar_type(resolved(written)) == found


def test_a_type_is_told_with_its_logical_type() -> None:
    assert str(AvroType("int", "date")) == "int date"
    assert str(AvroType("int")) == "int"
