"""What first answers of joins cost a cell: registrations from the record to the reply, with all that a batch takes.

    python -m benchmarks.join_first_cost
    python -m benchmarks --only join_first

Tables r and s of 50,000 rows with a text to join by, a number and a text. Subscriptions of 16 virtual edges ask for the
joined rows in a range of either number, 5 rows each; `narrow` both ranges, or one `wide`: a fifth of its rows.
Processor times of one run, in microseconds a subscription, by fan-out (how many rows of a table have one key):

`join_first_us`      by 100,000 subscriptions that are registered at once
`join_first_one_ms`  a batch with one, in milliseconds
"""

from __future__ import annotations

import json
import time
from typing import Any

import numpy as np

from benchmarks.edge_chain import TOPICS, records, registered
from catalog.ddl.statements import apply_ddl
from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import box_of_intervals
from catalog.query.shape import Region
from catalog.schema.catalog import Catalog
from catalog.schema.join import Join
from connectors.record import RawRecords
from shard.group_spec import GroupSpec
from shard.pipeline import process_group

ROWS = 50_000
SUBSCRIPTIONS = 100_000
FAN_OUTS = (1, 5, 20)
EDGES = 16
ANSWER_ROWS = 5
WIDE = 0.2
TOP = 1_000_000_000
_DDL = "CREATE TABLE {} (id INTEGER PRIMARY KEY, k VARCHAR, x BIGINT, note VARCHAR)"


def measure(rows: int = ROWS, subscriptions: int = SUBSCRIPTIONS) -> dict[str, Any]:
    """Return both costs, by fan-out and width."""
    found: dict[str, Any] = {"join_first_us": {}, "join_first_one_ms": {}}
    for fan_out in FAN_OUTS:
        case = Case(rows, fan_out)
        costs = {
            name: case.seconds(case.regions(subscriptions, wide)) for name, wide in (("narrow", False), ("wide", True))
        }
        found["join_first_us"][str(fan_out)] = {
            name: round(seconds / subscriptions * 1e6, 1) for name, seconds in costs.items()
        }
        one = min(case.seconds(case.regions(1, False)) for _ in range(5))
        found["join_first_one_ms"][str(fan_out)] = round(one * 1e3, 1)
    return found


class Case:
    """A cell with rows, of which nothing has been asked yet."""

    def __init__(self, rows: int, fan_out: int) -> None:
        self._rng = np.random.default_rng(1)
        self._pairs = rows * fan_out
        catalog = apply_ddl(Catalog(), f"{_DDL.format('r')}; {_DDL.format('s')}; CREATE JOIN r, s", 0)
        self._join, _ = Join.of(["r", "s"], [((0, "k"), (1, "k"))])
        self._spec = GroupSpec(0, self._join.cell, catalog, TOPICS, EDGES)
        keys = np.arange(rows) % (rows // fan_out)
        loaded = [self._rows("r", keys), self._rows("s", self._rng.permutation(keys))]
        self._state = process_group(self._spec, 0, None, loaded).state

    def regions(self, count: int, wide: bool) -> list[Region]:
        """Return regions of about `ANSWER_ROWS` joined rows."""
        shape = FilterShape(self._join.name, ("0.id", "1.id", "0.k", "1.note"), (), ("0.x", "1.x"), (), (0, 1))
        first = WIDE if wide else (ANSWER_ROWS / self._pairs) ** 0.5
        widths = np.array([first, ANSWER_ROWS / self._pairs / first]) * TOP
        lows = (self._rng.random((count, 2)) * (TOP - widths)).astype(np.int64)
        bounds = np.stack([lows, (lows + widths).astype(np.int64)], axis=2).tolist()
        return [
            Region(shape, b"[]", terms=box_of_intervals([(i, *each) for i, each in enumerate(both)])) for both in bounds
        ]

    def seconds(self, regions: list[Region]) -> float:
        """Return how long a batch takes that registers them."""
        asked = [
            registered(self._spec, ve, range(ve, len(regions), EDGES), regions[ve::EDGES])
            for ve in range(min(EDGES, len(regions)))
        ]
        begun = time.process_time()
        process_group(self._spec, 1, self._state, asked)
        return time.process_time() - begun

    def _rows(self, table: str, keys: Any) -> RawRecords:
        numbers = (self._rng.random(len(keys)) * TOP).astype(np.int64).tolist()
        pairs = enumerate(zip(keys.tolist(), numbers, strict=True))
        values = [b'{"id":%d,"k":"SYM%06d","x":%d,"note":"text %d"}' % (i, key, x, i % 1_000) for i, (key, x) in pairs]
        return records([b'{"id":%d}' % i for i in range(len(values))], values, table)


if __name__ == "__main__":
    print(json.dumps(measure(), indent=2))
