from __future__ import annotations

import itertools
from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.query.channel import ImageChannel
from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import encode_terms
from catalog.query.shape import Region
from catalog.query.value_set import ValueSet
from catalog.schema.join import Join, join_of_name
from operators import semijoin_closure
from operators.join_interest import JoinInterests
from operators.packed import Header, unpack
from operators.timeline import Timeline
from operators.wire import timeline as wire
from state.lifetimes import NEVER, STORED
from tests.effort import deep_examples
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
from tests.oracle.join_twin import JoinTwin, relation_of
from tests.oracle.naive_timeline import changes_of

HEADER = Header("", 5, "cell/r+s+t/0", 7, ve=1)


def sent(timeline: Timeline) -> Timeline:
    """Return what an edge has of a timeline."""
    parts = list(wire.split(timeline))
    packed = [wire.pack(HEADER, part) for part in parts]
    assert packed == [wire.pack(HEADER, part) for part in parts]
    return wire.joined([unpack(record) for record in packed])  # type: ignore[misc]


@pytest.mark.deep
@given(rng=st.randoms(use_true_random=False), types=st.sampled_from(KEY_TYPES))
@settings(max_examples=deep_examples(4_000, few=10), deadline=None)
def test_edges_rebuild_every_join_from_what_they_are_sent(rng: Random, types):
    catalog = catalog_of(types)
    world, twin = CellWorld(catalog), JoinTwin(catalog)
    edges: dict[str, int] = {}
    top, keys = rng.choice(((6, 1), (3, 1), (6, 2), (2, 1), (6, 0)))
    seq, names = 0, itertools.count()
    for _ in range(rng.randint(1, 5)):
        for _ in range(rng.choice((0, 1, 3))):
            name, ve = f"{next(names)}", rng.choice(EDGES)
            region = draw_region(rng, catalog, top, keys)
            edges[name] = ve
            twin.subscribe(name, region)
            world.interests.widen(ve, [region], relation_of(catalog, join_of_name(region.shape.relation)))
        if edges and rng.random() < 0.1:
            _withdraw(rng, world, twin, edges)
        expected, publications = [], []
        for _ in range(rng.choice((0, 1, 3, 8))):
            publications.append(draw_parts(rng, catalog, twin.tables, top, keys))
            expected.append(twin.publish(publications[-1]))
        view = world.view(publications)
        told = semijoin_closure.send(view, world.interests, PARTITIONS, seq)
        assert all(times == 1 for times in Counter(ve for _, who in told for ve in who).values())
        for ve in EDGES:
            mine = [sent(timeline) for timeline, who in told if ve in who]
            for name in (name for name, at in edges.items() if at == ve):
                region = twin.regions[name]
                found = _heard(catalog, mine, region)
                assert found == {cause: each[name] for cause, each in _causes(expected, publications) if name in each}
            for timeline in mine:
                _check_changes(timeline, view, seq)
        seq += len(view)
        world.commit(view)
        world.interests = type(world.interests).load(world.interests.dump())


def _withdraw(rng, world, twin, edges):
    """Let an edge have no subscription of a join any more."""
    name = rng.choice(list(edges))
    relation, ve = twin.regions[name].shape.relation, edges[name]
    for other in [one for one, at in edges.items() if at == ve and twin.regions[one].shape.relation == relation]:
        twin.end(other)
        del edges[other]
    world.interests.withdraw(ve, ImageChannel(relation))


def _causes(expected, publications):
    """Yield the number of each cause with what it told; records that say nothing of any table are no cause."""
    return list(enumerate(each for each, parts in zip(expected, publications, strict=True) if parts))


def _heard(catalog, timelines: list[Timeline], region: Region):
    relation = relation_of(catalog, join_of_name(region.shape.relation))
    assert len(timelines) <= 1
    return changes_of(timelines[0], relation, region) if timelines else {}


def _check_changes(timeline: Timeline, view, seq: int) -> None:
    assert (timeline.seq == seq + timeline.number).all()
    causes = view.causes
    for i, cause in enumerate(timeline.cause.tolist()):
        place = causes.topics[causes.topic[cause]], causes.partition[cause], causes.offset[cause]
        assert place == (timeline.topics[timeline.topic[i]], timeline.partition[i], timeline.offset[i])
    for rows in timeline.rows:
        assert (rows.born < rows.died).all()


CATALOG = catalog_of((BIGINT, BIGINT, BIGINT))
JOIN, _ = Join.of(["r", "s"], [((0, "k"), (1, "k"))])
RELATION = relation_of(CATALOG, JOIN)


