"""What a change of a joined table costs an edge: R and S of 50,000 rows each, changes of both by turns.

    python -m benchmarks.join_edge_cost [SUBSCRIPTIONS ...]

A virtual edge has subscriptions to the join of R and S with a range over each. It is fed what the cell sends of 4,000
changes, with all their partners, and does all that it does with it: reading, who is met, which rows came and went for
whom, counts and digests, records. Half of the changes leave the range's value as it is, all change what is shown.
`join_edge_us_100k`, `join_edge_us_1m`: microseconds a change, where a change meets about two of so many subscriptions
and has five partners; `named`: the same where the edge has been sent all rows that were there, and is only named them;
`window_bytes` of memory it keeps for a row then. `general`: the same the general way, which rebuilds the join. `join_deliveries_per_s`: deliveries
a second where a change meets about twenty of 100,000. Data is synthetic and seeded; times are processor times, the
least of several turns.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import replace
from typing import Any
from unittest import mock

import numpy as np

from benchmarks.join_chain import CATALOG, CELL, DOMAIN, PARTNERS, ROWS, statements
from catalog.schema.join import Join
from connectors.topics import Topics
from operators.control import EpochBegins, Progress, RegisterAll, encode_control
from operators.operator import Answers
from operators.packed import Header, PackedRegistrations, is_packed, pack_snapshot, unpack
from operators.reply import Rows
from operators.semijoin_closure import named_timeline
from operators.timeline import SentColumn, SentRows, Stamps, Timeline
from operators.wire.timeline import pack, split
from overlay.index import join_index
from overlay.machine.virtual_edge import VirtualEdge
from overlay.process.jit_warmup import warm
from state.change_batch import I64
from state.lifetimes import NEVER, STORED

CHANGES = 4_000
TURNS = 3
CHUNK = 10_000
JOIN, _ = Join.of(["r", "s"], [((0, "k"), (1, "k"))])


def subscribed(size: int, met: float, partners: int) -> VirtualEdge:
    """Return an edge with so many subscriptions, of which a change with its partners meets about `met`."""
    sql = [b'{"sql":"%s"}' % text.encode() for text in statements(size, met, partners)]
    edge = VirtualEdge(0, 1, Topics(), lambda _: CATALOG)
    for record in (EpochBegins(0, 0), RegisterAll(0, 0)):
        edge.notification(0, b"@control", encode_control(record))
    for first in range(0, size, CHUNK):
        which = range(first, min(first + CHUNK, size))
        edge.subscribe_all(which, [b"subscriber-%07d" % i for i in which], sql[first : which.stop])
    answer(edge)
    return edge


def answer(edge: VirtualEdge) -> None:
    """Answer all that is registered in batch 0, with no rows."""
    packed = [unpack(one.value) for one in edge.take() if one.value is not None and is_packed(one.value)]
    versions = [v for part in packed if isinstance(part, PackedRegistrations) for v in part.versions]
    parts = [versions[i : i + CHUNK] for i in range(0, len(versions), CHUNK)]
    for i, part in enumerate(parts):
        nothing = np.zeros(len(part), np.int64)
        header = Header("snapshot", 0, CELL, 0, chunk=i, of=len(parts))
        replies = dict.fromkeys(range(len(part)), Rows(()))
        edge.notification(i, b"", pack_snapshot(header, np.array(part), Answers(nothing, nothing > 0, {}), replies))
    edge.notification(0, b"@control", encode_control(Progress(0, 0, 0, "t")))
    edge.take()


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


def stamped(timeline: Timeline, batch: int, first: int) -> Timeline:
    """Return what a cell with a window sends of a timeline, whose stored rows were sent with batch `first`."""
    rows, named = [], []
    for each in timeline.rows:
        number = np.arange(len(each))
        old = each.born == STORED
        stamps = Stamps(np.where(old, first, batch), number)
        rows.append(replace(each, stamps=stamps))
        named.append(old if batch > first else old & False)
    return named_timeline(replace(timeline, rows=tuple(rows)), [np.ones(len(each), np.bool_) for each in rows], named)


def turn(edge: VirtualEdge, timeline: Timeline, batch: int, window: int = 0) -> tuple[float, int]:
    """Let an edge apply a timeline; return the seconds that it takes, and how many deliveries it makes."""
    parts, before = list(split(timeline)), edge.counters.deliveries
    headers = [Header("rows", 0, CELL, batch, chunk=i, of=len(parts), window=window) for i in range(len(parts))]
    chunks = [pack(header, part) for header, part in zip(headers, parts, strict=True)]
    began = time.process_time()
    for i, chunk in enumerate(chunks):
        edge.notification(i, b"", chunk)
    edge.notification(0, b"@control", encode_control(Progress(0, batch, 0, "t")))
    edge.take()
    return time.process_time() - began, edge.counters.deliveries - before


def measured(size: int, met: float, partners: int = PARTNERS, turns: int = TURNS) -> dict[str, float]:
    """Return microseconds a change, deliveries a change, and microseconds a delivery."""
    edge, timeline = subscribed(size, met, partners), replayed(partners)
    least, deliveries = min(turn(edge, timeline, batch) for batch in range(1, turns + 1))
    assert deliveries, "nobody was told anything"
    first = turns + 1
    turn(edge, stamped(timeline, first, first), first, 64)
    again = range(first + 1, first + 1 + turns)
    named, _ = min(turn(edge, stamped(timeline, batch, first), batch, 64) for batch in again)
    kept = edge.window
    return {
        "named": round(named / CHANGES * 1e6, 2),
        "window_bytes": round(kept["bytes"] / kept["rows"]),
        "us": round(least / CHANGES * 1e6, 2),
        "deliveries": round(deliveries / CHANGES, 2),
        "us_a_delivery": round(least / deliveries * 1e6, 2),
    }


def measure(usual: int = 100_000, many: int = 1_000_000) -> dict[str, Any]:
    """Return the figures of the report."""
    warm()
    few, most, busy = measured(usual, 2), measured(many, 2), measured(usual, 20)
    with mock.patch.object(join_index, "fit", lambda shape, terms: None):
        general = measured(usual, 2, turns=2)
    return {
        "join_edge_us_100k": {**few, "general": general["us"]},
        "join_edge_us_1m": most,
        "join_deliveries_per_s": round(1e6 / busy["us_a_delivery"]),
    }


if __name__ == "__main__":
    warm()
    for count in map(int, sys.argv[1:] or ["100000"]):
        for met in (2, 20):
            for partners in (1, 5, 20):
                print(count, met, partners, json.dumps(measured(count, met, partners)), flush=True)
