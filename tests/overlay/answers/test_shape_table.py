"""Shapes by number and value."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from catalog.query.best_shape import BestShape
from catalog.query.channel import Order, channel_of
from catalog.query.filter_shape import FilterShape
from catalog.query.shape import Output, Shape
from catalog.schema.catalog import Catalog
from catalog.schema.cell import Cell
from catalog.schema.join import Join
from catalog.schema.relation import Column, Relation
from catalog.types.column_type import ColumnType, Kind
from overlay.answers.shape_table import ShapeTable

NUMBER = ColumnType(Kind.BIGINT)


def relation(born: int, *more: str) -> Relation:
    return Relation("t", tuple(Column(name, NUMBER) for name in ("k", *more)), ("k",), "topic", born=born)


def test_numbers_are_small_and_used_again() -> None:
    table = ShapeTable()
    shapes = [Shape("t", (Output(kind, "k"),), (), None) for kind in ("min", "max", "sum")]
    assert [table.enter(shape, relation(0), [NUMBER]).number for shape in shapes] == [0, 1, 2]
    assert table.enter(shapes[1], relation(0), [NUMBER]) is table[1]
    table.drop(1)
    assert table.get(shapes[1]) is None and not table.has(1)
    assert table.enter(shapes[1], relation(0), [NUMBER]).number == 1


def test_a_shape_stands_while_its_relation_does_also_with_new_columns() -> None:
    entry = ShapeTable().enter(Shape("t", (Output("min", "k"),), (), None), relation(3), [NUMBER])
    assert entry.stands(Catalog(4, {"t": relation(3, "new")}))
    assert not entry.stands(Catalog(5, {})) and not entry.stands(Catalog(5, {"t": relation(5)}))
    assert (entry.shard, entry.topic_text) == ("t/0", '"topic"')


def test_what_was_dropped_is_told_by_whether_a_topic_fed_it() -> None:
    shape = Shape("t", (Output("min", "k"),), (), None)
    assert ShapeTable().enter(shape, relation(3), [NUMBER]).dropped(Catalog()) == "table dropped"
    assert ShapeTable().enter(shape, replace(relation(3), topic=""), [NUMBER]).dropped(Catalog()) == "view dropped"


def test_of_a_join_with_a_view_it_is_the_view_that_was_dropped_where_the_cell_stands() -> None:
    name = Join(("t", "v"), (((0, "k"), (1, "k")),), ("t",)).name
    shape = FilterShape(name, ("0.k",), (), (), (), ())
    entry = ShapeTable().enter(shape, replace(relation(5), name=name, topic="", home="cell/t/0"), [NUMBER])
    cells = {"cell/t/0": Cell(("t",), 4)}
    assert entry.dropped(Catalog(6, {"t": relation(3)}, cells=cells)) == "view dropped"
    assert entry.dropped(Catalog(6, {"t": relation(3)})) == "cell dropped"
    assert entry.dropped(Catalog(6, {})) == "table dropped"


def test_shapes_are_found_by_their_channels_until_they_are_dropped() -> None:
    table = ShapeTable()
    least = table.enter(Shape("t", (Output("min", "k"),), (), None), relation(0), [NUMBER])
    both = table.enter(Shape("t", (Output("min", "k"), Output("count", None)), (), None), relation(0), [NUMBER, None])
    low, rows = both.plan.channels
    assert (least.plain, both.plain) == (True, False)
    assert table.shapes_of(low) == [least, both] and table.shapes_of(rows) == [both]
    table.drop(least.number)
    assert table.shapes_of(low) == [both] and table.shapes_of(channel_of("u", "rows", None, (), None)) == []


def test_shapes_with_one_domain_have_its_number_while_any_of_them_is_there() -> None:
    table, least, both = ShapeTable(), (Output("min", "k"),), (Output("min", "k"), Output("count", None))
    one, two = (
        table.enter(Shape("t", items, (), "new"), relation(0, "new"), [NUMBER] * len(items)) for items in (least, both)
    )
    other = table.enter(Shape("t", least, (), None), relation(0, "new"), [NUMBER])
    assert one.domain == two.domain != other.domain
    assert table.domains(np.array([two.number, other.number, one.number])).tolist() == [
        one.domain, other.domain, one.domain
    ]  # fmt: skip
    low, rows = two.plan.channels
    assert table.hears([rows, low, channel_of("u", "rows", None, (), None)]).tolist() == [
        [False, True, False], [True, True, False], [False] * 3
    ]  # fmt: skip
    table.put(one)
    table.drop(one.number)
    table.drop(two.number)
    assert table.enter(Shape("t", least, ("k",), "new"), relation(0, "new"), [NUMBER]).domain == one.domain
    assert ShapeTable().hears([low]).shape == (1, 0) and not len(table.domains(np.zeros(0, np.int64)))


def test_shapes_that_hear_the_same_are_one_hearer() -> None:
    table, order = ShapeTable(), (Order("k", False, False),)
    three, five, ten = (
        table.enter(BestShape("t", ("k",), (), None, order, limit, (0,)), relation(0), [NUMBER]) for limit in (3, 5, 10)
    )
    assert three.hearer == five.hearer != ten.hearer
    numbers = np.array([ten.number, three.number, five.number])
    assert table.hearers(numbers).tolist() == [ten.hearer, three.hearer, three.hearer]
    table.drop(three.number)
    (channel,) = five.channels
    assert table.hears([channel])[0, [five.hearer, ten.hearer]].tolist() == [True, False]


def test_a_range_attribute_without_codes_is_noted() -> None:
    text = Relation("t", (Column("k", ColumnType(Kind.VARCHAR)), Column("v", NUMBER)), ("k",), "topic")
    table, least = ShapeTable(), (Output("min", "v"),)
    assert table.enter(Shape("t", least, (), "k"), text, [NUMBER]).range_type == ColumnType(Kind.VARCHAR)
    assert table.enter(Shape("t", least, (), "v"), text, [NUMBER]).range_type is None
