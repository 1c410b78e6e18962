"""The match query against the floor and a plain copy, in one Spark session, in turn.

    python -m benchmarks --only match

All read the same topic in batches of the same size. A round writes a few batches to it and lets each query run
through them, one after the other, in an order that changes from round to round; the first batch of each run warms it
up and is not counted. A rate is rows over the time of the counted batches, as Spark reports it; a ratio is the median
over the rounds of the rates of one round.

Floor and copy have Spark's defaults, as a query written by hand has. The `tuned` ones read with the two consumer
options that tidewire's query sets: against them a ratio is about the work alone. A rest of a batch lies behind the
counted ones, because with the defaults the batch that meets the end of a topic takes a second longer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from statistics import median

import numpy as np
import psutil
from pyspark.sql import SparkSession
from pyspark.sql.streaming import StreamingQuery

from benchmarks.bench import Bench, Publisher
from benchmarks.floor import Pipe, start_copy, start_floor
from benchmarks.stock_workload import Audience, Market, catalog_of
from catalog.schema.catalog import Catalog
from connectors.kafka.reader import Reader
from connectors.topics import Topics
from operators.packed import PackedMessages, is_packed, unpack
from shard.pipeline import process_group
from streaming.query.match import CONSUMER, MatchConfig, start_match
from streaming.query.session import SessionConfig, close_session, open_session

TOPIC = "stock"
TOPICS = Topics("bench.")
COUNTERS = b'{"kind":"counters"'


@dataclass(slots=True)
class Contestant:
    """A query and its rates, in rows a second, one a round."""

    name: str
    start: Callable[[], StreamingQuery]
    rates: list[float] = field(default_factory=list)
    batch_ms: list[float] = field(default_factory=list)
    cpu: list[dict[str, float]] = field(default_factory=list)

    def run(self) -> list[tuple[int, float]]:
        """Run through everything there is; return (rows, seconds) of each batch."""
        query = self.start()
        try:
            query.processAllAvailable()
            done = [(p.numInputRows, p.durationMs) for p in query.recentProgress if p.numInputRows]
            return [(rows, millis["triggerExecution"] / 1000) for rows, millis in done]
        finally:
            query.stop()

    def compete(self) -> None:
        """Run, and note the rate of all batches but the first; processor time is told of all."""
        before = processor_seconds()
        done = self.run()
        spent = {name: seconds - before.get(name, 0.0) for name, seconds in processor_seconds().items()}
        self.cpu.append({name: round(s / sum(rows for rows, _ in done) * 1e6, 2) for name, s in spent.items()})
        full = max(rows for rows, _ in done) / 2
        counted = [(rows, seconds) for rows, seconds in done[1:] if rows > full]
        self.rates.append(sum(rows for rows, _ in counted) / sum(seconds for _, seconds in counted))
        self.batch_ms += [round(seconds * 1000) for _, seconds in counted]


@contextmanager
def session(bench: Bench, name: str) -> Iterator[tuple[str, SparkSession]]:
    """Run a broker and Spark; give the broker's address and the session."""
    with bench.broker() as broker:
        bench.say("starting Spark")
        folder = bench.folder / name
        jars = bench.jars("spark")
        spark = open_session(SessionConfig("local[*]", jars, checkpoint=str(folder), local_dir=folder / "spark"))
        try:
            yield broker.bootstrap, spark
        finally:
            close_session(spark)


