"""What subscribers of a table, and of views on it, wait: in the ordinary way, and while views come.

    python -m benchmarks --only view_latency

A stack as `tidewire up` runs it, with the tables of `view_workload.py`, 2,000 publications a second, and subscribers
with ranges of the stocks as in `benchmarks/latency.py`. While publications go in, two views come, each with a question:

    by_sector   a view of the one table, in its shard
    best        a view of both tables, and with it their cell; `left_of`, which it reads, comes with it

`view_live_s`              seconds from its CREATE VIEW until the question on it, asked every second, is answered
`view_first_pause_s`       the longest time in which nobody else heard anything, from the CREATE VIEW of `best` on
`view_latency_over_table`  what 1,000 subscribers of `by_sector` wait for what a publication does there, over what those of the
                           table wait, in the same minute; `best` is not there yet
`view_latency_ms`          both, in milliseconds
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from itertools import islice, takewhile

import numpy as np

from benchmarks.bench import Bench, Publisher
from benchmarks.latency import (
    PATIENCE,
    WIDEST,
    Listener,
    Sent,
    await_catalog,
    await_silence,
    await_that,
    latency_figures,
    publish_steadily,
)
from benchmarks.stock_workload import Audience
from benchmarks.view_workload import (
    BEST,
    BY_SECTOR,
    LEFT,
    ON_VIEW,
    SECTOR,
    STOCK,
    TABLES,
    SectorMarket,
    asked_ranges,
    catalog_of,
)
from connectors.record import OutRecord
from connectors.topics import Topics
from tidewire.settings import load_settings
from tidewire.stack.running import running_stack

PORTION = 10_000
AFTER_SECONDS = 5.0
ASK_SECONDS = 1.0
ASK_SECTOR = "SELECT MAX(total) FROM by_sector WHERE sector BETWEEN {} AND {}"
ASK_BEST = "SELECT MAX(rest) FROM best WHERE region BETWEEN 0 AND 3"


def measure(bench: Bench) -> dict[str, object]:
    """Return all figures."""
    settings = load_settings(data_dir=bench.folder / "up", broker_port=0, http_port=0)
    bench.say("starting `tidewire up`")
    with running_stack(settings) as status:
        topics, partitions = Topics(settings.prefix), settings.virtual_edges
        heard = {
            name: Listener(status["bootstrap"], topics.deliveries, partitions, causes="stock", ids=prefix)
            for name, prefix in (("table", "subscriber-"), ("view", "view-"))
        }
        threads = [threading.Thread(target=listener.run, daemon=True) for listener in heard.values()]
        for thread in threads:
            thread.start()
        try:
            return Case(bench, Publisher(status["bootstrap"]), topics, heard).measured()
        finally:
            for listener in heard.values():
                listener.stop.set()
            for thread in threads:
                thread.join()


class Case:
    """The publisher of a stack that runs, and who listens there."""

    def __init__(self, bench: Bench, publisher: Publisher, topics: Topics, heard: dict[str, Listener]) -> None:
        self._sizes, self._say = bench.sizes, bench.say
        self._publisher, self._topics, self._heard = publisher, topics, heard
        self._market = SectorMarket(catalog_of().relations, bench.sizes.rows)
        self._changes = self._without_end()

    def measured(self) -> dict[str, object]:
        """Return all figures."""
        self._declare()
        audience = Audience(self._sizes.latency_subscriptions, self._sizes.rows, WIDEST)
        self._subscribe("table", [*audience.subscriptions(self._topics)])
        by_sector, _ = self._live([BY_SECTOR], ASK_SECTOR.format(0, 3))
        ranges = asked_ranges(ON_VIEW, self._market.sectors, WIDEST)
        self._subscribe(
            "view", [self._asked(f"view-{i:06d}", ASK_SECTOR.format(*each)) for i, each in enumerate(ranges)]
        )
        wait = self._wait()
        best, pause = self._live([LEFT, BEST], ASK_BEST)
        return {
            "view_live_s": {"by_sector": by_sector, "best": best},
            "view_first_pause_s": pause,
            "view_latency_over_table": {
                name: round(wait["view"][name] / wait["table"][name], 2) for name in ("p50", "p99")
            },
            "view_latency_ms": wait,
        }

    def _declare(self) -> None:
        """Make the tables, with their rows."""
        for topic in TABLES:
            own = {"message.timestamp.type": "LogAppendTime"}
            self._publisher.admin.create_topic(topic, self._sizes.partitions, own)
        self._create([STOCK.format(topic="stock"), SECTOR.format(topic="sector")])
        self._publisher.send(self._market.load())
        await_catalog(self._publisher, self._topics)

    def _create(self, ddl: list[str]) -> None:
        self._publisher.send(OutRecord(self._topics.catalog, 0, None, text.encode()) for text in ddl)

    def _asked(self, id: str, sql: str) -> OutRecord:
        return OutRecord(self._topics.subscriptions, None, id.encode(), f'{{"sql":"{sql}"}}'.encode())

    def _subscribe(self, of: str, asked: list[OutRecord]) -> None:
        listener = self._heard[of]
        wanted = listener.snapshots + len(asked)
        self._publisher.offer(asked)
        await_that(lambda: listener.snapshots >= wanted, f"{len(asked):,} subscriptions to be live")

    def _ask_until_answered(self, id: str, question: str) -> None:
        """Ask every second, as another each time, until one is answered: edges refuse what they do not know yet."""
        listener = self._heard["view"]
        before, deadline = listener.snapshots, time.monotonic() + PATIENCE
        asked = 0.0
        while listener.snapshots == before:
            assert time.monotonic() < deadline, f"waited {PATIENCE:g} s for an answer to {question}"
            if time.monotonic() - asked > ASK_SECONDS:
                asked = time.monotonic()
                self._publisher.offer([self._asked(f"{id}-{asked}", question)])
            time.sleep(0.02)

    def _wait(self) -> dict[str, dict[str, float]]:
        """Return the quantiles of what those of the table and of the view wait, in the same minute."""
        rate = self._sizes.latency_rate
        self._say(f"publishing {rate:,} a second")
        changes = islice(self._changes, int(rate * self._sizes.latency_seconds))
        sent = publish_steadily(self._publisher, changes, rate)
        return {name: self._figures(listener, sent) for name, listener in self._heard.items()}

    def _figures(self, listener: Listener, sent: Sent) -> dict[str, float]:
        await_silence(listener)
        return latency_figures(listener, self._publisher, "stock", self._sizes.partitions, sent)

    def _live(self, views: list[str], question: str) -> tuple[float, float]:
        """Declare and ask views while publications go in; return seconds until the answer, and the longest pause."""
        self._say(views[-1].split()[2])
        stop = threading.Event()
        changes = takewhile(lambda _: not stop.is_set(), self._changes)
        thread = threading.Thread(
            target=publish_steadily, args=(self._publisher, changes, self._sizes.latency_rate), daemon=True
        )
        thread.start()
        time.sleep(AFTER_SECONDS)
        began = time.time()
        self._create(views)
        self._ask_until_answered(f"view-first-{len(views)}", question)
        live = time.time() - began
        time.sleep(AFTER_SECONDS)
        stop.set()
        thread.join()
        arrived = self._heard["table"].arrived
        heard = np.array([began * 1000, *(each for each in arrived if each >= began * 1000)])
        await_silence(self._heard["table"])
        return round(live, 1), round(float(np.diff(heard).max()) / 1000, 1)

    def _without_end(self) -> Iterator[OutRecord]:
        while True:
            yield from self._market.changes(PORTION)
