"""Schemas that use others are put together as the product does it, and are read alike."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from fastavro.schema import to_parsing_canonical_form
from google.protobuf.descriptor_pb2 import FileDescriptorSet

from catalog.schema.avro_references import inlined
from catalog.schema.proto_schema import ProtoSchema
from tests.connectors.proto_files import TRADE, TYPES, text_of
from tests.connectors.schemas.test_fetched_schema import ORDER, SIDE, serialized
from tidewire.verification.schemas.avro_schemas import avro_schema
from tidewire.verification.schemas.proto_schemas import proto_schema
from tidewire.verification.schemas.registry import Answer, Registry, Use
from tidewire.verification.schemas.schema_fault import NoSchema
from tidewire.verification.schemas.whole_schemas import whole_text


class Told(Registry):
    """A registry of what it is given, by number or subject."""

    def __init__(self, answers: dict[object, Answer]) -> None:
        super().__init__("")
        self._answers = answers

    def schema(self, number: int) -> Answer:
        return self._answers[number]

    def version(self, use: Use) -> Answer:
        return self._answers[use.subject]


def record(name: str, *types: Any, **more: Any) -> dict[str, Any]:
    fields = [{"name": f"f{i}", "type": one} for i, one in enumerate(types)]
    return {"type": "record", "name": name, "fields": fields, **more}


AVRO: list[tuple[Any, dict[str, Any]]] = [
    (ORDER, {"shop.Side": SIDE}),
    (record("a.R", "B", "B", ["null", "b.C"]), {"a.B": record("B", "int", namespace="a"), "b.C": SIDE}),
    (record("R", "X", {"type": "array", "items": "Y"}), {"X": record("X", "Y"), "Y": record("Y", {"type": "Z"})}
     | {"Z": {"type": "fixed", "name": "Z", "size": 2}}),
    (["null", "a.U"], {"a.U": {"type": "map", "values": "a.V"}, "a.V": record("V", "long")}),
    (record("a.R", {"type": "a.D"}), {"a.D": {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 1}}),
    (record("a.R", [{"type": "enum", "name": "B", "symbols": ["OURS"]}], "B"), {"B": record("B", "int")}),
]  # fmt: skip


@pytest.mark.parametrize(("root", "others"), AVRO)
def test_avro(root: Any, others: dict[str, Any]) -> None:
    answers: dict[object, Answer] = {name: answer(one, others) for name, one in others.items()}
    text = whole_text(Told(answers | {7: answer(root, others)}), "avro", 7)
    expected = inlined(root, others)
    assert to_parsing_canonical_form(json.loads(text)) == to_parsing_canonical_form(expected)
    assert avro_schema(text).fields == avro_schema(json.dumps(expected)).fields or "a.D" in others


def answer(schema: Any, others: dict[str, Any]) -> Answer:
    written = json.dumps(schema)
    return Answer("AVRO", written, [Use(name, name, "1") for name in others if name.rpartition(".")[2] in written])


@pytest.mark.parametrize("as_text", [(), ("types.proto",), ("root.proto", *TYPES)])
def test_protobuf(as_text: tuple[str, ...]) -> None:
    whole = FileDescriptorSet.FromString(base64.b64decode(text_of(TRADE)))
    made = dict(zip([file.name for file in whole.file], serialized(text_of(TRADE)), strict=True))
    answers: dict[object, Answer] = {}
    for file in whole.file:
        name = file.name
        uses = [Use(one, one, "1") for one in file.dependency if one in TYPES]
        text = ({"root.proto": TRADE} | TYPES)[name] if name in as_text else made[name]
        answers[7 if name == "root.proto" else name] = Answer("PROTOBUF", text, uses)
    text = whole_text(Told(answers), "protobuf", 7)
    fields = ProtoSchema(text_of(TRADE), "").message("shop.Values").fields
    assert set(proto_schema(text).named("shop.Values").fields_by_name.keys()) == fields.keys()
    assert proto_schema(text).at((1,)).full_name == "shop.Trade"


@pytest.mark.parametrize(
    ("format", "told"),
    [
        ("avro", Answer("PROTOBUF", '"long"', [])),
        ("avro", Answer("AVRO", "no", [])),
        ("avro", Answer("AVRO", '{"type":"array","items":"null"}', [])),
        ("avro", Answer("AVRO", "[5]", [Use("x", "x", "1")])),
        ("avro", Answer("AVRO", '{"type":"record"}', [])),
        ("protobuf", Answer("AVRO", '"long"', [])),
        ("protobuf", Answer("PROTOBUF", "mesage A {}", [])),
        ("protobuf", Answer("PROTOBUF", "", [Use("../x", "bad", "1")])),
    ],
)
def test_what_is_no_schema(format: str, told: Answer) -> None:
    others: dict[object, Answer] = {"x": Answer("AVRO", '"int"', []), "bad": Answer("PROTOBUF", "message A {}", [])}
    with pytest.raises(NoSchema):
        whole_text(Told(others | {7: told}), format, 7)


def test_no_more_than_500_others() -> None:
    answers: dict[object, Answer] = {
        f"s{i}": Answer("AVRO", '"int"', [Use(f"s{i + 1}", f"s{i + 1}", "1")]) for i in range(600)
    }
    with pytest.raises(NoSchema, match="more than 500"):
        whole_text(Told(answers | {7: answers["s0"]}), "avro", 7)
