"""A subscription as its edge sees it: held back, accepted, live, and about to be replaced."""

from __future__ import annotations

from operators.reply import Digest
from overlay.delivery.delivery import Position
from tests.overlay.edge_bench import ASK, Bench
from tests.overlay.filter_bench import FilterBench, rows_of


def test_a_view_follows_the_life_of_a_subscription() -> None:
    bench = Bench()
    assert bench.edge.find(b"a") is None
    bench.ask(0, "a", "SELECT MIN(v) FROM nowhere")
    held = bench.edge.find(b"a")
    assert held is not None and (held.status, held.version, held.sql, held.at) == ("held", 0, "", None)
    bench.edge.subscription(1, b"a", None)
    bench.live("b")
    bench.ask(2, "c")
    accepted = bench.edge.find(b"c")
    assert accepted is not None and (accepted.status, accepted.n, accepted.at) == ("accepted", 0, None)
    bench.ask(3, "b", "SELECT COUNT(*) FROM stock")
    live = bench.edge.find(b"b")
    assert live is not None and (live.status, live.sql, live.answer) == ("live", ASK, "10.25")
    assert (live.n, live.at, live.replaced_by) == (1, Position(5, 0), 3)


def test_rows_have_names_from_the_beginning_and_their_number_once_they_are_live() -> None:
    bench = FilterBench()
    bench.ask(0, "a", "SELECT price, symbol FROM stock WHERE price < 9 OR symbol = 'A' NOTIFY ENTER")
    bench.ask(1, "b", "SELECT symbol FROM stock SNAPSHOT NONE")
    accepted = bench.edge.find(b"a")
    assert accepted is not None and (accepted.status, accepted.rows, accepted.form) == ("accepted", None, "bag")
    assert (accepted.columns, accepted.key) == (("price", "symbol"), (1,))
    bench.take()
    bench.answer(0, [(0, rows_of((800, "A"), (None, "A"))), (1, Digest(7, 1, 1))])
    bench.end(0)
    live, none = bench.edge.find(b"a"), bench.edge.find(b"b")
    assert live is not None and (live.status, live.rows, live.snapshot, live.key) == ("live", 2, None, (1,))
    assert none is not None and (none.rows, none.snapshot, none.columns, none.key) == (7, "none", ("symbol",), ())


def test_a_list_has_its_form_and_names_from_the_beginning_too() -> None:
    bench = FilterBench()
    bench.ask(0, "a", "SELECT price, symbol FROM stock ORDER BY price, symbol LIMIT 2")
    accepted = bench.edge.find(b"a")
    assert accepted is not None and (accepted.form, accepted.columns) == ("list", ("price", "symbol"))
    bench.take()
    bench.answer(0, [(0, rows_of((800, "A")))])
    bench.end(0)
    live = bench.edge.find(b"a")
    assert live is not None and (live.status, live.form, live.columns, live.key) == (
        "live", "list", ("price", "symbol"), (),
    )  # fmt: skip
    assert (live.rows, live.answer) == (None, [["8.00", "A"]])
