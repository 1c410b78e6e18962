"""The match query with views over the match query without, in one Spark session, in turn.

    python -m benchmarks --only view_rate

Three queries read the same topics of `view_workload.py`, with the same subscriptions on the table: one that has nothing
else, one with a view that groups and 1,000 subscriptions on it (`view_over_match`), and one with the third of three
levels over two tables, in their cell, and as many on that (`cell_over_match`). Rounds, batches and rates are those of
`match_rate.py`.
"""

from __future__ import annotations

from functools import partial
from statistics import median

from pyspark.sql import SparkSession
from pyspark.sql.streaming import StreamingQuery

from benchmarks.bench import Bench, Publisher
from benchmarks.match_rate import Contestant, compete, ratio, session
from benchmarks.stock_workload import Audience
from benchmarks.view_workload import CASES, ON_VIEW, TABLES, SectorMarket, asked_of_view, catalog_of
from connectors.topics import Topics
from shard.pipeline import process_group
from streaming.query.match import MatchConfig, start_match, topics_read

NAMES = {"table": "match", "view": "view", "cell": "cell"}


def measure(bench: Bench) -> dict[str, object]:
    """Return the ratios and the figures behind them."""
    with session(bench, "views") as (bootstrap, spark):
        return Contest(bench, bootstrap, spark).run()


class Contest:
    """The same market for all, and a query for each case."""

    def __init__(self, bench: Bench, bootstrap: str, spark: SparkSession) -> None:
        self._bench = bench
        self._spark = spark
        self._publisher = Publisher(bootstrap)
        self._market = SectorMarket(catalog_of().relations, bench.sizes.rows)

    def run(self) -> dict[str, object]:
        """Load, register, compete."""
        sizes, say = self._bench.sizes, self._bench.say
        for table in TABLES:
            self._publisher.admin.create_topic(table, sizes.partitions)
        self._publisher.send(self._market.load())
        contestants = [Contestant(name, partial(self._start, case)) for case, name in NAMES.items()]
        for case in NAMES:
            self._register(case)
        for contestant in contestants:
            say(f"loading {contestant.name}")
            contestant.run()
        self._publisher.send(self._market.changes(sizes.batch))
        for contestant in contestants:
            contestant.run()
        compete(self._bench, contestants, lambda rows: self._publisher.send(self._market.changes(rows)))
        return _figures(contestants)

    def _register(self, case: str) -> None:
        """Write the registrations of a case, of the table and of its view."""
        sizes, topics, catalog = self._bench.sizes, _topics(case), catalog_of(*CASES[case].views)
        self._publisher.admin.ensure_topics(topics, sizes.virtual_edges)
        audience = Audience(sizes.subscriptions, sizes.rows)
        relation = catalog.relations["stock"]
        self._publisher.send(audience.registrations(topics, 0, relation, sizes.virtual_edges))
        self._publisher.send(asked_of_view(case, catalog, topics, ON_VIEW, sizes.rows, sizes.virtual_edges))

    def _start(self, case: str) -> StreamingQuery:
        sizes, catalog, topics = self._bench.sizes, catalog_of(*CASES[case].views), _topics(case)
        config = MatchConfig(
            process=process_group,
            epoch=0,
            catalogs=((0, catalog),),
            reads=tuple(topics_read(catalog, topics)),
            topics=topics,
            partitions=sizes.virtual_edges,
            kafka=self._publisher.kafka.java(),
            checkpoint=str(self._bench.folder / "views" / case),
            max_offsets=sizes.batch,
        )
        return start_match(self._spark, config, {})


def _topics(case: str) -> Topics:
    return Topics(f"bench.{case}.")


def _figures(contestants: list[Contestant]) -> dict[str, object]:
    match, *others = contestants
    return {
        **{f"{other.name}_over_match": ratio(other.rates, match.rates) for other in others},
        "view_rows_per_s": {each.name: round(median(each.rates)) for each in contestants},
        "view_rounds": {each.name: [round(rate) for rate in each.rates] for each in contestants},
        "view_cpu_us_per_row": {each.name: each.cpu for each in contestants},
    }