def compete(bench: Bench, contestants: Sequence[Contestant], publish: Callable[[int], object]) -> None:
    """Publish a few batches a round, and let all run through them, each time in another order."""
    sizes = bench.sizes
    for number in range(sizes.rounds):
        publish(sizes.batches * sizes.batch + sizes.batch // 3)
        first = number % len(contestants)
        for contestant in [*contestants[first:], *contestants[:first]]:
            contestant.compete()
            bench.say(f"round {number + 1}: {contestant.name} {contestant.rates[-1]:,.0f} rows/s")


def measure(bench: Bench) -> dict[str, object]:
    """Return the ratios and the figures behind them."""
    with session(bench, "match") as (bootstrap, spark):
        return Contest(bench, bootstrap, spark).run()


class Contest:
    """One table, one audience, three queries."""

    def __init__(self, bench: Bench, bootstrap: str, spark: SparkSession) -> None:
        self._bench = bench
        self._spark = spark
        self._publisher = Publisher(bootstrap)
        self._catalog = catalog_of(TOPIC)
        self._market = Market(self._catalog.relations["stock"], bench.sizes.rows)
        self._audience = Audience(bench.sizes.subscriptions, bench.sizes.rows)

    def run(self) -> dict[str, object]:
        """Load, register, compete."""
        sizes, say = self._bench.sizes, self._bench.say
        self._prepare()
        match = Contestant("match", lambda: start_match(self._spark, self._config(self._catalog), {}))
        say(f"loading {sizes.rows:,} rows and {sizes.subscriptions:,} subscriptions")
        match.run()
        self._publisher.send(self._market.changes(sizes.batch))
        match.run()
        state = np.random.default_rng(3).bytes(self._state_bytes())
        contestants = [
            match,
            Contestant("floor", lambda: start_floor(self._spark, self._pipe("floor", {}), state)),
            Contestant("copy", lambda: start_copy(self._spark, self._pipe("copy", {}))),
            Contestant("tuned_floor", lambda: start_floor(self._spark, self._pipe("tuned_floor", CONSUMER), state)),
            Contestant("tuned_copy", lambda: start_copy(self._spark, self._pipe("tuned_copy", CONSUMER))),
        ]
        for other in contestants[1:]:
            other.run()
        compete(self._bench, contestants, lambda rows: self._publisher.send(self._market.changes(rows)))
        return self._figures(contestants, len(state))

    def _prepare(self) -> None:
        sizes, publisher = self._bench.sizes, self._publisher
        publisher.admin.ensure_topics(TOPICS, sizes.virtual_edges)
        publisher.admin.create_topic(TOPIC, sizes.partitions)
        publisher.admin.create_topic("out", sizes.partitions)
        relation = self._catalog.relations["stock"]
        publisher.send(self._market.load())
        publisher.send(self._audience.registrations(TOPICS, 0, relation, sizes.virtual_edges))

    def _config(self, catalog: Catalog) -> MatchConfig:
        sizes = self._bench.sizes
        return MatchConfig(
            process=process_group,
            epoch=0,
            catalogs=((0, catalog),),
            reads=(TOPIC, TOPICS.registrations),
            topics=TOPICS,
            partitions=sizes.virtual_edges,
            kafka=self._publisher.kafka.java(),
            checkpoint=str(self._bench.folder / "match" / "match"),
            max_offsets=sizes.batch,
        )

    def _pipe(self, name: str, consumer: Mapping[str, str]) -> Pipe:
        checkpoint = str(self._bench.folder / "match" / name)
        return Pipe(self._publisher.kafka.bootstrap, TOPIC, "out", checkpoint, self._bench.sizes.batch, consumer)

    def _state_bytes(self) -> int:
        """Return the size of the shard's state, as the shard reports it."""
        reports = Reader(self._publisher.kafka).read_to_end(TOPICS.engines, [0])
        values = [record.value for record in reports if record.value is not None]
        return int([json.loads(value)["bytes"] for value in values if value.startswith(COUNTERS)][-1])

    def _last_messages(self) -> list[PackedMessages]:
        """Return what virtual edge 0 got of the last batch that was not a remainder."""
        records = Reader(self._publisher.kafka).read_to_end(TOPICS.notifications, [0])
        packed = [unpack(record.value) for record in records if record.value and is_packed(record.value)]
        messages = [part for part in packed if isinstance(part, PackedMessages)]
        sizes: dict[int, int] = {}
        for part in messages:
            sizes[part.header.batch] = sizes.get(part.header.batch, 0) + len(part.messages)
        last = max(batch for batch, size in sizes.items() if size > max(sizes.values()) / 2)
        return [part for part in messages if part.header.batch == last]

    def _figures(self, contestants: Sequence[Contestant], state: int) -> dict[str, object]:
        last = self._last_messages()
        publications = len(np.unique(np.concatenate([part.partition * 2**48 + part.offset for part in last])))
        match, *others = contestants
        return {
            **{f"match_over_{other.name}": ratio(match.rates, other.rates) for other in others},
            "rows_per_s": {each.name: round(median(each.rates)) for each in contestants},
            "rounds": {each.name: [round(rate) for rate in each.rates] for each in contestants},
            "cpu_us_per_row": {each.name: each.cpu for each in contestants},
            "batch_ms": {each.name: each.batch_ms for each in contestants},
            "affected_per_publication": round(self._audience.affected(last) / publications, 2),
            "messages_per_publication": round(sum(len(part.messages) for part in last) / publications, 2),
            "state_mb": round(state / 1e6, 2),
        }


def processor_seconds() -> dict[str, float]:
    """Return the processor time that this process and its children have used: broker, Spark's JVM, and Python."""
    used: dict[str, float] = {}
    own = psutil.Process()
    for process in [own, *own.children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):
            line = " ".join(process.cmdline())
            kind = "broker" if "kafka.Kafka" in line else "spark" if "java" in line[:40] else "python"
            times = process.cpu_times()
            used[kind] = used.get(kind, 0.0) + times.user + times.system
    return used


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Return the median of the rounds' ratios."""
    return round(median(one / other for one, other in zip(ours, theirs, strict=True)), 3)
