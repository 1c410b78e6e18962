"""What first rows cost at an edge that a million subscribers ask for them.

    python -m benchmarks --only bestk

50,000 rows, x and y drawn at random; a subscription asks for the first 1, 3 or 10 by y of a range of x that about 100 rows
are in. Of the changes 55 % change y, 15 % delete the row (it comes back when it is drawn again), 15 % move it along x,
15 % do both. A virtual edge has as many lists as 16 virtual edges of a million have each; the shard is in this process
(`benchmarks/edge_chain.py`). Processor times of its one thread, the least of several batches of 1,000 changes.

`bestk_edge_us_1m`   `message`: a message at one virtual edge with all that it leads to: the record read, lists followed,
                     deliveries and state written
`bestk_edge_pair_ns` of a pair the list alone: `kernel` moves numbers of rows; `rows`, which messages have in common, are
                     found by their bytes, numbered and counted
`bestk_edge_pairs`   how many lists hear a message
`bestk_live_s_1m`    1,000,000 times the seconds a list of: compiling, admission and registration at the edge, its first
                     answer at the shard, its snapshot at the edge; `bestk_live_us` has the parts
`bestk_bytes`        of resident memory that an edge takes for each list after a restart
`bestk_stored`       bytes written to `edge-state`: of each list in a snapshot, and after a batch of each that has changed
`bestk_restore_s_1m` 1,000,000 times the seconds a list of a restart
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.edge_chain import TOPICS, EdgeChain
from benchmarks.edge_memory import resident
from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from overlay.machine.virtual_edge import VirtualEdge
from overlay.maintain import list_kernels
from overlay.maintain.list_follower import ListFollower, Moves, Pairs, Record
from overlay.process.jit_warmup import warm
from overlay.process.lasting_objects import settle
from shard.tables import warm as warm_tables

ROWS = 50_000
CHANGES = 1_000
TURNS = 6
IN_RANGE = 100
REACH = 10**9
LIMITS = (1, 3, 10)
DDL = "CREATE TABLE item (k BIGINT PRIMARY KEY, x BIGINT, y BIGINT) WITH ('topic'='item')"
CATALOG = apply_ddl(Catalog(), DDL, 0)


def measure(lists: int = 62_500) -> dict[str, Any]:
    """Return all figures; those of a million lists are from `lists`."""
    warm()
    warm_tables()
    once = BestChain()
    once.subscribe(lists // 4)
    once.timed(1)
    del once
    settle()
    chain = BestChain()
    chain.stages.seconds.clear()
    chain.subscribe(lists)
    live = chain.stages.each(lists)
    assert chain.edge.counts["live"] == lists
    stored, bytes_each, restore = restored(chain.edge)
    us, hears, written = chain.timed(TURNS)
    with Follows() as follows:
        chain.timed(TURNS)
    return {
        "bestk_edge_us_1m": {"message": round(us, 2)},
        "bestk_edge_pair_ns": follows.each(),
        "bestk_edge_pairs": round(hears, 2),
        "bestk_live_s_1m": round(sum(live.values()), 1),
        "bestk_live_us": live,
        "bestk_bytes": bytes_each,
        "bestk_stored": {"snapshot": stored, "changed": round(written)},
        "bestk_restore_s_1m": round(restore, 1),
    }


class BestChain(EdgeChain):
    """A chain whose table has rows at random places."""

    def __init__(self, rows: int = ROWS) -> None:
        super().__init__(CATALOG)
        self._source = np.random.default_rng(3)
        self._x, self._y = self._source.integers(0, REACH, (2, rows)).tolist()
        self._live = [True] * rows
        self.run_batch([self._published(row) for row in range(rows)])

    def subscribe(self, lists: int, in_range: int = IN_RANGE) -> None:
        """Let lists be live at the edge."""
        self.ask(self.statements(lists, in_range))

    def statements(self, lists: int, in_range: int) -> Iterator[str]:
        """Yield statements whose ranges have about `in_range` rows."""
        source = np.random.default_rng(4)
        at, widths = source.random(lists) * REACH, source.exponential(in_range / len(self._x) * REACH, lists)
        limits = source.choice(LIMITS, lists)
        for middle, width, limit in zip(at.tolist(), widths.tolist(), limits.tolist(), strict=True):
            lo, hi = int(middle - width / 2), int(middle + width / 2)
            yield f"SELECT k, y FROM item WHERE x BETWEEN {lo} AND {hi} ORDER BY y, k LIMIT {limit}"

    def timed(self, batches: int) -> tuple[float, float, float]:
        """Return least us a message at the edge, how many lists hear one, and bytes of state a list that changed."""
        counters, least = self.edge.counters, float("inf")
        before, bytes_written = self._counted(), 0
        for _ in range(batches):
            rows, messages = self.changed(CHANGES), counters.messages
            self.stages.seconds.clear()
            written = self.run_batch([value for _, value in rows], keys=[key for key, _ in rows])
            bytes_written += sum(len(record.value or b"") for record in written if record.topic == TOPICS.edge_state)
            least = min(least, self.stages.seconds["edge"] / (counters.messages - messages) * 1e6)
        messages, heard = (now - then for now, then in zip(self._counted(), before, strict=True))
        return least, heard / messages, bytes_written / heard

    def changed(self, count: int) -> list[tuple[bytes, bytes | None]]:
        """Return changes of rows as keys and values."""
        source, made = self._source, list[tuple[bytes, bytes | None]]()
        for row, kind in zip(source.integers(0, len(self._x), count).tolist(), source.random(count), strict=True):
            goes = self._live[row] and 0.55 <= kind < 0.7
            if self._live[row] and kind >= 0.7:
                self._x[row] = int(source.integers(REACH))
            if kind < 0.55 or kind >= 0.85:
                self._y[row] = int(source.integers(REACH))
            self._live[row] = not goes
            made.append((b'{"k":%d}' % row, None if goes else self._published(row)))
        return made

    def _published(self, row: int) -> bytes:
        return b'{"k":%d,"x":%d,"y":%d}' % (row, self._x[row], self._y[row])

    def _counted(self) -> tuple[int, int]:
        counters = self.edge.counters
        return counters.messages, counters.deliveries + counters.suppressed


class Follows:
    """Counts what following the lists takes, and the pairs, while it is entered."""

    def __init__(self) -> None:
        self.seconds = {"kernel": 0.0, "rows": 0.0}
        self.pairs = 0
        self._follow, self._kernel = ListFollower.follow, list_kernels.follow

    def each(self) -> dict[str, int]:
        """Return nanoseconds a pair."""
        return {name: round(seconds / self.pairs * 1e9) for name, seconds in self.seconds.items()}

    def __enter__(self) -> Follows:
        def kernel(*arguments: Any) -> int:
            began = time.process_time()
            wrong: int = self._kernel(*arguments)
            self.seconds["kernel"] += time.process_time() - began
            return wrong

        def follow(follower: ListFollower, record: Record, pairs: Pairs) -> Moves:
            began, inside = time.process_time(), self.seconds["kernel"]
            moves = self._follow(follower, record, pairs)
            self.seconds["rows"] += time.process_time() - began - (self.seconds["kernel"] - inside)
            self.pairs += len(pairs.slot)
            return moves

        setattr(ListFollower, "follow", follow)  # noqa: B010
        setattr(list_kernels, "follow", kernel)  # noqa: B010
        return self

    def __exit__(self, *_: object) -> None:
        setattr(ListFollower, "follow", self._follow)  # noqa: B010
        setattr(list_kernels, "follow", self._kernel)  # noqa: B010


def restored(edge: VirtualEdge) -> tuple[int, int, float]:
    """Return bytes of a snapshot, bytes of resident memory and us of a restart, each for a list."""
    stored, live = [record.value for record in edge.snapshot_records() if record.value is not None], edge.counts["live"]
    again = VirtualEdge(0, 1, TOPICS, lambda _: CATALOG)
    before, began = resident(), time.process_time()
    again.restore(stored)
    taken = time.process_time() - began
    again.take()
    grown = resident() - before
    return round(sum(map(len, stored)) / live), round(grown / live), taken / live * 1e6


if __name__ == "__main__":
    began = time.process_time()
    print(json.dumps(measure(int(sys.argv[1]) if len(sys.argv) > 1 else 62_500), indent=2))
    print(f"{time.process_time() - began:.0f} s of processor time")
