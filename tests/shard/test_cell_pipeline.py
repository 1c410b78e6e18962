"""Cells from records to records against nested loops: first answers, and what edges make of what they are sent."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, combinations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.query.channel import ImageChannel
from catalog.query.shape import Region
from catalog.schema.catalog import Catalog
from catalog.schema.cell import Cell
from catalog.schema.join import join_of_name
from connectors.record import OutRecord
from operators.control import Withdraw
from operators.packed import PackedSnapshot, unpack
from operators.reply import Rows, decode_row
from operators.timeline import Timeline
from operators.wire import timeline as wire
from tests.effort import deep_examples
from tests.operators.cell_world import BIGINT, KEY_TYPES, TABLES, TEXT, catalog_of, draw_parts, draw_region
from tests.operators.named_rows import NaiveReader
from tests.oracle.join_twin import Bag, Change, JoinTwin, relation_of
from tests.oracle.naive_timeline import changes_of
from tests.shard.cell_stack import TOPICS, CellStack

EDGES = 3
Readers = dict[tuple[int, str], NaiveReader]
TYPES = [types for types in KEY_TYPES if {each.kind for each in types} <= {BIGINT.kind, TEXT.kind}]


def with_cells(types) -> Catalog:
    """The tables r, s, t of a database, and a cell of each set of them."""
    catalog = catalog_of(types)
    relations = {name: replace(each, format="debezium-json") for name, each in catalog.relations.items()}
    sets = chain.from_iterable(combinations(TABLES, k) for k in (1, 2, 3))
    cells = [Cell(tables, 0) for tables in sets]
    return Catalog(0, relations, cells={cell.name: cell for cell in cells})


def publish(stack: CellStack, parts: list[Change]) -> None:
    """Write one publication as a connector would."""
    table = parts[0][0]
    if len(parts) == 1:
        _, key, row = parts[0]
        stack.change(table, key, {"op": "d"} if row is None else {"op": "u", "after": row})
    elif all(row is None for _, _, row in parts):
        stack.change(table, None, {"op": "t"})
    else:
        (_, old, _), (_, _, row) = parts
        stack.change(table, None, {"op": "u", "before": {"id": old}, "after": row})


def notified(out: dict[str, list[OutRecord]]) -> Iterator[tuple[int, object]]:
    """Yield what the cells send each virtual edge, unpacked, with sound numbers of chunks."""
    for group, records in out.items():
        by_edge: dict[int, list] = defaultdict(list)
        for record in records:
            assert record.topic != TOPICS.dead_letters or not group.startswith("cell/")
            if record.topic == TOPICS.notifications:
                assert record.key == group.encode()
                by_edge[record.partition].append(unpack(record.value))
        for ve, chunks in by_edge.items():
            assert [chunk.header.chunk for chunk in chunks] == [*range(len(chunks))]
            assert {chunk.header.of for chunk in chunks} == {len(chunks)}
            kinds = [isinstance(chunk, PackedSnapshot) for chunk in chunks]
            assert kinds == sorted(kinds, reverse=True), "answers stand first"
            yield from ((ve, chunk) for chunk in chunks)


def answers_of(sent: list[tuple[int, object]]) -> dict[tuple[int, int], Bag]:
    """Return the rows that are told under each version."""
    found: dict[tuple[int, int], Bag] = {}
    for ve, chunk in sent:
        if isinstance(chunk, PackedSnapshot):
            for i, version in enumerate(chunk.version.tolist()):
                reply = chunk.replies[i]
                assert isinstance(reply, Rows) and (ve, version) not in found
                found[ve, version] = Counter(tuple(decode_row(row)) for row in reply.rows)
    return found


def timelines_of(sent: list[tuple[int, object]], readers: Readers | None = None) -> dict[tuple[int, str], Timeline]:
    """Return what each virtual edge has of each cell; `readers` have the rows that are only named."""
    chunks: dict[tuple[int, str], list] = defaultdict(list)
    for ve, chunk in sent:
        if not isinstance(chunk, PackedSnapshot):
            chunks[ve, chunk.header.shard].append(chunk)
    readers = defaultdict(NaiveReader) if readers is None else readers
    return {place: wire.joined(its, readers[place].read(its)) for place, its in chunks.items()}


@pytest.mark.deep
@given(rng=st.randoms(use_true_random=False), types=st.sampled_from(TYPES))
@settings(max_examples=deep_examples(600), deadline=None)
def test_edges_are_answered_and_can_rebuild_their_joins(rng: Random, types):
    catalog = with_cells(types)
    stack, twin = CellStack(catalog, EDGES, rng), JoinTwin(catalog)
    edges: dict[str, int] = {}
    names = itertools.count(1)
    for _ in range(rng.randint(1, 5)):
        fresh: dict[tuple[int, int], Bag] = {}
        for _ in range(rng.choice((0, 1, 3))):
            version, ve, region = next(names), rng.randrange(EDGES), draw_region(rng, catalog, 3, 1)
            stack.register(join_of_name(region.shape.relation).cell, ve, [version], [region])
            fresh[ve, version] = twin.subscribe(f"{version}", region)
            edges[f"{version}"] = ve
        if edges and rng.random() < 0.1:
            withdraw(rng, stack, twin, edges, fresh)
        told: list[tuple[tuple[str, int], dict]] = []
        for _ in range(rng.choice((0, 1, 3, 8))):
            parts = draw_parts(rng, catalog, twin.tables, 3, 1)
            topic = catalog.relations[parts[0][0]].topic
            told.append(((topic, len(stack.logs[topic, 0])), twin.publish(parts)))
            publish(stack, parts)
        sent = [*notified(stack.run())]
        assert answers_of(sent) == fresh
        timelines = timelines_of(sent)
        for name, ve in edges.items():
            region = twin.regions[name]
            expected = [(place, each[name]) for place, each in told if name in each]
            assert heard(catalog, timelines, ve, region) == expected
        for table in TABLES:
            for cell in (stack.cell(cell.name) for cell in catalog.cells.values() if table in cell.tables):
                cell.copies[table].table.check()


def withdraw(rng, stack, twin, edges, fresh) -> None:
    """Let an edge have no subscription of a join any more, of those that were answered before."""
    name = rng.choice([*edges])
    relation, ve = twin.regions[name].shape.relation, edges[name]
    mine = [one for one, at in edges.items() if at == ve and twin.regions[one].shape.relation == relation]
    if any((ve, int(one)) in fresh for one in mine):
        return
    stack.tell(join_of_name(relation).cell, ve, Withdraw(stack.epoch, ve, [ImageChannel(relation)]))
    for one in mine:
        twin.end(one)
        del edges[one]


def heard(catalog: Catalog, timelines: dict, ve: int, region: Region) -> list:
    """Return where a subscription's rows changed, with what went and came, in order."""
    join = join_of_name(region.shape.relation)
    timeline = timelines.get((ve, join.cell))
    if timeline is None:
        return []
    told = changes_of(timeline, relation_of(catalog, join), region)
    at = {int(cause): i for i, cause in enumerate(timeline.cause.tolist())}
    places = [(timeline.topics[timeline.topic[i]], int(timeline.offset[i])) for i in map(at.__getitem__, sorted(told))]
    return [*zip(places, (told[cause] for cause in sorted(told)), strict=True)]
