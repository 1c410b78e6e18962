"""Net changes: of each row in each cause from what was found first to what was left last."""

from __future__ import annotations

import numpy as np

from catalog.schema.relation import Column, Relation
from operators.views.net_changes import NetChanges
from operators.views.view_operator import Input
from shard.tables import Table
from tests.operators.views.view_draws import BIGINT
from tests.operators.views.view_world import batch_of

T = Relation("t", (Column("x", BIGINT),), (), "t")


def net_of(changes: list[tuple[bytes, tuple[int] | None]], cause: list[int]) -> list[tuple[int, int, int, int]]:
    table = Table(T)
    view = table.replay(batch_of(T, changes, cause))
    net = NetChanges.of(Input(view, np.array(cause, np.int32)))
    return list(
        zip(net.cause.tolist(), net.entry.tolist(), net.before.tolist(), net.after.tolist(), strict=True)
    )  # fmt: skip


def test_each_change_a_cause() -> None:
    assert net_of([(b"a", (1,)), (b"a", (1,)), (b"a", None), (b"b", None)], [0, 1, 2, 3]) == [
        (0, 0, -1, 0),
        (2, 0, 0, -1),
    ]


def test_many_changes_of_a_cause() -> None:
    changes: list[tuple[bytes, tuple[int] | None]] = [
        (b"a", (1,)), (b"b", (2,)), (b"a", None), (b"b", (3,)), (b"b", (4,)), (b"a", (5,)),
    ]  # fmt: skip
    assert net_of(changes, [0, 0, 0, 2, 2, 2]) == [(0, 1, -1, 1), (2, 1, 1, 4), (2, 0, -1, 5)]


def test_what_comes_and_goes_in_a_cause_is_nothing() -> None:
    assert net_of([(b"a", (1,)), (b"a", None)], [7, 7]) == []
    assert net_of([], []) == []
