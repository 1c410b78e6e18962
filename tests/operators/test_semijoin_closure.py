from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.query.channel import ImageChannel
from catalog.query.shape import Region
from catalog.schema.join import join_of_name
from operators import semijoin_closure
from operators.packed import Header, unpack
from operators.timeline import Timeline
from operators.wire import timeline as wire
from tests.effort import deep_examples
from tests.operators.cell_world import (
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
@settings(max_examples=deep_examples(4_000), deadline=None)
def test_edges_rebuild_every_join_from_what_they_are_sent(rng: Random, types):
    catalog = catalog_of(types)
    world, twin = CellWorld(catalog), JoinTwin(catalog)
    edges: dict[str, int] = {}
    top, keys = rng.choice(((6, 1), (3, 1), (6, 2), (2, 1), (6, 0)))
    seq = 0
    for _ in range(rng.randint(1, 5)):
        for _ in range(rng.choice((0, 1, 3))):
            name, ve = f"{len(edges)}", rng.randrange(PARTITIONS)
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
        assert Counter(ve for _, who in told for ve in who) == Counter({ve for _, who in told for ve in who})
        for ve in range(PARTITIONS):
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
