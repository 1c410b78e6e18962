import json

import pytest

from catalog.schema.avro_references import inlined
from catalog.schema.avro_schema import AvroSchema

SIDE = {"type": "enum", "name": "Side", "namespace": "shop.types", "symbols": ["BUY"]}
MONEY = {"type": "record", "name": "shop.types.Money", "fields": [{"name": "side", "type": "Side"}]}


def record(*types, namespace="shop"):
    fields = [{"name": f"f{i}", "type": type_} for i, type_ in enumerate(types)]
    return {"type": "record", "name": "Trade", "namespace": namespace, "fields": fields}


@pytest.mark.parametrize(
    ("schema", "others"),
    [
        (record("long", "shop.types.Side", ["null", "shop.types.Side"]), {"shop.types.Side": SIDE}),
        (record("Side", "Side", namespace="shop.types"), {"shop.types.Side": SIDE}),
        (record("Side"), {"Side": {"type": "fixed", "name": "Side", "size": 2}}),
        (record({"type": "array", "items": "shop.types.Money"}), {"shop.types.Side": SIDE, "shop.types.Money": MONEY}),
        (record({"type": "map", "values": {"type": "shop.types.Side"}}), {"shop.types.Side": SIDE}),
        (record("shop.types.Side", "shop.types.Money"), {"shop.types.Money": MONEY, "shop.types.Side": SIDE}),
    ],
)
def test_a_schema_becomes_whole(schema, others):
    AvroSchema(json.dumps(inlined(schema, others)), "")
    with pytest.raises(ValueError, match="no Avro schema"):
        AvroSchema(json.dumps(schema), "")


def test_a_definition_of_the_same_short_name_nearby_is_meant():
    own, other = SIDE | {"namespace": "shop", "symbols": ["OURS"]}, SIDE | {"namespace": "", "symbols": ["OTHER"]}
    whole = AvroSchema(json.dumps(inlined(record(own, "Side"), {"Side": other})), "")
    assert whole.fields["f1"].symbols == ("OURS",)
    inside = {"type": "array", "items": own | {"namespace": None}}
    whole = AvroSchema(json.dumps(inlined(record(inside, "Side"), {"Side": other})), "")
    assert whole.fields["f1"].symbols == ("OURS",)


def test_what_uses_nothing_stays():
    assert inlined(record("long"), {}) == record("long")
    assert inlined("a.E", {"a.E": "long"}) == "long"
