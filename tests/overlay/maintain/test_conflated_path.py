"""LATEST of plain answers and counts: one delivery a batch, of the last row that changed it."""

from __future__ import annotations

import numpy as np

from catalog.query.channel import channel_of
from operators.answer import Tally
from operators.control import Progress
from overlay.delivery.delivery import row_start
from overlay.maintain.conflated_path import LatestAnswers
from overlay.maintain.transitions import transitions
from tests.overlay.edge_bench import Bench
from tests.overlay.maintain.test_object_path import live, say, told

ROWS = channel_of("stock", "rows", None, (), None)


def test_steps_of_a_batch_are_told_together() -> None:
    bench = Bench()
    bench.live("a", "b", sql="SELECT MIN(price) FROM stock NOTIFY LATEST", value=5)
    bench.take()
    edge = bench.edge
    store = edge._store
    latest = LatestAnswers(store, edge._outbox, edge.counters)
    assert edge.position is not None
    start = row_start(edge.position, '"t"')
    a, b = store.slots.find_all([b"a", b"b"])[0].tolist()
    for hits in ([(a, 6, 1), (b, 6, 1), (a, 6, 2)], [(b, 5, 3), (a, 7, 4)]):
        slots, new, offset = (np.array(column, np.int64) for column in zip(*hits, strict=True))
        table = store.slots
        done = transitions(slots, new, new > 0, table.value[slots], table.known[slots], table.n[slots])
        store.move(done.slots, done.value, done.known, table.n[done.slots])
        latest.collect(slots, done, np.full(len(slots), start, np.object_), offset * 0, offset)
    latest.end(edge.position)
    latest.end(edge.position)
    (line,) = bench.lines()
    assert (line["id"], line["n"], line["old"], line["new"], line["changes"]) == ("a", 2, "0.05", "0.07", 2)
    assert line["at"]["offset"] == 4
    assert edge.counters.conflated == 3


def test_counts_are_told_at_the_end_of_a_batch() -> None:
    bench = live("SELECT COUNT(*) FROM stock NOTIFY LATEST", (Tally(2),))
    say(bench, 1, [(7, ROWS, 1, None, None), (8, ROWS, 1, None, None)], [(9, ROWS, -1, None, None)])
    say(bench, 2, [(10, ROWS, -1, None, None), (11, ROWS, 1, None, None)])
    bench.control(Progress(5, 3, 0, "t"))
    assert told(bench, "n", "old", "new", "changes") == [(1, None, 2, None), (2, 2, 3, 3)]
    bench.again()


def test_a_count_tells_every_change_of_its_own() -> None:
    bench = live("SELECT COUNT(*) FROM stock", (Tally(2),))
    bench.ask(1, "b", "SELECT COUNT(*) FROM stock")
    bench.take()
    bench.snapshot(1, {1: None}, parts={0: (Tally(2),)})
    bench.control(Progress(5, 1, 0, "t"))
    say(bench, 2, [(7, ROWS, 1, None, None), (8, ROWS, -1, None, None)])
    lines = [line for line in bench.lines() if line["kind"] == "change"]
    assert sorted((line["id"], line["n"], line["old"], line["new"]) for line in lines) == [
        ("a", 2, 2, 3),
        ("a", 3, 3, 2),
        ("b", 2, 2, 3),
        ("b", 3, 3, 2),
    ]
    assert list(lines[0]) == ["id", "kind", "version", "n", "old", "new", "at"]
