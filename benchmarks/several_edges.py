"""Several edges share the subscriptions; under load one joins, and one is killed. What do subscribers notice?

    python -m benchmarks --only several_edges

Two edges, 100,000 subscriptions of `benchmarks/crowd.py`, publications at a steady rate in the section of 20 affected
each. After a third of the time a third edge starts; after two thirds one of the first two is killed with SIGKILL. At the
end every delivery is read and followed subscription by subscription: the first is its snapshot, `n` has no gap and no
repeat, each `old` is the `new` before, and the last `new` is what its question gives over the rows, recomputed here.

`pause_s`: the longest time between two progress records of a virtual edge (its subscribers can know nothing in
between), in each third. A killed edge is missed after `session_seconds` (6 s), by its group.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise

import msgspec
import numpy as np

from benchmarks.bench import Bench
from benchmarks.chain import TOPIC, Chain, running_chain
from benchmarks.crowd import Crowd, Section
from connectors.kafka.reader import Reader
from connectors.record import OutRecord
from overlay.delivery.delivery import PROGRESS_KEY
from tidewire.stack.child import session_members
from tidewire.stack.port import free_port

K = 20
RATE = 200
HOT_ROWS = 500
TICK = 0.05


class Delivered(msgspec.Struct):
    """The members of a delivery that are followed."""

    kind: str
    version: int = -1
    n: int = 0
    old: str | None = None
    new: str | None = None


@dataclass(slots=True)
class Followed:
    """What all subscribers heard: what each holds, how often, and what was wrong."""

    held: dict[bytes, Delivered] = field(default_factory=dict)
    deliveries: int = 0
    wrong: list[str] = field(default_factory=list)
    progress: dict[int, list[int]] = field(default_factory=dict)

    def take(self, key: bytes, delivery: Delivered) -> None:
        """Follow one delivery."""
        self.deliveries += 1
        before = self.held.get(key)
        first = before is None or before.version != delivery.version
        expected = (1, None) if first or before is None else (before.n + 1, before.new)
        if (delivery.n, delivery.old) != expected or (delivery.kind == "snapshot") != first:
            self.wrong.append(f"{key.decode()}: after {before} came {delivery}")
        self.held[key] = delivery


def measure(bench: Bench) -> dict[str, object]:
    """Return the figures. Raises AssertionError where any subscriber heard anything wrong."""
    count = min(bench.sizes.subscriptions, bench.sizes.crowd)
    crowd = Crowd([Section(0, HOT_ROWS, 0), Section(K, HOT_ROWS, count)], bench.sizes.rows, TOPIC)
    third = bench.sizes.latency_seconds / 3
    with running_chain(bench) as chain:
        chain.prepare(bench.sizes.partitions)
        chain.start("engine")
        chain.await_engine(lambda told: told.catalog >= 0)
        ports = [free_port() for _ in range(3)]
        for number in (0, 1):
            chain.start(f"edge-{number}", "--http-port", str(ports[number]))
        chain.publisher.send(crowd.load())
        chain.await_read()
        records = list(crowd.subscriptions(chain.topics))
        chain.publisher.send(records)
        chain.await_live(count, ports[:2])
        bench.say(f"{count:,} subscriptions are live at two edges")
        marks = [time.time()]
        with _publishing(chain, crowd):
            time.sleep(third)
            marks.append(time.time())
            chain.start("edge-2", "--http-port", str(ports[2]))
            time.sleep(third)
            marks.append(time.time())
            _kill(chain, "edge-0")
            time.sleep(third)
        chain.await_read()
        chain.await_edges()
        shares = chain.live(ports[1:])
        followed = _follow(chain)
    wrong = [*followed.wrong, *_against_recomputation(followed, crowd, records)]
    assert not wrong, f"{len(wrong)} wrong, among them: " + "; ".join(wrong[:5])
    assert len(followed.held) == count, f"{len(followed.held)} of {count} subscriptions heard anything"
    pauses = _pauses(followed, [mark * 1000 for mark in [*marks, marks[-1] + third]])
    bench.say(f"{followed.deliveries:,} deliveries, all right; pauses {pauses}")
    return {"several_edges": {
        "subscriptions": count, "deliveries": followed.deliveries, "wrong": 0, "pause_s": pauses,
        "subscriptions_by_edge": shares,
    }}  # fmt: skip


@contextmanager
def _publishing(chain: Chain, crowd: Crowd) -> Iterator[None]:
    """Publish changes at a steady rate while the block runs."""
    stop = threading.Event()

    def run() -> None:
        while not stop.wait(TICK):
            chain.publisher.send(crowd.changes(K, int(RATE * TICK)))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _kill(chain: Chain, name: str) -> None:
    child = chain.children.pop(name)
    for pid in [*session_members(child.pid), child.pid]:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def _follow(chain: Chain) -> Followed:
    """Read all deliveries."""
    followed = Followed()
    decode = msgspec.json.Decoder(Delivered).decode
    ends = chain.publisher.admin.end_offsets(chain.topics.deliveries)
    for record in Reader(chain.publisher.kafka).read_to_end(chain.topics.deliveries, list(ends)):
        if record.key == PROGRESS_KEY:
            followed.progress.setdefault(record.partition, []).append(record.timestamp)
        elif record.value is not None and record.key is not None:
            followed.take(record.key, decode(record.value))
    return followed


def _against_recomputation(followed: Followed, crowd: Crowd, records: list[OutRecord]) -> Iterator[str]:
    """Yield whose last answer is not what the question gives over the rows as they are."""
    risks, prices = (np.array(column) for column in crowd.rows(K))
    order = np.argsort(risks)
    risks, prices = risks[order], prices[order]
    for record in records:
        assert record.value is not None and record.key is not None
        low, high = record.value.split(b"BETWEEN ")[1].split(b'"')[0].split(b" AND ")
        start, end = np.searchsorted(risks, float(low)), np.searchsorted(risks, float(high), side="right")
        least = int(prices[start:end].min()) if end > start else None
        expected = None if least is None else f"{least // 100}.{least % 100:02d}"
        held = followed.held.get(record.key)
        if held is None or held.new != expected:
            yield f"{record.key.decode()}: holds {held}, expected {expected}"


def _pauses(followed: Followed, marks: list[float]) -> dict[str, float]:
    """Return the longest time without progress of any virtual edge, in seconds, by what happened."""
    longest = dict.fromkeys(("steady", "one joined", "one was killed"), 0.0)
    for stamps in followed.progress.values():
        ordered = sorted(stamps)
        for before, after in pairwise(ordered):
            for name, (start, end) in zip(longest, pairwise(marks), strict=True):
                if start <= before < end:
                    longest[name] = max(longest[name], (after - before) / 1000)
    return {name: round(seconds, 2) for name, seconds in longest.items()}
