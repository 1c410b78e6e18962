"""What one row change costs in the operators of views, by the length of the batch.

    python -m benchmarks.view_cost

    group_by    GROUP BY with MIN, MAX, COUNT and SUM: 50,000 rows in 1,000 groups, and ten times as many in as many
    chain       booked = GROUP BY of 50,000 bookings; joined to 5,000 flights; those with seats left; the cheapest 3 a
                destination: each stage with its table

`operator_us` is what the operator takes, with the layout of the orders that it reads; `all_us` all tables besides:
what the changes do to the rows of the base and of the views, and both taken over. CPU time, the least of several
batches one after the other. Data from fixed seeds, uniform; a change gives a row another measure (`value`), another
measure and group (`move`), or deletes it or puts one there (`come_and_go`).
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from catalog.schema.relation import Column, Relation
from catalog.schema.view import (
    Aggregate,
    Arithmetic,
    By,
    Coalesce,
    ColumnOf,
    Comparison,
    Constant,
    GroupBy,
    Joined,
    Map,
    Stage,
    TopK,
)
from catalog.types.column_type import ColumnType, Kind
from operators.channel_binding import KeptOrder
from operators.views.operators import operator_of
from operators.views.view_operator import Input, ViewOperator
from shard.tables import Table, warm
from state.change_batch import I64, Bool, ChangeBatch

BATCHES = (1_000, 20_000)
KINDS = ("value", "move", "come_and_go")
RUNS = {1_000: 15, 20_000: 5}
_INTEGER, _BIGINT = ColumnType(Kind.INTEGER), ColumnType(Kind.BIGINT)


def _table(name: str, *columns: str) -> Relation:
    return Relation(name, tuple(Column(each, _INTEGER) for each in columns), columns[:1], name)


def _view(name: str, columns: Mapping[str, ColumnType], key: str) -> Relation:
    return Relation(name, tuple(Column(each, type_) for each, type_ in columns.items()), (key,), "")


T = _table("t", "id", "g", "y")
LOW_HIGH = Stage(
    _view("v", {"g": _INTEGER, "low": _INTEGER, "high": _INTEGER, "n": _BIGINT, "total": _BIGINT}, "g"),
    GroupBy(
        "t",
        ("g",),
        (
            Aggregate("MIN", "y", _INTEGER),
            Aggregate("MAX", "y", _INTEGER),
            Aggregate("COUNT", None, _BIGINT),
            Aggregate("SUM", "y", _BIGINT),
        ),
    ),
)
FLIGHTS, BOOKINGS = _table("flights", "flight", "dest", "fare", "seats"), _table("bookings", "id", "flight", "n")
_LEFT = Arithmetic(
    "-",
    ColumnOf("seats", _INTEGER),
    Coalesce((ColumnOf("booked", _BIGINT), Constant(0, _BIGINT)), _BIGINT),
    _BIGINT,
)
_SHOWN = {"flight": _INTEGER, "dest": _INTEGER, "fare": _INTEGER}
CHAIN = (
    Stage(
        _view("booked", {"flight": _INTEGER, "booked": _BIGINT}, "flight"),
        GroupBy("bookings", ("flight",), (Aggregate("SUM", "n", _BIGINT),)),
    ),
    Stage(
        _view("both", {**_SHOWN, "seats": _INTEGER, "again": _INTEGER, "booked": _BIGINT}, "flight"),
        Joined("flights", "booked", (("flight", "flight"),), outer=True, lookup=True),
    ),
    Stage(
        _view("available", {**_SHOWN, "seats_left": _BIGINT}, "flight"),
        Map(
            "both",
            (*(ColumnOf(name, type_) for name, type_ in _SHOWN.items()), _LEFT),
            (Comparison(">=", _LEFT, Constant(1, _BIGINT)),),
        ),
    ),
    Stage(
        _view("cheapest", {**_SHOWN, "seats_left": _BIGINT}, "flight"),
        TopK("available", ("dest",), (By("fare", False, False), By("flight", False, False)), 3, False),
    ),
)


def changes(ids: I64, columns: Sequence[I64], live: Bool, cause: I64) -> ChangeBatch:
    """Return changes of the rows `ids`."""
    codes = np.stack([ids, *columns])
    keys = [b'{"id":%d}' % each for each in ids.tolist()]
    nowhere, valid = np.zeros(len(ids), np.int32), np.ones(codes.shape, np.bool_)
    return ChangeBatch(
        keys, live, codes, valid, {}, nowhere, np.zeros(len(ids), np.int64), cause=cause.astype(np.int32)
    )


@dataclass
class Stages:
    """Tables and stages over them; `apply` returns the seconds that operators took, and all."""

    tables: Sequence[Relation]
    stages: Sequence[Stage]
    held: dict[str, Table] = field(default_factory=dict)
    operators: dict[str, ViewOperator] = field(default_factory=dict)

    def __post_init__(self) -> None:
        made = [stage.relation for stage in self.stages]
        self.held = {relation.name: Table(relation) for relation in (*self.tables, *made)}
        for stage in self.stages:
            relations = [self.held[name].relation for name in stage.operator.inputs]
            self.operators[stage.relation.name] = operator_of(stage, relations)
        for name, table in self.held.items():
            table.order_by([key for stage in self.stages for key in self._needed(stage, name)])

    def _needed(self, stage: Stage, name: str) -> list[KeptOrder]:
        needs = self.operators[stage.relation.name].needs()
        return [key for of, keys in zip(stage.operator.inputs, needs, strict=True) for key in keys if of == name]

    def apply(self, batches: Mapping[str, ChangeBatch]) -> tuple[float, float]:
        """Take one batch through all stages."""
        begin, operators = time.process_time(), 0.0
        views = {name: Input(self.held[name].replay(batch), batch.cause) for name, batch in batches.items()}
        for stage in self.stages:
            inputs = [views[name] for name in stage.operator.inputs]
            before = time.process_time()
            made = self.operators[stage.relation.name].changes(inputs)
            operators += time.process_time() - before
            views[stage.relation.name] = Input(self.held[stage.relation.name].replay(made), made.cause)
        for name, view in views.items():
            self.held[name].commit(view.view)
        return operators, time.process_time() - begin


def _cost(stages: Stages, batches: Sequence[Mapping[str, ChangeBatch]], m: int) -> dict[str, float]:
    """Return the least microseconds a change."""
    operators, whole = np.min([stages.apply(batch) for batch in batches], axis=0).tolist()
    return {"operator_us": round(operators / m * 1e6, 2), "all_us": round(whole / m * 1e6, 2)}


def _group_changes(rng: np.random.Generator, kind: str, group: I64, there: Bool, m: int) -> ChangeBatch:
    rows = rng.permutation(len(group))[:m]
    live = np.ones(m, np.bool_)
    if kind == "move":
        group[rows] = rng.integers(0, group.max() + 1, m)
    elif kind == "come_and_go":
        live = ~there[rows]
        there[rows] = live
    return changes(rows, [group[rows], rng.integers(0, 10**6, m)], live, np.arange(m))


def group_by(rows: int, groups: int = 1_000) -> dict[str, dict[str, dict[str, float]]]:
    """Return batch -> kind -> costs."""
    costs: dict[str, dict[str, dict[str, float]]] = {}
    for m in BATCHES:
        for kind in KINDS:
            rng = np.random.default_rng(m)
            group, there, every = rng.integers(0, groups, rows), np.ones(rows, np.bool_), np.arange(rows)
            stages = Stages([T], [LOW_HIGH])
            stages.apply({"t": changes(every, [group, rng.integers(0, 10**6, rows)], there, every)})
            batches = [{"t": _group_changes(rng, kind, group, there, m)} for _ in range(RUNS[m])]
            costs.setdefault(str(m), {})[kind] = _cost(stages, batches, m)
    return costs


def _chain_changes(
    rng: np.random.Generator, flights: Sequence[I64], bookings: int, next_id: int, m: int
) -> dict[str, ChangeBatch]:
    """Return changes of which a twentieth gives flights other fares; of the rest half end bookings, half make new."""
    few = m // 20
    which, cause = rng.permutation(len(flights[0]))[:few], rng.permutation(m)
    fares = [flights[0][which], rng.integers(50, 900, few), flights[2][which]]
    half = (m - few) // 2
    ids = np.concatenate([rng.choice(bookings, half, replace=False), next_id + np.arange(m - few - half)])
    booked = [rng.integers(0, len(flights[0]), len(ids)), rng.integers(1, 3, len(ids))]
    live, order = np.arange(len(ids)) >= half, rng.permutation(len(ids))
    ids, live, booked = ids[order], live[order], [column[order] for column in booked]
    every = np.ones(few, np.bool_)
    return {
        "flights": changes(which, fares, every, np.sort(cause[:few])),
        "bookings": changes(ids, booked, live, np.sort(cause[few:])),
    }


def chain(flights: int = 5_000, bookings: int = 50_000) -> dict[str, dict[str, float]]:
    """Return batch -> costs."""
    costs: dict[str, dict[str, float]] = {}
    for m in BATCHES:
        rng = np.random.default_rng(m)
        columns = [rng.integers(0, top, flights) for top in (100, 900, 30)]
        booked = [rng.integers(0, flights, bookings), rng.integers(1, 3, bookings)]
        every, held = np.arange(flights), np.arange(bookings)
        stages = Stages([FLIGHTS, BOOKINGS], CHAIN)
        stages.apply(
            {
                "flights": changes(every, columns, np.ones(flights, np.bool_), every),
                "bookings": changes(held, booked, np.ones(bookings, np.bool_), flights + held),
            }
        )
        batches = [_chain_changes(rng, columns, bookings, bookings + run * m, m) for run in range(RUNS[m])]
        costs[str(m)] = _cost(stages, batches, m)
    return costs


def measure(rows: int = 50_000) -> dict[str, object]:
    """Return the tables, `view_cost`, and what has goals: all costs a change, of the dearest kind, at `rows` rows."""
    warm()
    groups = {str(each): group_by(each) for each in (rows, 10 * rows)}
    chains = {str(each): chain(each // 10, each) for each in (rows, 10 * rows)}
    return {
        "view_us": {m: max(cost["all_us"] for cost in kinds.values()) for m, kinds in groups[str(rows)].items()},
        "view_chain_us": {m: cost["all_us"] for m, cost in chains[str(rows)].items()},
        "view_cost": {"group_by": groups, "chain": chains},
    }


if __name__ == "__main__":
    print(json.dumps(measure(), indent=2))
