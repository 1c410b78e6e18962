"""What an edge costs: time per message against 1,000 to 1,000,000 subscriptions, and deliveries per second.

    python -m benchmarks.edge_cost

`edge_us_per_message`: a batch of 20,000 messages is fed as packed chunks and applied, outputs taken: unpacking, index,
state and texts are all in it. A message meets two or three subscriptions, whatever their number
(`edge_hits_per_message`). `deliveries_per_s`: the same with messages that meet about 1,400 of 100,000 each.
`edge_us_per_affected`: by what is asked and how it is told, at 100,000 subscriptions, the time of such batches divided
by the pairs of a message and a subscription that it meets. `edge_us_per_subscription`: by how many there are, those that
wait for their table, then are `admitted` when it comes; those of a dropped table that have `ended`; and records of a
`churn`, half of which end a subscription that came just before. Data is synthetic and seeded; times are CPU times of this one
thread, which neighbours disturb less.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from catalog.query.channel import channel_of
from catalog.schema.catalog import Catalog
from catalog.schema.relation import Column, Relation
from catalog.types.column_type import ColumnType, Kind
from connectors.kafka.partitioner import home_partition
from connectors.topics import Topics
from operators.answer import Members, Parts, Tally
from operators.control import EpochBegins, Progress, RegisterAll, encode_control
from operators.operator import Answers, Messages
from operators.packed import Header, PackedRegistrations, is_packed, pack_messages, pack_snapshot, unpack
from overlay.machine.virtual_edge import VirtualEdge
from overlay.process.jit_warmup import warm
from state.causes import Causes


class Asked(NamedTuple):
    """What subscriptions ask, the channel that it is answered from, and what they know at first (None: one value)."""

    items: str
    kind: str
    parts: Parts | None = None
    rows: int = 0
    told: str = ""


MIN = Asked("MIN(price)", "min")
ASKED = {
    "min": MIN,
    "min, packed": MIN._replace(told=" DELIVER PACKED"),
    "min, latest": MIN._replace(told=" NOTIFY LATEST"),
    "min, min change": MIN._replace(told=" NOTIFY MIN CHANGE 0.01"),
    "count": Asked("COUNT(*)", "rows", (Tally.of(3, 0),), rows=1),
    "sum": Asked("SUM(price)", "values", (Tally.of(3, 300),)),
    "avg": Asked("AVG(price)", "values", (Tally.of(3, 300),)),
    "distinct": Asked("DISTINCT price", "distinct", (Members((0,)),), rows=1),
}
SIZES = (1_000, 10_000, 100_000, 1_000_000)
USUAL = 100_000
SPAN = 1_000_000
CHUNK = 10_000
NUMBER = ColumnType(Kind.BIGINT)
MONEY = ColumnType(Kind.DECIMAL, 12, 2)
TOPICS = Topics()
STOCK = Relation("stock", (Column("k", NUMBER, False), Column("x", NUMBER), Column("price", MONEY)), ("k",), "stock")
CHANNEL = channel_of("stock", "min", "price", (), "x")


def subscribed(size: int, asked: Asked = MIN) -> VirtualEdge:
    """Return an edge with `size` live subscriptions whose ranges lie anywhere in the span."""
    source = np.random.default_rng(size)
    edge = VirtualEdge(0, 1, TOPICS, lambda version: Catalog(version, {"stock": STOCK}))
    control(edge, EpochBegins(0, 0))
    control(edge, RegisterAll(0, 0))
    lows = source.integers(0, SPAN, size)
    highs = lows + (source.random(size) * (SPAN - lows)).astype(np.int64)
    made = []
    for first in range(0, size, CHUNK):
        which = range(first, min(first + CHUNK, size))
        asks = [f"SELECT {asked.items} FROM stock WHERE x BETWEEN {lows[i]} AND {highs[i]}{asked.told}" for i in which]
        edge.subscribe_all(which, [b"subscriber-%06d" % i for i in which], [b'{"sql":"%s"}' % s.encode() for s in asks])
        made += edge.take()
    values = [record.value for record in made if record.topic == TOPICS.registrations]
    packed = [unpack(value) for value in values if value is not None and is_packed(value)]
    versions = [v for part in packed if isinstance(part, PackedRegistrations) for v in part.versions]
    parts = [versions[i : i + CHUNK] for i in range(0, len(versions), CHUNK)]
    for i, part in enumerate(parts):
        header = Header("snapshot", 0, "stock/0", 0, chunk=i, of=len(parts))
        known = {} if asked.parts is None else dict.fromkeys(range(len(part)), asked.parts)
        answers = Answers(np.zeros(len(part), np.int64), np.ones(len(part), np.bool_), known)
        edge.notification(i, b"stock/0", pack_snapshot(header, np.array(part), answers))
    control(edge, Progress(0, 0, 0, "t"))
    edge.take()
    return edge


def control(edge: VirtualEdge, record: EpochBegins | RegisterAll | Progress) -> None:
    edge.notification(0, b"@control", encode_control(record))


def chunks(batch: int, count: int, side: int, seed: int, asked: Asked = MIN) -> list[bytes]:
    """Return `count` packed messages with square rectangles of `side`, each with a value of its own."""
    channel = channel_of("stock", asked.kind, None if asked.kind == "rows" else "price", (), "x")
    source = np.random.default_rng(seed)
    lo = source.integers(0, SPAN, count)
    hi = lo + (source.random(count) * (SPAN - lo)).astype(np.int64)
    packed = []
    for i in range(0, count, CHUNK):
        n = min(CHUNK, count - i)
        zeros, nothing = np.zeros(n, np.int32), np.zeros(n, np.int64)
        a, c, places = lo[i : i + n], hi[i : i + n], np.arange(1 + i, 1 + i + n)
        cause, causes = np.arange(n, dtype=np.int32), Causes(["stock"], zeros, zeros, places)
        known, old = np.full(n, asked.kind != "rows"), np.full(n, asked.kind == "values")
        rows, new = np.full(n, asked.rows), np.where(known, places, 0)
        messages = Messages(
            [channel], [b"[]"], cause, zeros, zeros, rows, nothing, old, new, known, a, a + side, c, c + side
        )
        header = Header("messages", 0, "stock/0", batch, chunk=i // CHUNK, of=-(-count // CHUNK))
        packed.append(pack_messages(header, messages, places, causes))
    return packed


def side_for(hits: float, size: int) -> int:
    """Return the side of a square that meets about `hits` of `size` points (denser near the diagonal's end)."""
    return max(1, int(SPAN * (hits / size / 2) ** 0.5))


def timed(edge: VirtualEdge, batch: int, packed: list[bytes]) -> tuple[float, int]:
    """Return the seconds that a batch takes, and its deliveries."""
    before = edge.counters.deliveries
    start = time.process_time()
    for i, value in enumerate(packed):
        edge.notification(i, b"stock/0", value)
    control(edge, Progress(0, batch, 0, "t"))
    edge.take()
    return time.process_time() - start, edge.counters.deliveries - before


def measure() -> dict[str, object]:
    """Return the figures for the table of `make bench`; medians of five batches."""
    warm()
    assert home_partition(b"any", 1) == 0
    per_message: dict[str, float] = {}
    hits: dict[str, float] = {}
    rate = 0.0
    for size in SIZES:
        edge = subscribed(size)
        runs = [timed(edge, b, chunks(b, 20_000, side_for(1, size), b)) for b in range(1, 6)]
        per_message[str(size)] = round(float(np.median([seconds for seconds, _ in runs])) / 20_000 * 1e6, 2)
        hits[str(size)] = round(sum(made for _, made in runs) / 100_000, 2)
        if size == USUAL:
            many = [timed(edge, b, chunks(b, 200, side_for(1_000, size), b)) for b in range(6, 11)]
            rate = round(float(np.median([made / seconds for seconds, made in many])))
    return {
        "edge_us_per_message": per_message,
        "edge_hits_per_message": hits,
        "deliveries_per_s": rate,
        "edge_us_per_affected": {name: per_affected(asked) for name, asked in ASKED.items()},
        "edge_us_per_subscription": {
            name: {str(size): per_subscription(way, size) for size in FEWER} for name, way in GOING.items()
        },
    }


def met_by(edge: VirtualEdge) -> int:
    """Return how many pairs of a message and a subscription there were so far."""
    return edge.counters.deliveries + edge.counters.suppressed + edge.counters.conflated


def per_affected(asked: Asked) -> float:
    """Return the microseconds for each pair of a message and a subscription that it meets."""
    edge = subscribed(USUAL, asked)
    runs, met = [], 0
    for batch in range(1, 4):
        before = met_by(edge)
        runs.append(timed(edge, batch, chunks(batch, 20_000, side_for(1, USUAL), batch, asked))[0])
        met += met_by(edge) - before
    return round(float(np.median(runs)) * len(runs) / met * 1e6, 2)


def per_subscription(way: Callable[[int], float], size: int) -> float:
    """Return the microseconds for each of `size` subscriptions, the median of three runs."""
    return round(float(np.median([way(size) for _ in range(3)])) / size * 1e6, 2)


def admitted(size: int) -> float:
    """Return the seconds in which a catalog lets subscriptions in that came before their table."""
    edge = VirtualEdge(0, 1, TOPICS, lambda version: Catalog(version, {"stock": STOCK} if version else {}))
    control(edge, EpochBegins(0, 0))
    for first in range(0, size, CHUNK):
        edge.subscribe_all(*questions(range(first, min(first + CHUNK, size))))
    edge.take()
    start = time.process_time()
    control(edge, EpochBegins(1, 1))
    edge.take()
    assert edge.counts["accepted"] == size
    return time.process_time() - start


def ended(size: int) -> float:
    """Return the seconds in which live subscriptions of a dropped table end."""
    edge = subscribed(size)
    edge._catalogs = lambda version: Catalog(version, {})
    start = time.process_time()
    control(edge, Progress(0, 1, 1, "t"))
    edge.take()
    assert edge.counts["live"] == 0
    return time.process_time() - start


def churn(size: int) -> float:
    """Return the seconds that records take, half of which end a subscription that came 100 records before."""
    edge = VirtualEdge(0, 1, TOPICS, lambda version: Catalog(version, {"stock": STOCK}))
    control(edge, EpochBegins(0, 0))
    offsets, keys, values = questions(range(size // 2))
    mixed = [key for i in offsets for key in (keys[i], keys[max(i - 50, 0)])]
    asked = [value for i in offsets for value in (values[i], None)]
    start = time.process_time()
    for first in range(0, len(mixed), CHUNK):
        some = slice(first, first + CHUNK)
        edge.subscribe_all(range(first, first + len(mixed[some])), mixed[some], asked[some])
        edge.take()
    return time.process_time() - start


def questions(which: range) -> tuple[range, list[bytes], list[bytes]]:
    """Return offsets, ids and values of subscription records."""
    values = [b'{"sql":"SELECT MIN(price) FROM stock WHERE x BETWEEN %d AND %d"}' % (i, i + 9) for i in which]
    return which, [b"subscriber-%06d" % i for i in which], values


GOING = {"admitted": admitted, "ended": ended, "churn": churn}
FEWER = (10_000, 100_000)


if __name__ == "__main__":
    print(json.dumps(measure(), indent=2))
