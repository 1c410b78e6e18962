"""How what the demo has seen is shown, with and without a terminal."""

from __future__ import annotations

import io

from rich.console import Console

from tests.tidewire.demo.test_streams_seen import CATALOG, counted
from tests.tidewire.demo.watched import changed, story, watch
from tidewire.client.records import At, Delivery
from tidewire.demo.bank import OnlyZero
from tidewire.demo.flights import delays
from tidewire.demo.view import View

STORY = story(written=delays)


def test_lines_without_a_terminal_and_a_table_with_one() -> None:
    seen = watch()
    seen.told(0, changed(7))
    plain, terminal = io.StringIO(), io.StringIO()
    for console in (Console(file=plain, width=200), Console(file=terminal, force_terminal=True, width=100, height=40)):
        with View(console, STORY) as view:
            view.show("2013-07-08 10:00", seen)
            view.show("2013-07-08 10:01", seen)
    assert plain.getvalue().count("2013-07-08") == 1, "one line in five seconds"
    assert "0001 highest JFK 100-200: 1 min -> 7 min" in plain.getvalue()
    assert "flights in the air" in terminal.getvalue() and "7 min" in terminal.getvalue()


def test_rows_and_sums_are_readable() -> None:
    seen = watch()
    at = At(1, 0, "demo.flight", 0, 0)
    late = ("UA 1 EWR 2013-07-08", "LAX", 45)
    seen.told(0, Delivery("rows", "change", 0, 2, at, removed=[], added=[late, late]))
    seen.told(0, Delivery("sums", "change", 0, 2, at, [0, None], [3, 12.345]))
    terminal = io.StringIO()
    with View(Console(file=terminal, force_terminal=True, width=120, height=40), STORY) as view:
        view.show("2013-07-08 10:00", seen)
    shown = terminal.getvalue()
    assert "UA 1 EWR 2013-07-08, LAX, 45 and 1 more" in shown
    assert "0 flights" in shown and "3 flights, 12.3 min" in shown
    plain = io.StringIO()
    seen.told(0, Delivery("rows", "change", 0, 3, at, removed=[late], added=[]))
    with View(Console(file=plain, width=200), STORY) as view:
        view.show("2013-07-08 10:00", seen)
    assert "rows: UA 1 EWR 2013-07-08, LAX, 45 -> -" in plain.getvalue()


def test_rows_of_a_list_have_their_place() -> None:
    seen = watch()
    at = At(1, 0, "demo.flight", 0, 0)
    went, came = (2, ("UA 1 EWR 2013-07-08", "LAX", 45)), (0, ("DL 2 JFK 2013-07-08", "SEA", 70))
    seen.told(0, Delivery("latest", "change", 0, 2, at, removed=[went], added=[came]))
    plain = io.StringIO()
    with View(Console(file=plain, width=200), STORY) as view:
        view.show("2013-07-08 10:00", seen)
    assert "latest: 3. UA 1 EWR 2013-07-08, LAX, 45 -> 1. DL 2 JFK 2013-07-08, SEA, 70" in plain.getvalue()


def test_kills_and_what_a_story_claims_are_shown_where_there_are_any() -> None:
    claim = OnlyZero()
    seen = watch(claim)
    seen.killed()
    seen.told(0, Delivery("0000 the total", "change", 0, 2, At(1, 0), removed=[], added=[(0, 2)]))
    plain, terminal = io.StringIO(), io.StringIO()
    for console in (Console(file=plain, width=300), Console(file=terminal, force_terminal=True, width=100, height=40)):
        with View(console, story(claim=claim)) as view:
            view.show("1 of 2", seen)
    assert "1 kills, 1 deliveries (0/s), totals told 1, other than 0 0, " in plain.getvalue()
    assert "SIGKILLs" in terminal.getvalue() and "other than 0" in terminal.getvalue()


def test_what_is_final_is_called_so_and_how_far_streams_are_stands_below() -> None:
    seen, at = watch(catalog=CATALOG), At(1, 0, upto="2013-07-08T11:00:00")
    seen.told(0, Delivery("highest", "final", 0, 3, at, 7, 7))
    seen.told(0, Delivery("airports", "final", 0, 3, at, removed=[], added=[]))
    seen.counted(counted(2, 30, 50))
    plain, terminal = io.StringIO(), io.StringIO()
    for console in (Console(file=plain, width=400), Console(file=terminal, force_terminal=True, width=200, height=40)):
        with View(console, STORY) as view:
            view.show("2013-07-08 10:00", seen)
    assert (
        "; highest, final: 7 min -> 7 min\n  s is complete to 1970-01-01T00:00:20, held back by t[0]"
        in plain.getvalue()
    )
    assert "highest, final" in terminal.getvalue() and "held back by t[0]" in terminal.getvalue()
    assert "airports" not in terminal.getvalue()
