"""How many bytes a cell sends 16 virtual edges for a change of a join, over those of a sender of joined rows.

    python -m benchmarks.join_traffic
    python -m benchmarks --only join_traffic

The workload is Table 2 of the paper on subscriptions to joins (Chandramouli, Yang, SIGMOD 2008): 100 values to join by,
R of 16,000 rows and S of 5,100 (Zipf 0.8 over the values), 100,000 subscriptions with a range over each, spread over
the virtual edges by chance; a row has 24 bytes of numbers and a text of 100. A batch has 1,000 new rows of R.

Theirs is Ref-J+: an edge is sent each joined row of a new one that some subscription there asks for, spelled out. Ours
is what the cell writes: rows, each once in `BATCHES` batches, the window, and then only named; beside it what it writes
without a window, each row once a batch. Both are records `rows` of one encoder, numbers and texts of the same
kinds, compressed alike.

`join_bytes_over_ref_j_plus`  ours over theirs, the mean of a whole window
`join_bytes`                  of either, a change, to all virtual edges together; `alone`: ours without a window; `plain`:
                              theirs with nothing compressed, 248 bytes a joined row, as the paper counts
`join_window_state`           bytes a row of the cell's state that the window takes
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np

from benchmarks.edge_chain import TOPICS, records, registered
from benchmarks.peers.workload import F64
from catalog.ddl.statements import apply_ddl
from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import box_of_intervals
from catalog.query.shape import Region
from catalog.schema.catalog import Catalog
from catalog.schema.join import Join
from connectors.record import RawRecords
from operators.packed import Header
from operators.row_window import WindowBounds
from operators.timeline import SentColumn, SentRows
from operators.wire.sent_rows import pack_rows, row_sizes
from shard.bounds import Bounds
from shard.cell import CellState
from shard.group_spec import GroupSpec
from shard.pipeline import process_group
from state.byte_runs import RECORD_BYTES, byte_runs
from state.change_batch import I64
from state.lifetimes import NEVER

KEYS = 100
R_ROWS, S_ROWS = 16_000, 5_100
SUBSCRIPTIONS = 100_000
EVENTS = 1_000
BATCHES = 64
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


def measure(subscriptions: int = SUBSCRIPTIONS, events: int = EVENTS, batches: int = BATCHES) -> dict[str, Any]:
    """Return the ratio, and all sizes."""
    workload = Workload(subscriptions)
    new = workload.drawn_r(events, R_ROWS)
    more = [new, *(workload.drawn_r(events, R_ROWS + i * events) for i in range(1, batches))]
    alone, _ = workload.sent([new], 0)
    ours, stamps = workload.sent(more, batches)
    ours /= batches
    edge, event, partner = workload.wanted(new)
    theirs = sum(
        packed_size(new, event[edge == number], workload.s, partner[edge == number]) for number in range(EDGES)
    )
    plain = len(edge) * 2 * ROW
    sizes = {"ours": ours, "alone": alone, "ref_j_plus": theirs, "plain": plain}
    return {
        "join_bytes_over_ref_j_plus": round(ours / theirs, 3),
        "join_bytes": {name: round(size / events) for name, size in sizes.items()},
        "join_window_state": round(stamps, 1),
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

    def sent(self, new: list[Rows], window: int) -> tuple[float, float]:
        """Return how many bytes the cell writes for batches of new rows of r, to all virtual edges together.

        And how many bytes of its state its window takes for each row.
        """
        catalog = apply_ddl(Catalog(), f"{_DDL.format('r')}; {_DDL.format('s')}; CREATE JOIN r, s", 0)
        spec = GroupSpec(0, _JOIN.cell, catalog, TOPICS, EDGES, bounds=Bounds(window=WindowBounds(window, 10**9)))
        loaded = [published("r", self.drawn_r(R_ROWS)), published("s", self.s)]
        state = process_group(spec, 0, None, [self._registrations(spec, ve) for ve in range(EDGES)]).state
        state = process_group(spec, 1, state, loaded).state
        sent = 0
        for batch, rows in enumerate(new, 2):
            state, out = (result := process_group(spec, batch, state, [published("r", rows)])).state, result.out
            told = [record for record in out if record.topic == TOPICS.notifications]
            assert told, "nobody is told anything"
            sent += sum(len(record.value or b"") * (EDGES if record.partition is None else 1) for record in told)
        assert spec.cell is not None
        cell = CellState.open(spec.cell, catalog.relations, state)
        return sent, len(cell.window.dump(spec.bounds.window)) / cell.rows

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
