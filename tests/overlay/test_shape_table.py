"""Shapes by number and value."""

from __future__ import annotations

from catalog.column_type import ColumnType, Kind
from catalog.relation import Catalog, Column, Relation
from catalog.shape import Shape
from overlay.shape_table import ShapeTable

NUMBER = ColumnType(Kind.BIGINT)


def relation(born: int, *more: str) -> Relation:
    return Relation("t", tuple(Column(name, NUMBER) for name in ("k", *more)), ("k",), "topic", born=born)


def test_numbers_are_small_and_used_again() -> None:
    table = ShapeTable()
    shapes = [Shape("t", kind, "k", (), None) for kind in ("min", "max", "sum")]
    assert [table.enter(shape, relation(0), NUMBER).number for shape in shapes] == [0, 1, 2]
    assert table.enter(shapes[1], relation(0), NUMBER) is table[1]
    table.drop(1)
    assert table.get(shapes[1]) is None and not table.has(1)
    assert table.enter(shapes[1], relation(0), NUMBER).number == 1


def test_a_shape_stands_while_its_relation_does_also_with_new_columns() -> None:
    entry = ShapeTable().enter(Shape("t", "min", "k", (), None), relation(3), NUMBER)
    assert entry.stands(Catalog(4, {"t": relation(3, "new")}))
    assert not entry.stands(Catalog(5, {})) and not entry.stands(Catalog(5, {"t": relation(5)}))
    assert (entry.shard, entry.topic_text) == ("t/0", '"topic"')