def asked(world: CellWorld, ve: int, lo: int, hi: int) -> None:
    """Let a virtual edge ask for joined rows whose r.x lies between bounds."""
    shape = FilterShape(JOIN.name, ("0.id", "1.id"), (), ("0.x",), (), ())
    terms = encode_terms([{0: ValueSet.of([(lo, hi)])}])
    world.interests.widen(ve, [Region(shape, b"[]", terms=terms)], RELATION)


def row(key: int, k: int | None, x: int = 0, y: str | None = None) -> dict:
    return {"id": key, "k": k, "j": None, "x": x, "y": y, "v": None}


def filled(publications: list) -> CellWorld:
    world = CellWorld(CATALOG)
    world.commit(world.view(publications))
    return world


def rows_of(timeline: Timeline) -> list[list[int]]:
    return [rows.columns["id"].codes.tolist() if len(rows) else [] for rows in timeline.rows]


def test_only_what_changed_and_its_partners_are_sent_each_once():
    world = filled([[("s", key, row(key, key % 3))] for key in range(9)] + [[("r", 1, row(1, 1)), ("r", 2, row(2, 2))]])
    asked(world, 4, 0, 5)
    view = world.view([[("r", 1, row(1, 1, 3))], [("r", 7, row(7, 8))], [("s", 20, row(20, None))]])
    [(timeline, who)] = semijoin_closure.send(view, world.interests, PARTITIONS, 100)
    assert (who, rows_of(timeline)) == ([4], [[1, 1], [1, 4, 7], []])
    assert (timeline.number.tolist(), timeline.before.tolist(), timeline.after.tolist()) == ([0], [0], [1])
    assert timeline.seq.tolist() == [100]


def test_a_partner_that_goes_later_in_the_batch_is_sent_with_its_end():
    world = filled([[("s", 1, row(1, 1))], [("r", 1, row(1, 1))]])
    asked(world, 0, 0, 5)
    view = world.view([[("r", 1, row(1, 1, 3))], [("s", 1, None)], [("s", 1, row(1, 1))]])
    [(timeline, _)] = semijoin_closure.send(view, world.interests, PARTITIONS, 0)
    assert timeline.rows[1].born.tolist() == [STORED, 2] and timeline.rows[1].died.tolist() == [1, NEVER]


def test_an_image_that_left_the_boxes_is_sent_as_the_end_of_the_one_before():
    world = filled([[("s", 1, row(1, 1))], [("r", 1, row(1, 1, 3))]])
    asked(world, 0, 0, 5)
    view = world.view([[("r", 1, row(1, 1, 9))]])
    [(timeline, _)] = semijoin_closure.send(view, world.interests, PARTITIONS, 0)
    assert (timeline.before.tolist(), timeline.after.tolist(), rows_of(timeline)[0]) == ([0], [-1], [1])


def test_a_change_that_nobody_looks_at_is_none_and_the_row_is_stored_all_the_same():
    world = filled([[("s", 1, row(1, 1))], [("r", 1, row(1, 1))]])
    asked(world, 0, 0, 5)
    view = world.view([[("r", 1, row(1, 1, y="b"))], [("s", 1, row(1, 1, x=4))]])
    assert semijoin_closure.send(view, world.interests, PARTITIONS, 0) == []
    world.commit(view)
    assert world.rows["r"].image(0) == [1, 1, None, 0, "b", None]


def test_who_needs_the_same_shares_it_and_who_needs_most_gets_all():
    world = filled([[("s", 1, row(1, 1))]])
    for ve, lo, hi in ((0, 0, 9), (1, 0, 8), (2, 0, 1), (3, 0, 1), (64, 20, 30)):
        asked(world, ve, lo, hi)
    view = world.view([[("r", key, row(key, 1, key))] for key in range(10)])
    told = semijoin_closure.send(view, world.interests, PARTITIONS, 0)
    assert [(who, rows_of(timeline)[0]) for timeline, who in told] == [([0, 1], [*range(10)]), ([2, 3], [0, 1])]
    assert semijoin_closure.send(view, world.interests, 1, 0)[0][1] == [0]


def test_what_does_not_concern_a_join_sends_nothing():
    world = filled([[("s", 1, row(1, 1))], [("r", 1, row(1, 1))]])
    asked(world, 0, 0, 5)
    assert semijoin_closure.send(world.view([[("t", 1, row(1, 1))]]), world.interests, PARTITIONS, 0) == []
    assert semijoin_closure.send(world.view([]), JoinInterests(), PARTITIONS, 0) == []
