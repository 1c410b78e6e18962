"""How many bytes a cell sends 16 virtual edges for a change of a join, over those of a sender of joined rows.

    python -m benchmarks.join_traffic
    python -m benchmarks --only join_traffic

The workload is Table 2 of the paper on subscriptions to joins (Chandramouli, Yang, SIGMOD 2008): 100 values to join by,
R of 16,000 rows and S of 5,100 (Zipf 0.8 over the values), 100,000 subscriptions with a range over each, spread over
the virtual edges by chance; a row has 24 bytes of numbers and a text of 100. A batch has 1,000 new rows of R.

Theirs is Ref-J+: an edge is sent each joined row of a new one that some subscription there asks for, spelled out. Ours
is what the cell writes: rows, each once a batch. Both are records `rows` of one encoder, numbers and texts of the same
kinds, compressed alike.

`join_bytes_over_ref_j_plus`  ours over theirs
`join_bytes`                  of either, a change, to all virtual edges together; `plain`: theirs with nothing
                              compressed, 248 bytes a joined row, as the paper counts
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np

from benchmarks.edge_chain import TOPICS, records, registered
from benchmarks.peers.workload import F64
from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import box_of_intervals
from catalog.query.shape import Region
from catalog.schema.catalog import Catalog
from catalog.schema.ddl import apply_ddl
from catalog.schema.join import Join
from connectors.record import RawRecords
from operators.packed import Header
from operators.timeline import SentColumn, SentRows
from operators.wire.sent_rows import pack_rows, row_sizes
from shard.group_spec import GroupSpec
from shard.pipeline import process_group
from state.byte_runs import RECORD_BYTES, byte_runs
from state.change_batch import I64
from state.lifetimes import NEVER

KEYS = 100
R_ROWS, S_ROWS = 16_000, 5_100
SUBSCRIPTIONS = 100_000
EVENTS = 1_000
EDGES = 16
TEXT = 100
ROW = 24 + TEXT
_DDL = "CREATE TABLE {} (id BIGINT PRIMARY KEY, b BIGINT, v BIGINT, note VARCHAR)"
_JOIN, _ = Join.of(["r", "s"], [((0, "b"), (1, "b"))])
_COLUMNS = ("id", "b", "v", "note")


class Rows(NamedTuple):
    """Rows of r or s, by the numbers of their ids from `first` on."""

    key: I64
    value: I64
    note: list[str]
    first: int = 0


def measure(subscriptions: int = SUBSCRIPTIONS, events: int = EVENTS) -> dict[str, Any]:
    """Return the ratio, and both sizes."""
    workload = Workload(subscriptions)
    new = workload.drawn_r(events, R_ROWS)
    ours = workload.sent(new)
    edge, event, partner = workload.wanted(new)
    theirs = sum(
        packed_size(new, event[edge == number], workload.s, partner[edge == number]) for number in range(EDGES)
    )
    plain = len(edge) * 2 * ROW
    sizes = {"ours": ours, "ref_j_plus": theirs, "plain": plain}
    return {
        "join_bytes_over_ref_j_plus": round(ours / theirs, 3),
        "join_bytes": {name: round(size / events) for name, size in sizes.items()},
    }


class Workload:
    """S, the ranges of all subscriptions with their virtual edges, and what new rows of R are drawn from."""

    def __init__(self, subscriptions: int, seed: int = 2) -> None:
        self._random = np.random.default_rng(seed)
        a, c = self._mixed(30e3, 70e3, 10e3, subscriptions), self._mixed(15e3, 85e3, 6e3, subscriptions)
        self.a, self.c = self._around(a, 20e3), self._around(c, 6e3)
        self.edge = np.sort(self._random.integers(0, EDGES, subscriptions))
        weight = 1 / np.arange(1, KEYS + 1) ** 0.8
        key = np.sort(self._random.choice(KEYS, S_ROWS, p=weight / weight.sum()))
        value = self._random.normal(self._random.normal(50e3, 10e3, KEYS)[key], 3e3).astype(np.int64)
        order = np.lexsort((value, key))
        self.s = Rows(key[order], value[order], self._notes(S_ROWS))
        self._mean = self._mixed(25e3, 75e3, 3e3, KEYS)

    def drawn_r(self, count: int, first: int = 0) -> Rows:
        """Return new rows of r."""
        key = self._random.integers(0, KEYS, count)
        value = self._random.normal(self._mean[key], 8e3).astype(np.int64)
        return Rows(key, value, self._notes(count), first)

    def sent(self, new: Rows) -> int:
        """Return how many bytes the cell writes for a batch of new rows of r, to all virtual edges together."""
        catalog = apply_ddl(Catalog(), f"{_DDL.format('r')}; {_DDL.format('s')}; CREATE JOIN r, s", 0)
        spec = GroupSpec(0, _JOIN.cell, catalog, TOPICS, EDGES)
        loaded = [published("r", self.drawn_r(R_ROWS)), published("s", self.s)]
        state = process_group(spec, 0, None, [self._registrations(spec, ve) for ve in range(EDGES)]).state
        state = process_group(spec, 1, state, loaded).state
        out = process_group(spec, 2, state, [published("r", new)]).out
        told = [record for record in out if record.topic == TOPICS.notifications]
        assert told, "nobody is told anything"
        return sum(len(record.value or b"") * (EDGES if record.partition is None else 1) for record in told)

    def wanted(self, new: Rows) -> tuple[I64, I64, I64]:
        """Return the joined rows of each new one that somebody asks for: virtual edge, place of it, partner in s."""
        ends = np.searchsorted(self.s.key, np.arange(KEYS + 1))
        parts = []
        for i, (key, a) in enumerate(zip(new.key.tolist(), new.value.tolist(), strict=True)):
            first, end = ends[key], ends[key + 1]
            chosen = np.flatnonzero((self.a[0] <= a) & (a <= self.a[1]))
            c = self.s.value[first:end]
            lo, hi = np.searchsorted(c, self.c[0][chosen], "left"), np.searchsorted(c, self.c[1][chosen], "right")
            needed = np.zeros((EDGES, end - first + 1), np.int64)
            np.add.at(needed, (self.edge[chosen], lo), hi > lo)
            np.add.at(needed, (self.edge[chosen], hi), -(hi > lo).astype(np.int64))
            edge, partner = np.nonzero(np.cumsum(needed, axis=1)[:, :-1])
            parts.append((edge, np.full(len(edge), i), first + partner))
        edge, event, partner = (np.concatenate(each) for each in zip(*parts, strict=True))
        return edge, event, partner

    def _registrations(self, spec: GroupSpec, ve: int) -> RawRecords:
        shape = FilterShape(
            _JOIN.name, tuple(f"{i}.{name}" for i in (0, 1) for name in _COLUMNS), (), ("0.v", "1.v"), (), (0, 4)
        )
        mine = np.flatnonzero(self.edge == ve)
        bounds = np.stack([self.a[0][mine], self.a[1][mine], self.c[0][mine], self.c[1][mine]], axis=1).tolist()
        terms = [box_of_intervals([(0, *each[:2]), (1, *each[2:])]) for each in bounds]
        return registered(spec, ve, mine.tolist(), [Region(shape, b"[]", terms=each) for each in terms])

    def _mixed(self, low: float, high: float, deviation: float, count: int) -> F64:
        one, other = (self._random.normal(mean, deviation, count) for mean in (low, high))
        return np.where(self._random.random(count) < 0.5, one, other)

    def _around(self, middle: F64, width: float) -> tuple[I64, I64]:
        half = np.abs(self._random.normal(width, 5e3, len(middle))) / 2
        return (middle - half).astype(np.int64), (middle + half).astype(np.int64)

    def _notes(self, count: int) -> list[str]:
        return [self._random.bytes(TEXT // 2).hex() for _ in range(count)]


def packed_size(r: Rows, event: I64, s: Rows, partner: I64) -> int:
    """Return the bytes of records with these joined rows, each spelled out with all columns of both."""
    columns, count = {}, np.arange(len(event))
    for position, (rows, at) in enumerate(((r, event), (s, partner))):
        known = np.ones(len(at), np.bool_)
        for name, codes in (("id", rows.first + at), ("b", rows.key[at]), ("v", rows.value[at])):
            columns[f"{position}.{name}"] = SentColumn(codes, known)
        columns[f"{position}.note"] = SentColumn(count, known, [rows.note[i] for i in at.tolist()])
    joined = SentRows("r", event, np.full(len(event), NEVER), {}, columns)
    header = Header("rows", 0, _JOIN.cell, 2)
    runs = byte_runs(row_sizes(joined), RECORD_BYTES - 20_000)
    return sum(len(pack_rows(header, joined.take(count[run]), run.start)) for run in runs)


def published(table: str, rows: Rows) -> RawRecords:
    """Return rows as records of their topic."""
    each = zip(rows.key.tolist(), rows.value.tolist(), rows.note, strict=True)
    values = [b'{"id":%d,"b":%d,"v":%d,"note":"%s"}' % (i, b, v, n.encode()) for i, (b, v, n) in enumerate(each, rows.first)]  # fmt: skip
    return records([None] * len(values), values, table)


if __name__ == "__main__":
    print(json.dumps(measure(), indent=2))
