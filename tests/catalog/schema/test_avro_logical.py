"""A logical type counts where Avro has it for the type, and a decimal says its digits."""

from __future__ import annotations

from typing import Any

import pytest

from catalog.schema.avro_names import resolved
from catalog.schema.avro_type import AvroType


def type_of(written: object) -> Any:
    return resolved(written)


def logical(type_: str, name: object, /, **more: object) -> dict[str, object]:
    return {"type": type_, "logicalType": name} | more


@pytest.mark.parametrize(
    "written",
    [
        logical("float", "date"), logical("long", "date"), logical("string", "date"), logical("bytes", "date"),
        logical("boolean", "date"), logical("int", "timestamp-millis"), logical("double", "timestamp-micros"),
        logical("bytes", "local-timestamp-nanos"), logical("int", "decimal", precision=6, scale=2),
        logical("string", "decimal", precision=6, scale=2), logical("int", ["date"]), logical("int", {}),
    ],
)  # fmt: skip
def test_a_logical_type_that_does_not_fit_its_type_is_none(written):
    assert type_of(written) == AvroType(str(written["type"]))


@pytest.mark.parametrize(
    "more",
    [
        {}, {"scale": 2}, {"precision": 0}, {"precision": -1}, {"precision": "6", "scale": 2}, {"precision": True},
        {"precision": 6, "scale": "2"}, {"precision": 6, "scale": 7}, {"precision": 6, "scale": -1},
        {"precision": 6, "scale": 1.0}, {"precision": 6, "scale": None},
    ],
)  # fmt: skip
def test_a_decimal_that_is_not_whole_is_none(more):
    assert type_of(logical("bytes", "decimal", **more)) == AvroType("bytes")


@pytest.mark.parametrize(("size", "most"), [(1, 2), (2, 4), (3, 6), (4, 9), (8, 18), (16, 38), (10**12, 10**9)])
def test_a_fixed_decimal_has_no_more_digits_than_its_bytes_can_say(size, most):
    fits = logical("fixed", "decimal", name="F", size=size, precision=most)
    assert type_of(fits) == AvroType("fixed", "decimal", size=size)
    if size <= 16:
        assert type_of(fits | {"precision": most + 1}) == AvroType("fixed", size=size)


def test_a_fixed_without_bytes_is_no_decimal():
    assert type_of(logical("fixed", "decimal", name="F", size=0, precision=1)) == AvroType("fixed")
