"""Rows of a view are what its changes make of a table that was empty, whatever the batch does to it besides."""

from __future__ import annotations

from random import Random

from operators.views.as_inserts import as_inserts
from operators.views.net_changes import NetChanges
from operators.views.view_operator import Input
from shard.tables import Table
from tests.operators.views.view_draws import draw_row, table
from tests.operators.views.view_world import batch_of

T = table("t")


def test_rows_stand_as_before_the_batch() -> None:
    rng, held = Random(1), Table(T)
    rows = [(b"%d" % key, draw_row(rng, T, key)) for key in range(5)]
    held.commit(held.replay(batch_of(T, rows, range(5))))
    view = held.replay(batch_of(T, [(b"1", None), (b"7", draw_row(rng, T, 7)), (b"2", rows[3][1])], range(3)))
    given = as_inserts(Input(view, view.replay.cause), [((1,), None), ((2, False, True),)])
    net = NetChanges.of(given)
    assert (net.cause.tolist(), net.before.tolist(), net.after.tolist()) == ([0] * 5, [-1] * 5, [0, 1, 2, 3, 4])
    keys = view.rows.keys_of(net.entry)
    assert [keys[i] for i in range(5)] == [key for key, _ in rows]
    assert given.view.replay.codes.tolist() == held.still().replay.codes[:, :5].tolist()
    assert len(given.view.ranks(((2, False, True),)).version) == 5
    assert len(given.view.layout(((1,), None)).version) == sum(row[1] is not None for _, row in rows)
