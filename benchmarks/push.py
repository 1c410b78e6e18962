"""What pushing costs and how soon it arrives: readers on real sockets against one edge without Kafka.

    python -m benchmarks.push [--quick]

Half of the readers have SSE, half WebSockets; each has a subscription of its own, and every publication changes all of
them. Edge and readers are two processes on the same machine. Figures:

    push_events_per_s          messages taken by all readers together, one batch after the other as fast as they take it
    push_latency_ms            p50, p99 from the moment a batch comes to the edge until a reader's socket has the message,
                               at a steady rate; and the same while one reader has stopped, in turns (`rounds`)
    push_stopped_over_without  the other readers' p99 with a stopped reader over that without one
    push_stopped               what the stopped one heard in the end, and how the edge's memory grew meanwhile
    push_idle                  connections held that hear progress only: memory each, CPU of the edge
    push_us_per_delivery       what pushing adds to the edge's own thread: nobody listens; all listen
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import numpy as np

from benchmarks.bench import QUICK, Say, Sizes
from benchmarks.push_readers import Reader, connect
from connectors.http.server import allow_files

STEP_SECONDS = 0.3
SATURATED_STEPS = 20


class Driver:
    """Tells the edge what to do, and knows when all readers have heard of it."""

    def __init__(self, edge: asyncio.subprocess.Process, host: str, port: int, subscriptions: int) -> None:
        self._edge = edge
        self.host, self.port = host, port
        self._subscriptions = subscriptions
        self._target = 0
        self._behind: set[Reader] = set()
        self._all_heard = asyncio.Event()

    async def do(self, command: str) -> dict[str, Any]:
        """Give one command and return its answer."""
        assert self._edge.stdin is not None and self._edge.stdout is not None
        self._edge.stdin.write(command.encode() + b"\n")
        answer: dict[str, Any] = json.loads(await self._edge.stdout.readline())
        return answer

    async def readers(self, count: int) -> list[Reader]:
        """Connect readers."""
        return await connect(self.host, self.port, count, self._news, self._subscriptions)

    async def until_heard(self, readers: list[Reader], value: int, seconds: float = 60.0) -> None:
        """Wait until all `readers` have heard `value`. *Raises* TimeoutError."""
        self._target = value
        self._behind = {reader for reader in readers if reader.last < value}
        self._all_heard.clear()
        if self._behind:
            await asyncio.wait_for(self._all_heard.wait(), seconds)

    def _news(self, reader: Reader) -> None:
        if reader.last >= self._target:
            self._behind.discard(reader)
            if not self._behind:
                self._all_heard.set()


@asynccontextmanager
async def edge(subscriptions: int, connections: int | None) -> AsyncIterator[Driver]:
    """Run an edge that serves so many connections, or as many as it does unless told otherwise."""
    most = [] if connections is None else [str(connections + 10)]
    command = [sys.executable, "-m", "benchmarks.push_edge", str(subscriptions), *most]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)
    assert process.stdout is not None and process.stdin is not None
    try:
        where = json.loads(await process.stdout.readline())
        yield Driver(process, where["host"], where["port"], subscriptions)
    finally:
        process.stdin.close()
        if await asyncio.wait_for(process.wait(), 20):
            raise RuntimeError("the edge of the benchmark ended with an error")


async def steady(driver: Driver, readers: list[Reader], steps: int, publications: int) -> int:
    """Publish at a steady rate, then wait until all have heard the last; return the last value."""
    loop = asyncio.get_running_loop()
    begin, last = loop.time(), 0
    for number in range(steps):
        await asyncio.sleep(max(0.0, begin + number * STEP_SECONDS - loop.time()))
        last = (await driver.do(f"step {publications}"))["last"]
    await driver.until_heard(readers, last)
    return last


def percentiles(readers: list[Reader]) -> dict[str, float]:
    """Return p50 and p99 of the delays in ms, and forget them."""
    delays = np.concatenate([part for reader in readers for part in reader.delays]) / 1e3
    for reader in readers:
        reader.delays.clear()
    return {"p50": round(float(np.percentile(delays, 50)), 2), "p99": round(float(np.percentile(delays, 99)), 2)}


async def with_readers(sizes: Sizes, say: Say) -> dict[str, Any]:
    """Measure throughput, delay, and delay beside a stopped reader."""
    count, steps = sizes.push_readers, round(sizes.push_seconds / STEP_SECONDS)
    publications = max(1, sizes.push_publications // steps)
    async with edge(count, count) as driver:
        alone = await _quiet(driver)
        readers = await driver.readers(count)
        say(f"{count} readers")
        await steady(driver, readers, 5, publications)
        percentiles(readers)
        rate, added = await _saturate(driver, readers, publications)
        runs: dict[str, list[dict[str, float]]] = {"without": [], "stopped": []}
        stopped: list[dict[str, Any]] = []
        for number in range(sizes.rounds):
            await steady(driver, readers, steps, publications)
            runs["without"].append(percentiles(readers))
            stopped.append(await _beside_a_stopped_one(driver, readers, number, steps, publications))
            runs["stopped"].append(percentiles(readers))
            say(f"p99 {runs['without'][-1]['p99']} ms without, {runs['stopped'][-1]['p99']} ms with a stopped reader")
    return {
        "push_events_per_s": rate,
        "push_latency_ms": {name: medians(rounds) for name, rounds in runs.items()},
        "push_stopped_over_without": round(medians(runs["stopped"])["p99"] / medians(runs["without"])["p99"], 2),
        "push_stopped": {"publications": steps * publications, "rounds": stopped},
        "push_us_per_delivery": {"nobody": alone, **added},
    }


async def _quiet(driver: Driver) -> float:
    """Return what pushing adds to a delivery, in us, while nobody listens."""
    costs = [await driver.do("quiet 100") for _ in range(20)]
    return round(float(np.median([cost["ns"] / cost["deliveries"] for cost in costs])) / 1e3, 6)


async def _saturate(driver: Driver, readers: list[Reader], publications: int) -> tuple[int, dict[str, float]]:
    """Return messages a second with the next batch given as soon as all have heard the last; and the edge's CPU each."""
    loop = asyncio.get_running_loop()
    before, began, heard = await driver.do("state"), loop.time(), sum(reader.heard for reader in readers)
    for _ in range(SATURATED_STEPS):
        await driver.until_heard(readers, (await driver.do(f"step {publications}"))["last"])
    events, seconds = sum(reader.heard for reader in readers) - heard, loop.time() - began
    cpu = (await driver.do("state"))["cpu"] - before["cpu"]
    percentiles(readers)
    return round(events / seconds), {"all": round(cpu / events * 1e6, 2)}


