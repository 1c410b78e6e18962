"""What others notice of the first join of two tables, and of the cell that stands beside them then.

    python -m benchmarks --only join_latency

A stack as `tidewire up` runs it: the table and the ranges of `benchmarks/latency.py`, and r and s of 50,000 rows each
(`benchmarks/join_chain.py`). While 2,000 publications a second go in, a tenth of them to r, the first join of r and s is
asked for: its cell is made, and its copies are read. Then 1,000 subscriptions to the join stand beside the ranges.

`join_first_s`         from the question to its first answer at a consumer
`join_first_pause_s`   the longest time in which no subscriber to a range heard of a change, from the question until
                       some seconds after its answer
`latency_beside_cell`  quantiles of what subscribers to ranges wait with the cell, over those before there was one
`join_latency_ms`      both, in milliseconds
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from itertools import islice, takewhile

import numpy as np

from benchmarks.bench import Bench, Publisher
from benchmarks.join_chain import DOMAIN, PARTNERS, TABLE, TABLES, images, statements
from benchmarks.latency import (
    TOPIC,
    WIDEST,
    Listener,
    await_catalog,
    await_silence,
    await_that,
    latency_figures,
    publish_steadily,
)
from benchmarks.stock_workload import DDL, Audience, Market, catalog_of
from connectors.record import OutRecord
from connectors.topics import Topics
from state.change_batch import I64
from tidewire.settings import load_settings
from tidewire.stack.running import running_stack

JOINS = 1_000
MET = 2.0
OF_JOINED = 10
"""One publication in so many is one of r."""
PORTION = 10_000
AFTER_SECONDS = 5.0


def measure(bench: Bench) -> dict[str, object]:
    """Return all figures."""
    settings = load_settings(data_dir=bench.folder / "up", broker_port=0, http_port=0)
    bench.say("starting `tidewire up`")
    with running_stack(settings) as status:
        listener = Listener(
            status["bootstrap"], Topics(settings.prefix).deliveries, settings.virtual_edges, causes=TOPIC
        )
        case = Case(bench, Publisher(status["bootstrap"]), Topics(settings.prefix), listener)
        thread = threading.Thread(target=listener.run, daemon=True)
        thread.start()
        try:
            return case.measured()
        finally:
            listener.stop.set()
            thread.join()


class Case:
    """The publisher of a stack that runs, and who listens there."""

    def __init__(self, bench: Bench, publisher: Publisher, topics: Topics, listener: Listener) -> None:
        self._sizes, self._say = bench.sizes, bench.say
        self._publisher, self._topics, self._listener = publisher, topics, listener
        self._market = Market(catalog_of(TOPIC).relations["stock"], bench.sizes.latency_rows)
        self._changes = self._mixed()

    def measured(self) -> dict[str, object]:
        """Return all figures."""
        self._declare()
        audience = Audience(self._sizes.latency_subscriptions, self._sizes.latency_rows, WIDEST)
        self._subscribe([*audience.subscriptions(self._topics)])
        without = self._wait("without a cell")
        first, pause = self._first()
        self._subscribe(self._asked(JOINS))
        beside = self._wait("beside a cell")
        return {
            "join_first_s": first,
            "join_first_pause_s": pause,
            "latency_beside_cell": {name: round(beside[name] / without[name], 2) for name in ("p50", "p99")},
            "join_latency_ms": {"without": without, "beside": beside},
        }

    def _declare(self) -> None:
        """Make the tables, with their rows."""
        for topic in (TOPIC, *TABLES):
            self._publisher.admin.create_topic(
                topic, self._sizes.partitions, {"message.timestamp.type": "LogAppendTime"}
            )
        ddl = [DDL.format(topic=TOPIC), *map(TABLE.format, TABLES)]
        self._publisher.send(OutRecord(self._topics.catalog, 0, None, text.encode()) for text in ddl)
        self._publisher.send(self._market.load())
        every = np.arange(self._sizes.rows)
        for table in TABLES:
            self._publisher.send(self._rows(table, every))
        await_catalog(self._publisher, self._topics)

    def _subscribe(self, asked: list[OutRecord]) -> None:
        wanted = self._listener.snapshots + len(asked)
        self._publisher.offer(asked)
        await_that(lambda: self._listener.snapshots >= wanted, f"{len(asked):,} subscriptions to be live")

    def _wait(self, how: str) -> dict[str, float]:
        """Return the quantiles of what ranges wait."""
        rate = self._sizes.latency_rate
        self._say(f"publishing {rate:,} a second {how}")
        sent = publish_steadily(self._publisher, islice(self._changes, int(rate * self._sizes.latency_seconds)), rate)
        await_silence(self._listener)
        return latency_figures(self._listener, self._publisher, TOPIC, self._sizes.partitions, sent)

    def _first(self) -> tuple[float, float]:
        """Ask the first join while publications go in; return seconds until its answer, and the longest pause."""
        self._say("asking the first join")
        stop = threading.Event()
        changes = takewhile(lambda _: not stop.is_set(), self._changes)
        thread = threading.Thread(
            target=publish_steadily, args=(self._publisher, changes, self._sizes.latency_rate), daemon=True
        )
        thread.start()
        time.sleep(AFTER_SECONDS)
        began = time.time()
        self._subscribe(self._asked(1, "first"))
        first = time.time() - began
        time.sleep(AFTER_SECONDS)
        stop.set()
        thread.join()
        heard = np.array([began * 1000, *(each for each in self._listener.arrived if each >= began * 1000)])
        await_silence(self._listener)
        return round(first, 1), round(float(np.diff(heard).max()) / 1000, 1)

    def _asked(self, count: int, name: str = "join") -> list[OutRecord]:
        asked = enumerate(statements(count, MET * count / JOINS))
        return [
            OutRecord(self._topics.subscriptions, None, b"%s-%d" % (name.encode(), i), f'{{"sql":"{sql}"}}'.encode())
            for i, sql in asked
        ]

    def _mixed(self) -> Iterator[OutRecord]:
        """Yield changes without end, one in `OF_JOINED` of r."""
        source = np.random.default_rng(8)
        while True:
            joined = self._rows("r", source.integers(0, self._sizes.rows, PORTION // OF_JOINED))
            for i, change in enumerate(self._market.changes(PORTION)):
                yield change if i % OF_JOINED else next(joined)

    def _rows(self, table: str, row: I64) -> Iterator[OutRecord]:
        """Yield rows with values of their own."""
        x = np.random.default_rng(int(row[0])).integers(0, DOMAIN, len(row))
        values = images(row, row % (self._sizes.rows // PARTNERS), x, np.arange(len(row)))
        for one, value in zip(row.tolist(), values, strict=True):
            yield OutRecord(table, None, b'{"id":%d}' % one, value)
