"""What readers lose while a crowd holds on to the same edge, and what the edge holds for the crowd.

    python -m benchmarks.push_crowds [--quick]

Readers on real sockets, as in `benchmarks/push.py`, hear a steady rate; by turns nobody else is there, 10,000 half-open
connections of one address are, and 300 readers that never read a DISTINCT of 50,000 values. The edge has the limits
that it has unless told otherwise.

    push_crowd_ms             p50, p99 of the readers, medians of the rounds
    push_crowd_over_without   their p99 beside each crowd over that without one
    push_crowd_mb             how much more memory the edge has with the crowd than before it, most of the rounds
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from benchmarks.bench import QUICK, Say, Sizes
from benchmarks.push import STEP_SECONDS, Driver, edge, medians, percentiles, steady
from connectors.http.server import allow_files

CROWDS = {"half-open": 10_000, "unread": 300}


@asynccontextmanager
async def crowd(driver: Driver, kind: str, count: int) -> AsyncIterator[None]:
    """Hold a crowd on to the edge inside the block."""
    command = [sys.executable, "-m", "benchmarks.push_crowd", kind, driver.host, str(driver.port), str(count)]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)
    assert process.stdin is not None and process.stdout is not None
    try:
        await asyncio.wait_for(process.stdout.readline(), 120)
        yield
    finally:
        process.stdin.close()
        await asyncio.wait_for(process.wait(), 60)


async def beside_crowds(sizes: Sizes, say: Say, shrink: int = 1) -> dict[str, Any]:
    """Measure the readers' delay without a crowd and beside each, in turns."""
    steps = round(sizes.push_seconds / 2 / STEP_SECONDS)
    publications = max(1, sizes.push_publications // 2 // steps)
    runs: dict[str, list[dict[str, float]]] = {"without": [], **{kind: [] for kind in CROWDS}}
    grown: dict[str, list[float]] = {kind: [] for kind in CROWDS}
    async with edge(sizes.push_readers, None) as driver:
        readers = await driver.readers(sizes.push_readers)
        await steady(driver, readers, 5, publications)
        percentiles(readers)
        for _ in range(sizes.rounds):
            await steady(driver, readers, steps, publications)
            runs["without"].append(percentiles(readers))
            for kind, count in CROWDS.items():
                before = (await driver.do("state"))["rss"]
                async with crowd(driver, kind, count // shrink):
                    await steady(driver, readers, steps, publications)
                    runs[kind].append(percentiles(readers))
                    grown[kind].append(((await driver.do("state"))["rss"] - before) / 1e6)
                await asyncio.sleep(1)
            say(", ".join(f"{kind} p99 {rounds[-1]['p99']} ms" for kind, rounds in runs.items()))
    milliseconds = {kind: medians(rounds) for kind, rounds in runs.items()}
    return {
        "push_crowd_ms": milliseconds,
        "push_crowd_over_without": {
            kind: round(milliseconds[kind]["p99"] / milliseconds["without"]["p99"], 2) for kind in CROWDS
        },
        "push_crowd_mb": {kind: round(max(most), 1) for kind, most in grown.items()},
    }


def measure(sizes: Sizes, say: Say) -> dict[str, Any]:
    """Return the figures. Cost: `rounds` times 1.5 times `push_seconds`, and what crowds take to come."""
    allow_files(sizes.push_readers + 512)
    return asyncio.run(beside_crowds(sizes, say, 50 if sizes is QUICK else 1))


if __name__ == "__main__":
    tell: Callable[[str], None] = lambda text: print(text, file=sys.stderr)  # noqa: E731
    print(json.dumps(measure(QUICK if "--quick" in sys.argv else Sizes(), tell), indent=2))
