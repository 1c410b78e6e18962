"""The whole chain against the match query alone, on the same cores: what it costs that somebody hears of it.

    python -m benchmarks --only whole

The same engine, the same table and the same audience, once with the edge stopped and once with it at work. All
publications of a run become visible in one moment (they are one transaction). *Match* takes until the last batch is
told as committed, *whole* until the edge has committed the last delivery. The ratio is the median over the rounds. An
edge that comes back first takes up what it missed; that, and a batch to warm up, is not measured. All of it twice:
with deliveries as records, and `packed`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from statistics import median

from benchmarks.bench import Bench, hidden_until_the_end
from benchmarks.chain import TOPIC, Chain, running_chain
from benchmarks.stock_workload import Audience, Market, catalog_of

_PACKED = ("whole_rows_per_s", "whole_seconds", "whole_cpu_us_per_row", "match_share_of_whole")


@dataclass(slots=True)
class Times:
    """Seconds of each round; `cpu`: microseconds of processor time a row, of the whole rounds, by process."""

    match: list[float] = field(default_factory=list)
    match_beside: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)
    cpu: list[dict[str, float]] = field(default_factory=list)


def measure(bench: Bench) -> dict[str, object]:
    """Return the ratios by form of delivery and the figures behind them, and the memory of each process at the end."""
    packed = _measure(replace(bench, folder=bench.folder / "packed"), " DELIVER PACKED")
    return _measure(bench, "") | {
        "whole_over_match_packed": packed["whole_over_match"],
        "whole_packed": {name: packed[name] for name in _PACKED},
    }


def _measure(bench: Bench, form: str) -> dict[str, object]:
    sizes, say = bench.sizes, bench.say
    market = Market(catalog_of(TOPIC).relations["stock"], sizes.rows)
    audience = Audience(sizes.subscriptions, sizes.rows)
    with running_chain(bench) as chain:
        say("starting engine and edge")
        chain.prepare(sizes.partitions)
        chain.start("engine")
        chain.await_engine(lambda told: told.catalog >= 0)
        chain.start("edge")
        chain.publisher.send(market.load())
        chain.await_read()
        registered = _register(chain, audience, form)
        say(f"{sizes.subscriptions:,} subscriptions are live, {registered:,.0f} a second")
        times = Times()
        for number in range(sizes.rounds):
            for part in (_match, _whole) if number % 2 else (_whole, _match):
                part(bench, chain, market, times)
        _with_edge(chain)
        return _figures(bench, times) | {"registrations_per_s": round(registered), "memory_mb": chain.memory_mb()}


def _register(chain: Chain, audience: Audience, form: str) -> float:
    began = time.monotonic()
    chain.publisher.send(audience.subscriptions(chain.topics, form))
    chain.await_live(len(audience))
    return len(audience) / (time.monotonic() - began)


def _match(bench: Bench, chain: Chain, market: Market, times: Times) -> None:
    chain.stop("edge")
    _warm(bench, chain, market)
    began = _show(bench, chain, market)
    times.match.append(chain.await_read() - began)
    bench.say(f"match {times.match[-1]:.2f} s")


def _whole(bench: Bench, chain: Chain, market: Market, times: Times) -> None:
    _with_edge(chain)
    _warm(bench, chain, market)
    chain.await_edges()
    before, used = chain.deliveries(), chain.processor_seconds()
    began = _show(bench, chain, market)
    times.match_beside.append(chain.await_read() - began)
    times.whole.append(chain.await_edges() - began)
    spent = {name: seconds - used[name] for name, seconds in chain.processor_seconds().items()}
    times.cpu.append({name: round(seconds / _rows(bench) * 1e6, 2) for name, seconds in spent.items()})
    made = (chain.deliveries() - before) / times.whole[-1]
    bench.say(f"whole {times.whole[-1]:.2f} s, of which match {times.match_beside[-1]:.2f} s; {made:,.0f} deliveries/s")


def _with_edge(chain: Chain) -> None:
    if "edge" not in chain.children:
        chain.start("edge")
    chain.await_edges()


def _warm(bench: Bench, chain: Chain, market: Market) -> None:
    chain.publisher.send(market.changes(bench.sizes.batch))
    chain.await_read()


def _show(bench: Bench, chain: Chain, market: Market) -> float:
    """Publish the measured batches; return the moment in which they can be seen."""
    with hidden_until_the_end(chain.publisher.kafka, market.changes(_rows(bench))):
        shown = time.time()
    return shown  # noqa: RET504 (the moment just before the commit)


def _rows(bench: Bench) -> int:
    return (bench.sizes.batches - 1) * bench.sizes.batch


def _figures(bench: Bench, times: Times) -> dict[str, object]:
    rows = _rows(bench)
    pairs = zip(times.match, times.whole, strict=True)
    beside = zip(times.match_beside, times.whole, strict=True)
    return {
        "whole_over_match": round(median(match / whole for match, whole in pairs), 3),
        "whole_rows_per_s": {
            "match": round(rows / median(times.match)),
            "match_beside_edge": round(rows / median(times.match_beside)),
            "whole": round(rows / median(times.whole)),
        },
        "whole_seconds": {
            name: [round(s, 2) for s in getattr(times, name)] for name in ("match", "match_beside", "whole")
        },
        "whole_cpu_us_per_row": times.cpu,
        "match_share_of_whole": round(median(match / whole for match, whole in beside), 3),
    }
