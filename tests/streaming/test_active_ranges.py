"""Shards and the simplest possible edges, over batches: what boxes keep back nobody misses.

An edge here has a dict of regions and one of answers; it takes snapshots and messages as they come, drops some of its
ranges and says so by a summary. After each batch every answer held must be what a look at all rows says.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.ddl.statements import apply_ddl
from catalog.query.shape import Output, Region, Shape, group_key
from catalog.schema.catalog import Catalog
from connectors.record import RawRecords
from connectors.topics import Topics
from operators.answer import Tally
from operators.packed import (
    Header,
    PackedMessages,
    PackedSnapshot,
    pack_registrations,
    pack_summary,
    unpack,
)
from shard.group_spec import GroupSpec
from shard.pipeline import process_group
from state.boxes import Boxes, hashes_of
from tests.effort import examples
from tests.oracle.naive_answer import Naive, Rows

TOPICS = Topics()
CATALOG = apply_ddl(Catalog(), "CREATE TABLE t (id INTEGER PRIMARY KEY, g INTEGER, x INTEGER, y INTEGER)", 0)
RELATION = CATALOG.relations["t"]
EDGES = 2
SPEC = GroupSpec(7, RELATION.shard, CATALOG, TOPICS, EDGES)
LOWEST = Shape("t", (Output("min", "y"),), ("g",), "x")
COUNT = Shape("t", (Output("count", None),), ("g",), "x")

RANGE = st.tuples(st.sampled_from([LOWEST, COUNT]), st.integers(0, 1), st.integers(0, 5), st.integers(0, 5))
ROW = st.one_of(st.none(), st.tuples(st.integers(0, 1), st.integers(0, 5), st.integers(0, 3)))
BATCH = st.fixed_dictionaries(
    {
        "ask": st.lists(st.tuples(st.integers(0, EDGES - 1), st.lists(RANGE, min_size=1, max_size=4)), max_size=2),
        "drop": st.lists(st.tuples(st.integers(0, EDGES - 1), st.integers(0, 3)), max_size=1),
        "rows": st.lists(st.tuples(st.integers(0, 3), ROW), max_size=5),
    }
)


@dataclass
class Edge:
    """One virtual edge; `asked` and `answers` have a region for each version."""

    number: int
    asked: dict[int, Region] = field(default_factory=dict)
    answers: dict[int, int | None] = field(default_factory=dict)

    def ask(self, first: int, ranges: list) -> bytes:
        made = [Region(shape, group_key((g,)), lo, hi, empty=lo > hi) for shape, g, lo, hi in ranges]
        self.asked |= dict(enumerate(made, first))
        header = Header("register", 7, RELATION.shard, ve=self.number, catalog=0)
        (value,) = pack_registrations(header, range(first, first + len(made)), made)
        return value

    def drop(self, keep: int) -> bytes:
        """Forget all but each `keep`-th range, and say what is left: of channels that are not wanted, nothing."""
        self.asked = {version: region for version, region in self.asked.items() if keep and version % keep == 0}
        self.answers = {version: value for version, value in self.answers.items() if version in self.asked}
        summaries = {}
        for shape in (LOWEST, COUNT):
            regions = [region for region in self.asked.values() if region.shape == shape]
            bounds = [np.array([getattr(region, name) for region in regions], np.int64) for name in ("lo", "hi")]
            summaries[shape.channels[0]] = Boxes.of(hashes_of([region.group for region in regions]), *bounds, limit=2)
        return pack_summary(Header("summary", 7, RELATION.shard, ve=self.number, catalog=0), summaries)

    def take(self, value: bytes) -> None:
        packed = unpack(value)
        if isinstance(packed, PackedSnapshot):
            for i, version in enumerate(packed.version.tolist()):
                parts = packed.parts.get(i)
                known = int(packed.new[i]) if packed.has_new[i] else None
                if version in self.asked:
                    self.answers[version] = parts[0].count if parts and isinstance(parts[0], Tally) else known
        elif isinstance(packed, PackedMessages):
            for i in range(len(packed.messages)):
                self._hear(packed, i)

    def _hear(self, packed: PackedMessages, i: int) -> None:
        m = packed.messages
        for version, region in self.asked.items():
            if m.channels[m.channel[i]] not in region.shape.channels or m.groups[m.group[i]] != region.group:
                continue
            if not (m.lo_min[i] <= region.lo <= m.lo_max[i] and m.hi_min[i] <= region.hi <= m.hi_max[i]):
                continue
            if region.shape == LOWEST:
                self.answers[version] = int(m.new[i]) if m.has_new[i] else None
            else:
                self.answers[version] = (self.answers[version] or 0) + int(m.rows[i])


def raw(topic: str, pairs: list[tuple[bytes, bytes | None]], first: int) -> RawRecords:
    offset = np.arange(first, first + len(pairs))
    keys, values = [key for key, _ in pairs], [value for _, value in pairs]
    return RawRecords(topic, keys, values, np.zeros(len(pairs), np.int32), offset, offset)


@given(batches=st.lists(BATCH, min_size=1, max_size=6))
@settings(max_examples=examples(60), deadline=None)
def test_what_boxes_keep_back_nobody_misses(batches):
    edges, state, offset, version = [Edge(i) for i in range(EDGES)], None, 0, 0
    rows: Rows = {}
    for number, batch in enumerate(batches):
        said: list[bytes] = []
        for ve, ranges in batch["ask"]:
            said.append(edges[ve].ask(version, ranges))
            version += len(ranges)
        said += [edges[ve].drop(keep) for ve, keep in batch["drop"]]
        pairs: list[tuple[bytes, bytes | None]] = []
        for key, row in batch["rows"]:
            rows.pop(str(key), None)
            if row is not None:
                rows[str(key)] = dict(zip(("g", "x", "y"), row, strict=True))
            value = None if row is None else b'{"id":%d,"g":%d,"x":%d,"y":%d}' % (key, *row)
            pairs.append((b'{"id":%d}' % key, value))
        registrations = raw(TOPICS.registrations, [(b"t/0", value) for value in said], offset)
        result = process_group(SPEC, number, state, [registrations, raw("t", pairs, offset)])
        state, offset = result.state, offset + len(said) + len(pairs)
        for record in result.out:
            if record.topic == TOPICS.notifications and record.value is not None:
                edges[record.partition or 0].take(record.value)
        for edge in edges:
            expected = {v: Naive(RELATION).answer(region, rows)[0] for v, region in edge.asked.items()}
            assert edge.answers == expected
