"""Expressions: what the draws of `test_map_rows.py` may not reach."""

from __future__ import annotations

import numpy as np

from catalog.schema.view import Arithmetic, Coalesce, ColumnOf, Constant, Expression, Truncated
from operators.views.expressions import evaluate
from shard.tables import Table
from state.order_code import code_of_double
from tests.operators.views.test_row_values import listed
from tests.operators.views.view_draws import BIGINT, DATE, DAY_US, DOUBLE, LONG, SHORT, TIMESTAMP, WIDE, table
from tests.operators.views.view_world import batch_of

T = table("t")
MOST, LEAST = 2**63 - 1, -(2**63)


def of(expression: Expression, **values: int | str) -> int | str | None:
    held = Table(T)
    row = tuple(values.get(column.name, 1 if column.name == "id" else None) for column in T.columns)
    held.commit(held.replay(batch_of(T, [(b"1", row)], [0])))
    (found,) = listed(evaluate(expression, held.still(), np.zeros(1, np.int64)))
    return found


X, D, W = ColumnOf("x", BIGINT), ColumnOf("d", DOUBLE), ColumnOf("w", WIDE)


def test_nothing_overflows() -> None:
    assert of(Arithmetic("+", X, X, LONG), x=MOST) == str(2 * MOST)
    assert of(Arithmetic("-", Constant(0, BIGINT), X, LONG), x=LEAST) == str(2**63)
    assert of(Arithmetic("*", X, X, LONG), x=LEAST) == str(2**126)


def test_null_is_null() -> None:
    assert of(Arithmetic("+", X, Constant(None, BIGINT), LONG), x=1) is None
    assert of(Coalesce((X, Constant(5, BIGINT)), BIGINT)) == 5


def test_scales_meet() -> None:
    short = Constant(-25, SHORT)
    assert of(Arithmetic("+", W, short, WIDE), w="1.00") == "0.75"
    assert of(Coalesce((W, short), WIDE)) == "-0.25"


def test_moments_before_1970_are_cut_down() -> None:
    moment = ColumnOf("ts", TIMESTAMP)
    assert of(Truncated("hour", moment, TIMESTAMP), ts=-1) == -3_600_000_000
    assert of(Truncated("day", moment, DATE), ts=-DAY_US - 1) == -2
    assert of(Truncated("day", ColumnOf("day", DATE), TIMESTAMP), day=-1) == -DAY_US
    assert of(Truncated("minute", moment, TIMESTAMP)) is None


def test_an_exact_number_beside_a_double_is_its_nearest() -> None:
    sum_ = Arithmetic("+", X, Constant(0, DOUBLE), DOUBLE)
    assert of(sum_, x=2**53 + 1) == code_of_double(2.0**53)
    assert of(Coalesce((D, X), DOUBLE), x=2**53 + 3) == code_of_double(2.0**53 + 4)
