"""Whatever is wrong with a schema is told as one fault, which those who read records turn into a dead letter."""

from __future__ import annotations

import base64

import pytest

from tidewire.verification.schemas.avro_schemas import avro_schema
from tidewire.verification.schemas.listed_schemas import check_schemas
from tidewire.verification.schemas.proto_schemas import proto_schema
from tidewire.verification.schemas.schema_fault import NoSchema


@pytest.mark.parametrize("text", ["", "{", '"nothing"', '{"type":"record"}', "5", "\ud800"])
def test_of_avro(text: str) -> None:
    with pytest.raises(NoSchema):
        avro_schema(text)


@pytest.mark.parametrize("text", ["", "?", "=", base64.b64encode(b"\xff").decode(), base64.b64encode(b"").decode()])
def test_of_protobuf(text: str) -> None:
    with pytest.raises(NoSchema):
        proto_schema(text)


@pytest.mark.parametrize("options", [{}, {"schema": "{"}, {"schema": '"int"', "schema.1": '"int"'}, {"other": "1"}])
def test_of_options(options: dict[str, str]) -> None:
    with pytest.raises(NoSchema):
        check_schemas("avro", options)
