"""A table of 1,000,000 rows against one of 50,000, on the same chain and with the same subscriptions.

    python -m benchmarks --only large_table

For each: a fresh chain (broker, engine, one edge), all rows, and 1,000 subscriptions. `match_1m_over_50k` is the ratio
of rows/s: publications become visible in one moment, and the time is until a committed batch has read them. Then 500
publications a second go in: `batch_s` is how long a batch takes, from the numbers and times of those that the engine
tells meanwhile, and `latency_ms` is until a consumer has the delivery.
"""

from __future__ import annotations

import time
from statistics import median

from benchmarks.bench import Bench, hidden_until_the_end
from benchmarks.chain import TOPIC, Chain, running_chain
from benchmarks.latency import await_silence, latency_figures, publish_steadily
from benchmarks.million import listening
from benchmarks.stock_workload import Audience, Market, catalog_of
from connectors.kafka.reader import Reader
from operators.control import Progress, decode_control

SUBSCRIPTIONS = 1_000
WIDEST = 5
RATE = 500
SECONDS = 30.0
Figures = dict[str, object]


def measure(bench: Bench) -> Figures:
    """Return the ratio, and the figures of both tables."""
    few, many = _measure_size(bench, bench.sizes.rows), _measure_size(bench, bench.sizes.large_rows)
    return {
        "match_1m_over_50k": round(many[0] / few[0], 3),
        "large_table": {"rows": bench.sizes.large_rows, "few": few[1], "many": many[1]},
    }


def _measure_size(bench: Bench, rows: int) -> tuple[float, Figures]:
    """Return the rate, and all that was measured of a table of `rows`."""
    market, audience = Market(catalog_of(TOPIC).relations["stock"], rows), Audience(SUBSCRIPTIONS, rows, WIDEST)
    with running_chain(bench) as chain:
        chain.prepare(bench.sizes.partitions)
        chain.start("engine")
        chain.await_engine(lambda told: told.catalog >= 0)
        chain.start("edge")
        chain.publisher.send(market.load())
        chain.await_read()
        bench.say(f"{rows:,} rows are there")
        chain.publisher.send(audience.subscriptions(chain.topics))
        chain.await_live(SUBSCRIPTIONS)
        rate = _rate(bench, chain, market)
        return rate, {"rows_per_s": round(rate), **_steadily(bench, chain, market)}


def _rate(bench: Bench, chain: Chain, market: Market) -> float:
    """Return rows/s until a committed batch has read them; the median of the rounds."""
    batch, rates = bench.sizes.batch, []
    chain.publisher.send(market.changes(batch // 4))
    chain.await_read()
    for _ in range(bench.sizes.rounds):
        with hidden_until_the_end(chain.publisher.kafka, market.changes(2 * batch)):
            shown = time.time()
        rates.append(2 * batch / (chain.await_read() - shown))
    bench.say(f"{median(rates):,.0f} rows/s")
    return median(rates)


def _steadily(bench: Bench, chain: Chain, market: Market) -> Figures:
    """Return seconds a batch and the latency at a steady rate."""
    with listening(chain) as listener:
        began = time.time()
        sent = publish_steadily(chain.publisher, market.changes(int(RATE * SECONDS)), RATE)
        ended = time.time()
        await_silence(listener)
    told = {
        progress.batch: record.timestamp / 1000
        for record in Reader(chain.publisher.kafka).read_to_end(chain.topics.batches)
        if record.value and isinstance(progress := decode_control(record.value), Progress)
    }
    times = sorted(at for at in told.values() if began <= at <= ended)
    seconds = round((times[-1] - times[0]) / max(len(times) - 1, 1), 2)
    latency = latency_figures(listener, chain.publisher, TOPIC, bench.sizes.partitions, sent)
    bench.say(f"{seconds} s a batch, latency p50 {latency['p50']} ms, p99 {latency['p99']} ms")
    return {"batch_s": seconds, "latency_ms": latency}
