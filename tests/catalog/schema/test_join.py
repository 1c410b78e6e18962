"""A join has one form, whatever the order of its tables and equalities, and is a relation."""

from __future__ import annotations

import random
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.schema.cell import Cell
from catalog.schema.join import Join, Place, column_name, is_join, join_of_name, place_of, relation_of_join
from tests.catalog.joined import BARE
from tests.effort import examples

places = st.tuples(st.integers(0, 2), st.sampled_from("kj"))
equalities = st.lists(st.tuples(places, places), min_size=1, max_size=5)
tables = st.lists(st.sampled_from("ab"), min_size=3, max_size=3)


@given(tables, equalities, st.integers(0, 99))
@settings(max_examples=examples(200))
def test_all_orders_have_one_form(named: list[str], equal: list[tuple[Place, Place]], seed: int) -> None:
    source = random.Random(seed)
    join, positions = Join.of(named, equal)
    assert [join.tables[p] for p in positions] == named and sorted(positions) == [0, 1, 2]
    for order in permutations(range(3)):
        moved = [tuple((order.index(at), column) for at, column in pair) for pair in equal]
        turned = [source.choice([(a, b), (b, a)]) for a, b in moved]
        source.shuffle(turned)
        assert Join.of([named[i] for i in order], turned)[0] == join


def test_what_is_equal_over_others_is_one_class() -> None:
    join, _ = Join.of(["a", "b", "c"], [((0, "k"), (1, "k")), ((2, "k"), (1, "k")), ((0, "j"), (2, "j"))])
    assert join.classes == (((0, "j"), (2, "j")), ((0, "k"), (1, "k"), (2, "k")))
    assert Join.of(["a", "b", "c"], [((2, "j"), (0, "j")), ((0, "k"), (2, "k")), ((0, "k"), (1, "k"))])[0] == join


def test_alike_positions_are_chosen_by_what_is_written() -> None:
    equal = [((0, "k"), (1, "k"))]
    assert Join.of(["a", "a"], equal)[1] == (0, 1)
    assert Join.of(["a", "a"], equal, lambda positions: positions[1])[1] == (1, 0)
    unlike = [((0, "k"), (1, "j"))]
    assert Join.of(["a", "a"], unlike, lambda positions: positions[0])[1] == (1, 0)


def test_names() -> None:
    join = Join(("a", "b"), (((0, "x.y"), (1, "k")),))
    assert is_join(join.name) and join_of_name(join.name) == join and join.cell == "cell/a+b/0"
    assert place_of(column_name((1, "x.y"))) == (1, "x.y")


@pytest.mark.parametrize("name", ["quote", "[[", '[["a"]', '[["a"], []]', '[["a"],[[[0]]]]', "[]"])
def test_no_name_of_a_join(name: str) -> None:
    assert join_of_name(name) is None


def test_the_relation_has_all_columns_and_keys() -> None:
    join, _ = Join.of(["sector", "office"], [((0, "name"), (1, "sector"))])
    cell = Cell(("office", "sector"), 7)
    made = relation_of_join(join, cell, BARE.relations.__getitem__)
    assert [c.name for c in made.columns] == [
        "0.town", "0.sector", "0.staff", "0.at", "1.name", "1.Rank", "1.symbol"
    ]  # fmt: skip
    assert (made.key, made.topic, made.born, made.shards) == (("0.town", "1.name", "1.symbol"), "", 7, (cell.name,))
    with pytest.raises(KeyError):
        relation_of_join(Join(("office", "sector"), (((0, "x"), (1, "name")),)), cell, BARE.relations.__getitem__)
