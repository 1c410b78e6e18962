"""A million subscriptions against a thousand, on the same chain, the same rows and the same affected per publication.

    python -m benchmarks --only million

For each size: a fresh chain (broker, engine, one edge), 50,000 rows; all subscriptions become visible in the topic in
one moment (`registration_s` is from there until all are live); publications likewise, and the time is until the edge
has committed the last delivery. `subs_1m_over_1k` is the ratio of rows/s at k = 2 affected per publication; `curve`
goes over k at the full size. `restart_s`: engine and edge are killed with SIGKILL and started again; until the
first delivery of a publication made after the kill can be read. `latency_ms` at both sizes, at a steady rate.
`edge_bytes_per_subscription` is how much more resident memory the edge has at the full size, both once it has been
idle for a moment, in which it gives back what registering needed (`overlay/process/memory_trim.py`).
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any

from benchmarks.bench import Bench, hidden_until_the_end
from benchmarks.chain import TOPIC, Chain, running_chain
from benchmarks.crowd import Crowd, Section
from benchmarks.latency import Listener, await_silence, latency_figures, publish_steadily
from overlay.process.memory_trim import SECONDS
from tidewire.stack.child import session_members

CURVE = (0, 2, 20, 200, 2_000)
K = 2
FULL_BATCHES = {0: 3, 2: 3, 20: 2, 200: 1, 2_000: 1}
DELIVERIES_AT_MOST = 4_000_000


def sections_of(subscribers: int) -> list[Section]:
    """Return one section a point of the curve for a large crowd, the one of `K` alone for a small one."""
    if subscribers < 100_000:
        return [Section(0, 250, 0), Section(K, 250, subscribers)]
    share = subscribers // (len(CURVE) - 1)
    rows = {0: 1_000, 2: 1_000, 20: 1_000, 200: 500, 2_000: 60}
    return [Section(k, rows[k], share if k else 0) for k in CURVE]


def measure(bench: Bench) -> dict[str, object]:
    """Return the ratio, the curve, and what registering and restarting took."""
    few, many = 1_000, bench.sizes.crowd
    small = _measure_size(bench, few)
    large = _measure_size(bench, many)
    before = small["memory_edge_mb"]
    per_subscription = (large["memory_edge_mb"] - before) * 1e6 / (many - few)
    return {
        "subs_1m_over_1k": round(large["rates"][K]["rows_per_s"] / small["rates"][K]["rows_per_s"], 3),
        "million": {"subscriptions": many, "few": small, "many": large},
        "registration_s": large["registration_s"],
        "restart_s": large["restart_s"],
        "edge_bytes_per_subscription": round(per_subscription),
        "latency_1m_over_1k": {
            name: round(large["latency_ms"][name] / small["latency_ms"][name], 2) for name in ("p50", "p99")
        },
    }


def _measure_size(bench: Bench, subscribers: int) -> dict[str, Any]:
    sizes, crowd = bench.sizes, Crowd(sections_of(subscribers), bench.sizes.rows, TOPIC)
    with running_chain(bench) as chain:
        chain.prepare(sizes.partitions)
        chain.start("engine")
        chain.await_engine(lambda told: told.catalog >= 0)
        chain.start("edge")
        chain.publisher.send(crowd.load())
        chain.await_read()
        figures: dict[str, Any] = {"registration_s": _register(bench, chain, crowd)}
        bench.say(f"{crowd.subscribers:,} live after {figures['registration_s']} s")
        time.sleep(2 * SECONDS)
        figures["memory_edge_mb"] = chain.memory_mb()["edge"]
        figures["rates"] = {k: _rate(bench, chain, crowd, k) for k in crowd.sections}
        figures["latency_ms"] = _latency(bench, chain, crowd)
        figures["restart_s"] = _restart(bench, chain, crowd)
        figures["memory_mb"] = chain.memory_mb()
    return figures


def _register(bench: Bench, chain: Chain, crowd: Crowd) -> float:
    with hidden_until_the_end(chain.publisher.kafka, crowd.subscriptions(chain.topics)):
        shown = time.monotonic()
    chain.await_live(crowd.subscribers)
    return round(time.monotonic() - shown, 1)


def _rate(bench: Bench, chain: Chain, crowd: Crowd, k: int) -> dict[str, float]:
    """Return rows/s and deliveries/s until the last delivery is committed; the median of the rounds."""
    batch = bench.sizes.batch
    count = max(min(batch * FULL_BATCHES[k], DELIVERIES_AT_MOST // max(k, 1)), 100)
    rounds: list[tuple[float, float]] = []
    chain.publisher.send(crowd.changes(k, min(count, batch) // 4))
    chain.await_read()
    chain.await_edges()
    for _ in range(bench.sizes.rounds):
        before = chain.deliveries()
        with hidden_until_the_end(chain.publisher.kafka, crowd.changes(k, count)):
            shown = time.time()
        chain.await_read()
        rounds.append((chain.await_edges() - shown, chain.deliveries() - before))
    seconds = median(taken for taken, _ in rounds)
    made = median(made for _, made in rounds)
    bench.say(f"k = {k:,}: {count / seconds:,.0f} rows/s, {made / seconds:,.0f} deliveries/s")
    return {
        "rows_per_s": round(count / seconds),
        "deliveries_per_s": round(made / seconds),
        "affected_per_publication": round(made / count, 2),
    }


@contextmanager
def listening(chain: Chain) -> Iterator[Listener]:
    """Hear all deliveries that come from now on."""
    ends = chain.publisher.admin.end_offsets(chain.topics.deliveries)
    listener = Listener(chain.settings.bootstrap or "", chain.topics.deliveries, len(ends), starts=ends)
    thread = threading.Thread(target=listener.run, daemon=True)
    thread.start()
    try:
        yield listener
    finally:
        listener.stop.set()
        thread.join()


def _latency(bench: Bench, chain: Chain, crowd: Crowd) -> dict[str, float]:
    sizes = bench.sizes
    with listening(chain) as listener:
        sent = publish_steadily(
            chain.publisher, crowd.changes(K, int(sizes.latency_rate * sizes.latency_seconds / 2)), sizes.latency_rate
        )
        await_silence(listener)
    figures = latency_figures(listener, chain.publisher, TOPIC, sizes.partitions, sent)
    bench.say(f"latency p50 {figures['p50']} ms, p99 {figures['p99']} ms")
    return figures


def _restart(bench: Bench, chain: Chain, crowd: Crowd) -> float:
    """Kill engine and edge; return seconds until a delivery caused by a later publication can be read."""
    with listening(chain) as listener:
        for name in ("engine", "edge"):
            child = chain.children.pop(name)
            for pid in [*session_members(child.pid), child.pid]:
                _kill(pid)
        killed = time.monotonic()
        before = len(listener.arrived)
        chain.start("engine")
        chain.start("edge")
        chain.publisher.send(crowd.changes(K, 1_000))
        while len(listener.arrived) == before:
            time.sleep(0.05)
            assert time.monotonic() - killed < 300, "no delivery came after the restart"
        taken = round(time.monotonic() - killed, 1)
    bench.say(f"restarted after {taken} s")
    return taken


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return
