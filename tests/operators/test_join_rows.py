from __future__ import annotations

import itertools
from collections import Counter
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.schema.join import Join
from operators.join_rows import JoinRows, links_of, numbers_of
from tests.effort import deep_examples
from tests.operators.cell_world import FORMS, KEY_TYPES, CellWorld, catalog_of, draw_join, draw_parts
from tests.oracle.join_twin import comparable


def world_of(rng: Random, catalog) -> tuple[CellWorld, dict[str, list]]:
    """Return a world after some publications, and its rows as they stand in the stores."""
    world, tables = CellWorld(catalog), {name: {} for name in catalog.relations}
    for _ in range(rng.randint(0, 25)):
        parts = draw_parts(rng, catalog, tables, 3, rng.choice((0, 1, 2)))
        for table, key, row in parts:
            tables[table].pop(key, None) if row is None else tables[table].update({key: row})
        world.commit(world.view([parts]))
    stored = {name: [tables[name][int(rows.key(i))] for i in range(len(rows))] for name, rows in world.rows.items()}
    return world, stored


def naive(catalog, join: Join, stored: dict[str, list], rows: list[list[int]]) -> Counter:
    """Return the numbers of rows that join, by nested loops."""

    def equal(chosen: tuple[int, ...], places) -> bool:
        values = [
            comparable(catalog.relations[join.tables[p]].column(name).type, stored[join.tables[p]][chosen[p]][name])
            for p, name in places
        ]
        return None not in values and len(set(values)) == 1

    every = itertools.product(*rows)
    return Counter(chosen for chosen in every if all(equal(chosen, places) for places in join.classes))


@pytest.mark.deep
@given(rng=st.randoms(use_true_random=False), types=st.sampled_from(KEY_TYPES))
@settings(max_examples=deep_examples(400), deadline=None)
def test_rows_join_as_nested_loops_say(rng: Random, types):
    catalog = catalog_of(types)
    world, stored = world_of(rng, catalog)
    join, _ = Join.of(*draw_join(rng, rng.choice(FORMS)))
    views = dict(zip(world.catalog.relations, world.view([]).views, strict=True))
    joined = JoinRows(join, numbers_of(join, views))
    some = [np.array([i for i in range(len(stored[table])) if rng.random() < 0.8], np.int64) for table in join.tables]
    expected = naive(catalog, join, stored, [each.tolist() for each in some])
    left = joined.reduced(some)
    assert naive(catalog, join, stored, [each.tolist() for each in left]) == expected
    for rows in (some, left):
        count = joined.count(rows)
        assert count == len(expected) if joined.exact else count >= len(expected)
        for at_once in (1, 3, 100):
            parts = list(joined.pairs(rows, at_once))
            assert all(len(each) <= at_once for part in parts for each in part)
            assert (
                Counter(chosen for part in parts for chosen in zip(*(e.tolist() for e in part), strict=True))
                == expected
            )


@pytest.mark.parametrize("form", FORMS)
def test_a_walk_visits_each_table_once_from_one_before_it(form):
    join, _ = Join.of(*draw_join(Random(1), form))
    there, enforced = [0], set()
    for link in links_of(join):
        assert link.parent in there and link.child not in there
        enforced |= {(number, link.child) for number in link.classes} | {(n, link.child) for n, _ in link.others}
        assert all(position in there and position != link.parent for _, position in link.others)
        there.append(link.child)
    assert sorted(there) == list(range(len(join.tables)))
    for number, places in enumerate(join.classes):
        positions = {position for position, _ in places}
        first = min(positions, key=there.index)
        assert all((number, position) in enforced for position in positions - {first})


def test_a_cycle_has_more_at_most_and_is_said_not_to_be_exact():
    triangle, _ = Join.of(*draw_join(Random(1), "triangle"))
    none = [{p: np.zeros(0, np.int64) for p, _ in places} for places in triangle.classes]
    assert not JoinRows(triangle, none).exact
    chain, _ = Join.of(*draw_join(Random(1), "chain"))
    assert JoinRows(chain, [{p: np.zeros(0, np.int64) for p, _ in places} for places in chain.classes]).exact


def test_what_is_made_on_the_way_is_counted_and_yields_parts_though_it_joins_nothing():
    triangle, _ = Join.of(["r", "s", "t"], [((0, "k"), (1, "k")), ((1, "j"), (2, "j")), ((0, "v"), (2, "v"))])
    alike, other = np.zeros(100, np.int64), np.ones(100, np.int64)
    numbers = [{p: alike for p, _ in places} for places in triangle.classes]
    lone = max(range(3), key=lambda number: 2 in numbers[number])
    numbers[lone] = {p: alike if p < 2 else other for p in numbers[lone]}
    joined = JoinRows(triangle, numbers)
    parts = list(joined.pairs([np.arange(100)] * 3, 1_000))
    assert len(parts) >= 10 and all(len(each) == 0 for part in parts for each in part)
    assert joined.made >= 10_000


def test_a_key_of_fifty_thousand_rows_on_both_sides_is_counted_and_looked_at_in_parts():
    join, _ = Join.of(["r", "s"], [((0, "k"), (1, "k"))])
    alike = np.zeros(50_000, np.int64)
    joined = JoinRows(join, [{0: alike, 1: alike}])
    rows = [np.arange(50_000), np.arange(50_000)]
    assert joined.count(joined.reduced(rows)) == 2_500_000_000
    first, second = itertools.islice(joined.pairs(rows, 60_000), 2)
    assert first[0].tolist() == [0] * 50_000 + [1] * 10_000 and second[0].tolist() == [1] * 40_000 + [2] * 20_000
    assert second[1].tolist() == [*range(10_000, 50_000), *range(20_000)]