async def _beside_a_stopped_one(
    driver: Driver, readers: list[Reader], number: int, steps: int, publications: int
) -> dict[str, Any]:
    """Let one reader stop while all publications come, then go on; by turns one of SSE and one of a WebSocket."""
    slow = readers[number % 2]
    others = [reader for reader in readers if reader is not slow]
    before, heard, conflated = await driver.do("state"), slow.heard, slow.conflated
    slow.stop()
    last = await steady(driver, others, steps, publications)
    after = await driver.do("state")
    slow.go_on()
    await driver.until_heard([slow], last)
    slow.timed = True
    return {
        "right": slow.last == last,
        "heard": slow.heard - heard,
        "conflated": slow.conflated - conflated,
        "edge_mb_grown": round((after["rss"] - before["rss"]) / 1e6, 1),
    }


def medians(rounds: list[dict[str, float]]) -> dict[str, float]:
    """Return the median of each figure."""
    return {name: round(float(np.median([one[name] for one in rounds])), 2) for name in rounds[0]}


async def idle(sizes: Sizes, say: Say) -> dict[str, Any]:
    """Hold connections that hear nothing but progress, one each second."""
    async with edge(100, sizes.push_idle) as driver:
        empty = await driver.do("state")
        loop = asyncio.get_running_loop()
        began = loop.time()
        readers = await driver.readers(sizes.push_idle)
        connected = loop.time() - began
        full = await driver.do("state")
        say(f"{full['readers']} connections in {connected:.1f} s")
        began = loop.time()
        chunks = [reader.chunks for reader in readers]
        while loop.time() - began < sizes.push_idle_seconds:
            await driver.do("progress")
            await asyncio.sleep(1)
        seconds, held = loop.time() - began, await driver.do("state")
        silent = sum(reader.chunks == before for reader, before in zip(readers, chunks, strict=True))
        return {
            "connections": held["readers"],
            "lost": sum(reader.gone for reader in readers),
            "silent": silent,
            "connects_per_s": round(len(readers) / connected),
            "kb_each": round((full["rss"] - empty["rss"]) / len(readers) / 1e3, 1),
            "kb_each_grown": round((held["rss"] - full["rss"]) / len(readers) / 1e3, 1),
            "cpu_share": round((held["cpu"] - full["cpu"]) / seconds, 3),
        }


def measure(sizes: Sizes, say: Say) -> dict[str, Any]:
    """Return the figures."""
    allow_files(sizes.push_idle + 512)
    return asyncio.run(with_readers(sizes, say)) | {"push_idle": asyncio.run(idle(sizes, say))}


if __name__ == "__main__":
    tell: Callable[[str], None] = lambda text: print(text, file=sys.stderr)  # noqa: E731
    print(json.dumps(measure(QUICK if "--quick" in sys.argv else Sizes(), tell), indent=2))
