"""What one event costs a view of a stream, by the length of the batch, and what a group takes.

    python -m benchmarks.fold_cost

Prices of 500 symbols, grouped by symbol (texts) and hour: MIN, MAX, LATEST, COUNT and SUM, so every event changes a row.
`stream_us` is what the Fold takes, `pass` what the rows take to it, `held` what its table does with the changes. CPU
time, the median of several batches one after the other, data from a fixed seed. `stream_group_bytes`: of the state.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass

import numpy as np

from catalog.schema.relation import Column, Relation
from catalog.schema.stream import HOUR, SECOND
from catalog.schema.view import Aggregate, Fold, Stage
from catalog.types.column_type import ColumnType, Kind
from operators.views.operators import operator_of
from operators.views.view_operator import Input
from shard.tables import Table, warm
from state.change_batch import ChangeBatch

BATCHES = (1_000, 20_000)
RUNS = 10
SYMBOLS = 500
_TEXT, _PRICE, _SIZE = ColumnType(Kind.VARCHAR), ColumnType(Kind.DECIMAL, 8, 2), ColumnType(Kind.INTEGER)
_TIME, _COUNT = ColumnType(Kind.TIMESTAMP), ColumnType(Kind.BIGINT)
_COLUMNS = {"symbol": _TEXT, "price": _PRICE, "size": _SIZE, "ts": _TIME, "hour": _TIME}
TRADES = Relation("trades", tuple(Column(name, type_) for name, type_ in _COLUMNS.items()), (), "trades")
_AGGREGATES = (
    Aggregate("MIN", "price", _PRICE),
    Aggregate("MAX", "price", _PRICE),
    Aggregate("LATEST", "price", _PRICE, "ts"),
    Aggregate("MAX", "ts", _TIME),
    Aggregate("COUNT", None, _COUNT),
    Aggregate("SUM", "size", _COUNT),
)
_MADE = {"symbol": _TEXT, "hour": _TIME, **{f"a{i}": each.type for i, each in enumerate(_AGGREGATES)}}
HOURLY = Stage(
    Relation("hourly", tuple(Column(name, type_) for name, type_ in _MADE.items()), ("symbol", "hour"), ""),
    Fold("trades", ("symbol", "hour"), _AGGREGATES),
)


@dataclass(frozen=True, slots=True)
class Cost:
    """Microseconds an event, and bytes a group."""

    passing: float
    folding: float
    holding: float
    group_bytes: float


def events(rng: np.random.Generator, begin: int, m: int) -> ChangeBatch:
    """Return the trades of five minutes."""
    ts = begin + np.sort(rng.integers(0, 300, m)) * SECOND
    codes = np.stack(
        [np.zeros(m, np.int64), rng.integers(1, 10**6, m), rng.integers(1, 1_000, m), ts, ts // HOUR * HOUR]
    )
    texts = {0: [f"S{number}" for number in rng.integers(0, SYMBOLS, m).tolist()]}
    every, nowhere = np.ones(m, np.bool_), np.zeros(m, np.int32)
    keys = [b"%d" % i for i in range(m)]
    return ChangeBatch(keys, every, codes, np.ones(codes.shape, np.bool_), dict(texts), nowhere, np.arange(m))


def fold(m: int) -> Cost:
    """Return the costs in batches of m events."""
    rng, held, operator = np.random.default_rng(m), Table(HOURLY.relation), operator_of(HOURLY, [TRADES])
    spent: list[tuple[float, float, float]] = []
    for run in range(RUNS):
        batch = events(rng, run * 300 * SECOND, m)
        begin = time.process_time()
        given = Input(Table(TRADES).pass_by(batch), batch.cause)
        passed = time.process_time()
        made = operator.changes([given, Input(held.still(), np.zeros(0, np.int32))])
        folded = time.process_time()
        held.commit(held.replay(made))
        spent.append((passed - begin, folded - passed, time.process_time() - folded))
    size = sum(len(part) if isinstance(part, bytes) else part.nbytes for part in held.sections().values())
    passing, folding, holding = (np.median(spent, axis=0) / m * 1e6).round(3).tolist()
    return Cost(passing, folding, holding, round(size / held.rows, 1))


def measure() -> dict[str, object]:
    """Return what has goals, by the length of the batch, and the parts."""
    warm()
    costs = {str(m): fold(m) for m in BATCHES}
    return {
        "stream_us": {m: cost.folding for m, cost in costs.items()},
        "stream_group_bytes": {m: cost.group_bytes for m, cost in costs.items()},
        "fold_cost": {m: {"pass": cost.passing, "held": cost.holding} for m, cost in costs.items()},
    }


if __name__ == "__main__":
    print(json.dumps(measure(), indent=2))
