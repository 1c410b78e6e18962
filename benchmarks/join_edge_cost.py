"""What a change of a joined table costs an edge: R and S of 50,000 rows each, changes of both by turns.

    python -m benchmarks.join_edge_cost [SUBSCRIPTIONS ...]

A timeline of 4,000 changes with all their partners is replayed for subscriptions to the join of R and S with a range
over each: who is met, which rows came and went for whom, texts, digests and finished records. Half of the changes leave
the range's value as it is, all change what is shown. `join_edge_us_100k`, `join_edge_us_1m`: microseconds a change,
where a change meets two of so many subscriptions and has five partners. `join_deliveries_per_s`: deliveries a second
where it meets twenty of 100,000. Data is synthetic and seeded; times are processor times, the least of several turns.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import numpy as np

from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import box_of_intervals
from catalog.schema.join import Join, column_name
from catalog.schema.relation import Column, Relation
from catalog.types.column_type import ColumnType, Kind
from connectors.topics import Topics
from operators.timeline import NEVER, STORED, SentColumn, SentRows, Timeline
from overlay.answers.shape_table import ShapeEntry, ShapeTable
from overlay.delivery.bag_delivery import rows_tail
from overlay.delivery.delivery import Position, change_heads, row_at, row_start
from overlay.delivery.outbox import Outbox
from overlay.maintain.join_fast import JoinFast
from overlay.maintain.join_fast_rows import Parts, row_changes
from overlay.maintain.join_fast_told import told
from state.change_batch import I64

ROWS = 50_000
CHANGES = 4_000
DOMAIN = 10**9
TURNS = 3
PARTS = ("asked", "rows", "told", "written")
NUMBER, TEXT = ColumnType(Kind.BIGINT), ColumnType(Kind.VARCHAR)
JOIN, _ = Join.of(["r", "s"], [((0, "k"), (1, "k"))])
SHOWN = ("0.id", "0.note", "1.id", "1.note")
TESTED = ("0.x", "1.x")
SHAPE = FilterShape(JOIN.name, SHOWN, (), TESTED, (), ())
TYPES = {
    column_name((p, name)): type_ for p in (0, 1) for name, type_ in (("id", NUMBER), ("x", NUMBER), ("note", TEXT))
}


def entry() -> ShapeEntry:
    """Return the shape that all subscriptions have."""
    columns = tuple(Column(name, type_) for name, type_ in TYPES.items())
    relation = Relation(JOIN.name, columns, ("0.id", "1.id"), topic="")
    return ShapeTable().enter(SHAPE, relation, [TYPES[name] for name in SHOWN])


def subscribed(size: int, met: float, partners: int) -> JoinFast:
    """Return so many subscriptions of which a change with its partners meets about `met`."""
    source, side = np.random.default_rng(4), (met / size) ** 0.5
    at = []
    for width in (side, side / partners):
        middle, width_of = source.random(size) * DOMAIN, source.exponential(width * DOMAIN, size)
        at.append(((middle - width_of / 2).astype(np.int64), (middle + width_of / 2).astype(np.int64)))
    (a, b), (c, d) = at
    rows = zip(*(column.tolist() for column in (a, b, c, d)), strict=True)
    terms = [box_of_intervals([(0, lo, hi), (1, low, high)]) for lo, hi, low, high in rows]
    fast = JoinFast()
    for first in range(0, size, 100_000):
        slots = np.arange(first, min(first + 100_000, size))
        fast.insert(0, slots, SHAPE, TYPES, terms[first : first + 100_000])
    return fast


def replayed(partners: int) -> Timeline:
    """Return the changes, with the rows that changed and their partners."""
    source, half = np.random.default_rng(5), CHANGES // 2
    keys = ROWS // partners
    table = np.arange(CHANGES) % 2
    key, x, born, died = [], [], [], []
    before, after = np.empty(CHANGES, np.int64), np.empty(CHANGES, np.int64)
    for side in (0, 1):
        mine = np.flatnonzero(table == side)
        was, now = source.permutation(ROWS)[:half], ROWS + np.arange(half)
        key.append(np.append(np.arange(ROWS) % keys, was % keys))
        x.append((source.random(ROWS + half) * DOMAIN).astype(np.int64))
        stays = source.random(half) < 0.5
        x[side][now[stays]] = x[side][was[stays]]
        born.append(np.append(np.full(ROWS, STORED), mine))
        died.append(np.full(ROWS + half, NEVER))
        died[side][was] = mine
        before[mine], after[mine] = was, now
    touched = np.zeros(keys, np.bool_)
    for side in (0, 1):
        touched[key[side][before[table == side]]] = True
    rows = []
    for side in (0, 1):
        sent = touched[key[side]].nonzero()[0]
        place = np.cumsum(touched[key[side]]) - 1
        mine = table == side
        before[mine], after[mine] = place[before[mine]], place[after[mine]]
        columns = {"id": _codes(sent), "x": _codes(x[side][sent]), "note": _texts(sent)}
        keyed = {(JOIN.name, 0, side): key[side][sent]}
        rows.append(SentRows(JOIN.tables[side], born[side][sent], died[side][sent], keyed, columns))
    numbers = np.arange(CHANGES)
    return Timeline(
        (rows[0], rows[1]), numbers, table, before, after, numbers, numbers, ["r", "s"], table, table * 0, numbers
    )


def _codes(values: I64) -> SentColumn:
    return SentColumn(values, np.ones(len(values), np.bool_))


def _texts(rows: I64) -> SentColumn:
    return SentColumn(np.arange(len(rows)), np.ones(len(rows), np.bool_), [f"row {row}" for row in rows.tolist()])


def turn(fast: JoinFast, timeline: Timeline, of: ShapeEntry) -> tuple[list[float], int]:
    """Replay a timeline; return the seconds of each part, and how many deliveries there were."""
    spent, deliveries, outbox = [0.0] * len(PARTS), 0, Outbox(Topics(), 0)
    parts, at = Parts(timeline), time.process_time()
    for step in fast.hits(0, timeline, JOIN.name):
        marks = [at, time.process_time()]
        changes = row_changes(timeline, step, np.zeros(len(step.hits.slot), np.int64), [SHOWN], parts)
        marks.append(time.process_time())
        said = told(timeline, changes, [of], bytes(16))
        marks.append(time.process_time())
        start = row_start(Position(3, 17), '"r"')
        change = np.empty(len(changes.lists), np.int64)
        change[changes.told] = changes.change
        ats = [row_at(start, 0, offset) for offset in timeline.offset[change].tolist()]
        tails = [rows_tail(*one) for one in zip(*said.sides(), ats, strict=True)]
        distinct, who = np.unique(changes.slot, return_inverse=True)
        names = [b"subscriber-%07d" % slot for slot in distinct.tolist()]
        ids, heads = change_heads(b"".join(names), np.full(len(names), 18), distinct.tolist())
        outbox.shared_changes(
            ids, heads, tails, zip(who.tolist(), changes.told.tolist(), changes.slot.tolist(), strict=True)
        )
        deliveries += len(changes.slot)
        at = time.process_time()
        marks.append(at)
        spent = [sofar + b - a for sofar, a, b in zip(spent, marks, marks[1:], strict=False)]
    outbox.take()
    return spent, deliveries


def measured(size: int, met: float, partners: int = 5) -> dict[str, Any]:
    """Return microseconds a change by part, deliveries a change, and microseconds a delivery."""
    began = time.process_time()
    fast, timeline, of = subscribed(size, met, partners), replayed(partners), entry()
    came = time.process_time() - began
    least, deliveries = min((turn(fast, timeline, of) for _ in range(TURNS)), key=lambda one: sum(one[0]))
    us = {name: round(seconds / CHANGES * 1e6, 2) for name, seconds in zip(PARTS, least, strict=True)}
    return {
        "us_a_change": round(sum(least) / CHANGES * 1e6, 2),
        **us,
        "deliveries_a_change": round(deliveries / CHANGES, 2),
        "us_a_delivery": round(sum(least) / deliveries * 1e6, 2),
        "us_to_come": round(came / size * 1e6, 2),
        "index_bytes": round(fast.nbytes / size),
    }


def measure() -> dict[str, Any]:
    """Return the figures of the report."""
    usual, many, busy = measured(100_000, 2), measured(1_000_000, 2), measured(100_000, 20)
    return {
        "join_edge_us_100k": usual,
        "join_edge_us_1m": many,
        "join_deliveries_per_s": round(1e6 / busy["us_a_delivery"]),
    }


if __name__ == "__main__":
    for count in map(int, sys.argv[1:] or ["100000"]):
        for met in (2, 20):
            for partners in (1, 5, 20):
                print(count, met, partners, json.dumps(measured(count, met, partners)), flush=True)
