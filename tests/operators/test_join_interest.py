from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.query.channel import ImageChannel
from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import encode_terms
from catalog.query.shape import Region
from catalog.query.value_set import ValueSet
from catalog.schema.join import Join, join_of_name
from operators.join_interest import MAX_KINDS, JoinInterests, Kind
from operators.wanted_versions import WantedVersions
from state.errors import StateError
from tests.effort import examples
from tests.operators.cell_world import (
    BIGINT,
    EDGES,
    KEY_TYPES,
    PARTITIONS,
    CellWorld,
    catalog_of,
    draw_parts,
    draw_region,
)
from tests.oracle.join_twin import joined, relation_of
from tests.oracle.naive_first_rows import meets

CATALOG = catalog_of((BIGINT, BIGINT, BIGINT))
JOIN, _ = Join.of(["r", "s"], [((0, "k"), (1, "j"))])
RELATION = relation_of(CATALOG, JOIN)
FREE = ValueSet.of([(5, 9)])


def region(shown=("0.x",), tested=(), boxes=({},), empty=False) -> Region:
    shape = FilterShape(JOIN.name, shown, (), tuple(tested), (), ())
    return Region(shape, b"[]", empty=empty, terms=encode_terms([dict(box) for box in boxes]))


def kinds(interests: JoinInterests, ve: int = 0) -> list[Kind]:
    return sorted(interests.of(JOIN)[ve].boxes)


def test_a_conjunction_is_equalities_and_one_range_at_each_position():
    interests = JoinInterests()
    tested = ("0.v", "0.x", "0.y", "1.j", "1.x")
    box = {0: ValueSet.of([(1, 1)]), 1: FREE, 2: ValueSet.of([(b"a", b"a\0")]), 3: FREE, 4: FREE}
    interests.widen(0, [region(tested=tested, boxes=[box])], RELATION)
    assert kinds(interests) == [Kind(0, ("v", "y"), "x"), Kind(1, (), "j")]
    assert interests.told("r") == ["v", "x", "y"] and interests.told("s") == ["j", "x"]
    assert interests.needed("r") == ["k", "v", "x", "y"] and interests.needed("s") == ["j", "x"]
    assert interests.needed("t") == [] and interests.joins() == [JOIN]
    assert interests.orderings("r", CATALOG.relations["r"]) == {((1,), None)}
    assert interests.orderings("s", CATALOG.relations["s"]) == {((2,), None)}


@pytest.mark.parametrize(
    "values",
    [ValueSet.of([(1, 1)], True), ValueSet((), True), ValueSet.of([(b"a", b"c")]), ValueSet.of([(b"a", b"a\0")], True)],
)
def test_what_holds_null_or_texts_between_bounds_only_loses_precision(values):
    name = "0.x" if values.intervals[:1] and isinstance(values.intervals[0][0], int) else "0.y"
    interests = JoinInterests()
    interests.widen(0, [region(tested=(name,), boxes=[{0: values}])], RELATION)
    assert kinds(interests) == [Kind(0, (), ""), Kind(1, (), "")]


def test_what_no_row_can_meet_widens_nothing():
    interests = JoinInterests()
    interests.widen(0, [region(empty=True)], RELATION)
    assert (interests.joins(), interests.needed("r")) == ([], [])


def test_a_join_is_forgotten_with_its_last_virtual_edge():
    interests = JoinInterests()
    interests.widen(0, [region()], RELATION)
    interests.widen(1, [region(shown=("1.y",))], RELATION)
    assert interests.told("r") == ["x"] and interests.told("s") == ["y"]
    for ve, told in ((0, []), (2, []), (1, [])):
        interests.withdraw(ve, ImageChannel(JOIN.name))
        assert interests.told("r") == told
    assert interests.joins() == [] and interests.dump() == JoinInterests().dump()
    interests.withdraw(0, ImageChannel("nothing"))


def test_kinds_beyond_the_bound_want_every_row():
    interests = JoinInterests()
    columns = [column.name for column in RELATION.columns if column.name.startswith("0.")]
    rng = Random(1)
    for _ in range(200):
        tested = sorted(rng.sample(columns, 4))
        box = {i: FREE if rng.random() < 0.3 else ValueSet.of([(1, 1)]) for i in range(4) if tested[i] != "0.y"}
        interests.widen(0, [region(tested=tuple(tested), boxes=[box])], RELATION)
    at_first = [kind for kind in kinds(interests) if kind.position == 0]
    assert len(at_first) <= MAX_KINDS + 1 and Kind(0, (), "") in at_first


def test_other_bytes_are_refused():
    for data in (b"", b"\xc1", JoinInterests().dump() + b"x", b"\x81\xa1t\x80"):
        with pytest.raises(StateError, match="interests in joins"):
            JoinInterests.load(data)


@given(rng=st.randoms(use_true_random=False), types=st.sampled_from(KEY_TYPES))
@settings(max_examples=examples(150), deadline=None)
def test_no_row_of_a_joined_row_that_is_asked_for_is_unwanted(rng: Random, types):
    catalog = catalog_of(types)
    world, tables = CellWorld(catalog), {name: {} for name in catalog.relations}
    regions = [draw_region(rng, catalog, 3, 2) for _ in range(rng.randint(1, 6))]
    edges = [rng.choice(EDGES) for _ in regions]
    for each, ve in zip(regions, edges, strict=True):
        join = join_of_name(each.shape.relation)
        world.interests.widen(ve, [each], relation_of(catalog, join))
    parts = [draw_parts(rng, catalog, tables, 3, 2) for _ in range(12)]
    for table, key, row in (change for each in parts for change in each):
        tables[table] = {**tables[table], key: row} if row else {k: v for k, v in tables[table].items() if k != key}
    world.commit(world.view(parts))
    view = world.view([])
    stored = JoinInterests.load(world.interests.dump())
    for each, ve in zip(regions, edges, strict=True):
        join = join_of_name(each.shape.relation)
        wanted = WantedVersions(view, join, stored, PARTITIONS)
        for row in joined(catalog, join, tables):
            if meets(relation_of(catalog, join), each, row):
                for position, table in enumerate(join.tables):
                    version = world.rows[table].find([f"{row[f'{position}.id']}".encode()])
                    bits = wanted.at(position, version.astype(np.int64))[0]
                    assert int(bits[ve // 64]) >> ve % 64 & 1
