from __future__ import annotations

from catalog.schema.relation import Column, Relation
from catalog.types.column_type import ColumnType, Kind
from connectors.json.plan import KIND, LIMIT, NAME, NAME_STOP, NULLABLE, OPTIONAL, SCALE, JsonKind, Plan

COLUMNS = (
    Column("k", ColumnType(Kind.SMALLINT), False),
    Column("é", ColumnType(Kind.DECIMAL, 12, 2)),
    Column("w", ColumnType(Kind.DECIMAL, 38, 4), False),
)


def optional(absent):
    plan = Plan.of_rows(Relation("t", COLUMNS, ("k",), "t", absent=absent))
    return plan.fields[:, OPTIONAL].tolist()


def test_a_plan_of_rows():
    plan = Plan.of_rows(Relation("t", COLUMNS, ("k",), "t"))
    assert plan.fields[:, KIND].tolist() == [JsonKind.INTEGER, JsonKind.DECIMAL, JsonKind.WIDE]
    assert plan.fields[:2, LIMIT].tolist() == [32_767, 10**12 - 1]
    assert plan.fields[:, SCALE].tolist() == [0, 2, 4]
    assert plan.fields[:, NULLABLE].tolist() == [0, 1, 0]
    names = [plan.names[row[NAME] : row[NAME_STOP]].tobytes().decode() for row in plan.fields]
    assert names == ["k", "é", "w"]


def test_what_may_be_absent():
    assert optional("null") == [0, 1, 0]
    assert optional("error") == [0, 0, 0]
    assert optional("keep") == [0, 1, 1]


def test_a_plan_of_keys_has_the_key_in_ddl_order():
    plan = Plan.of_keys(Relation("t", COLUMNS, ("w", "k"), "t", absent="keep"))
    assert plan.fields[:, KIND].tolist() == [JsonKind.INTEGER, JsonKind.WIDE]
    assert not plan.fields[:, [NULLABLE, OPTIONAL]].any()
