"""Ends of slots: none costs nothing, those that are due come by when and by version, free slots have none."""

from __future__ import annotations

import numpy as np

from overlay.table.expiry_column import ExpiryColumn
from state.order_code import INT64_MAX

NEVER = INT64_MAX


def test_without_ends_nobody_is_ever_due() -> None:
    column = ExpiryColumn()
    column.reserve(3)
    column.set(np.arange(3), NEVER)
    assert column.of(np.arange(3)).tolist() == [NEVER] * 3
    assert not len(column.due(NEVER - 1, np.zeros(3, np.int64))) and column.after(0) == NEVER


def test_those_that_are_due_come_in_the_order_of_their_ends() -> None:
    column = ExpiryColumn()
    column.reserve(5)
    column.set(np.array([0, 1, 2]), np.array([20, 10, 10]))
    column.reserve(100)
    column.set(np.array([99]), 30)
    versions = np.arange(100)[::-1]
    assert column.due(20, versions).tolist() == [2, 1, 0] and column.after(20) == 30
    column.forget(np.array([2, 99]))
    assert column.due(30, versions).tolist() == [1, 0] and column.of(np.array([99, 50])).tolist() == [NEVER] * 2
