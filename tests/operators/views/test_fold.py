"""Fold against its twin: after every row, whatever the batches."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from catalog.schema.relation import Column, Relation
from catalog.schema.view import Aggregate, Fold, Stage
from operators.views.operators import operator_of
from operators.views.view_operator import Input
from shard.tables import Table
from tests.operators.views.view_draws import BIGINT, DOUBLE, columns_of, draw_row, sum_type, table
from tests.operators.views.view_world import batch_of, changes_of, rows_of
from tests.operators.watched import dumped, reopened
from tests.oracle.naive_fold import folded, told_of
from tests.oracle.naive_views import EXACT, Row
from tests.state.test_ordering import CALM

S = replace(table("s"), key=())


def draw_fold(rng: Random, relation: Relation, name: str) -> Stage:
    """Return a Fold over a stream, with what its aggregates need of each other."""
    by = rng.sample(columns_of(relation), rng.choice((1, 1, 2)))
    aggregates: list[Aggregate] = []
    for _ in range(rng.randint(0, 4)):
        column, kind = (
            rng.choice(columns_of(relation)),
            rng.choice(("COUNT", "ROWS", "SUM", "AVG", "MIN", "MAX", "LATEST")),
        )
        number = rng.choice(columns_of(relation, EXACT))
        if kind in ("SUM", "AVG"):
            aggregates.append(Aggregate("SUM", number.name, sum_type(number.type)))
        if kind == "AVG":
            aggregates += [Aggregate("AVG", number.name, DOUBLE), Aggregate("COUNT", number.name, BIGINT)]
        if kind == "ROWS":
            aggregates.append(Aggregate("COUNT", None, BIGINT))
        if kind == "COUNT":
            aggregates.append(Aggregate("COUNT", column.name, BIGINT))
        if kind in ("MIN", "MAX"):
            aggregates.append(Aggregate(kind, column.name, column.type))
        if kind == "LATEST":
            t = rng.choice(columns_of(relation))
            aggregates += [Aggregate("LATEST", column.name, column.type, t.name), Aggregate("MAX", t.name, t.type)]
    rng.shuffle(aggregates)
    columns = [*by, *(Column(f"{name}_{i}", each.type) for i, each in enumerate(aggregates))]
    made = Relation(name, tuple(Column(each.name, each.type) for each in columns), tuple(c.name for c in by), "")
    return Stage(made, Fold(relation.name, tuple(c.name for c in by), tuple(aggregates)))


def come(relation: Relation, rows: list[Row], cause: list[int]) -> Input:
    """Return a batch of rows of a stream."""
    batch = batch_of(relation, [(b"%d" % i, row) for i, row in enumerate(rows)], cause)
    return Input(Table(relation).pass_by(batch), batch.cause)


def play(seed: int) -> None:
    """Let a drawn stream come in drawn batches, and compare with the twin after each row."""
    rng = Random(seed)
    stage = draw_fold(rng, S, "f")
    held, operator, before = Table(stage.relation), operator_of(stage, [S]), list[Row]()
    for _ in range(rng.randint(1, 4)):
        rows = [draw_row(rng, S, 0) for _ in range(rng.randint(0, 6))]
        cause = sorted(rng.sample(range(9), len(rows)))
        own = Input(held.still(), np.zeros(0, np.int32))
        batch = operator.changes([come(S, rows, cause), own])
        twin = [(cause[place], key, row) for place, key, row in told_of(stage, S, before, rows)]
        assert changes_of(batch) == twin, stage.operator
        held.commit(held.replay(batch))
        held.check()
        assert not len(operator.rows([come(S, rows, cause), Input(held.still(), own.cause)]))
        before += rows
        if rng.random() < 0.5:
            held = reopened(held.relation, dumped(held))
    assert rows_of(held) == folded(stage, S, before)


@CALM
@given(st.integers(0, 2**32))
def test_drawn(seed: int) -> None:
    play(seed)
