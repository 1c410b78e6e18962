"""Looks: asked under negative versions, answered behind a delivery, and over with whatever they were about."""

from __future__ import annotations

import pytest

from operators.control import EpochBegins
from operators.reply import Later, Refused
from overlay.delivery.delivery import Position
from overlay.subscriptions import bag_looks
from overlay.subscriptions.bag_looks import Denied, LookedRows, LookRefused
from tests.overlay.filter_bench import FilterBench, rows_of, stock

ALL = "SELECT symbol, price FROM stock"
A, B = ("a", 600), ("b", None)


def begun(sql: str = ALL) -> FilterBench:
    bench = FilterBench()
    bench.start(sql, A)
    bench.take()
    return bench


def test_rows_are_those_behind_the_last_delivery_and_change_nothing() -> None:
    bench = begun()
    assert bench.edge.look(-7, b"a") is None and bench.edge.looked() == []
    (registered,) = bench.registered()
    assert registered.versions == [-7] and not registered.asked
    bench.images(1, (None, stock("b")))
    bench.end(1)
    bench.answer(2, [(-7, rows_of(B, last=False))], chunk=0, of=3)
    bench.answer(2, [(-7, rows_of(A))], chunk=1, of=3)
    bench.images(2, (None, stock("c")), chunk=2, of=3)
    bench.end(2)
    assert bench.edge.looked() == [(-7, LookedRows(0, 2, Position(5, 1), ALL, ['["a","6.00"]', '["b",null]'], ()))]
    assert bench.edge.counters.stale_snapshots == 0 and bench.edge.looked() == []
    bench.edge.check()
    bench.take()
    bench.again()


def test_what_can_not_be_looked_at() -> None:
    bench = begun()
    assert bench.edge.look(-1, b"nobody") is Denied.UNKNOWN
    bench.ask(1, "sum", "SELECT SUM(price) FROM stock WHERE price <> 1")
    assert bench.edge.look(-1, b"sum") is Denied.NO_BAG
    bench.ask(2, "waits", ALL)
    assert bench.edge.look(-1, b"waits") is Denied.NOT_NOW
    assert bench.edge.look(-1, b"a") is None and bench.edge.look(-2, b"a") is Denied.NOT_NOW
    bench.edge.forget_look(-1)
    assert bench.edge.look(-2, b"a") is None


def test_so_many_look_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bag_looks, "MOST", 1)
    bench = begun()
    bench.ask(1, "b", ALL)
    bench.answer(1, [(1, rows_of(A))])
    bench.end(1)
    assert bench.edge.look(-1, b"a") is None and bench.edge.look(-2, b"b") is Denied.NOT_NOW


def test_a_shard_may_refuse_or_have_no_time() -> None:
    bench = begun()
    bench.edge.look(-1, b"a")
    bench.answer(1, [(-1, Refused("quota", "many"))])
    bench.end(1)
    bench.edge.look(-2, b"a")
    bench.answer(2, [(-2, Later()), (-99, rows_of(A))])
    bench.end(2)
    assert bench.edge.looked() == [(-1, LookRefused("quota", "many")), (-2, None)]


def test_a_look_is_over_with_its_epoch_and_its_slot() -> None:
    bench = begun()
    bench.edge.look(-1, b"a")
    bench.ask(1, "a", ALL)
    bench.answer(1, [(1, rows_of(B)), (-1, rows_of(A))])
    bench.end(1)
    assert bench.edge.looked() == [(-1, None)]
    bench.edge.look(-2, b"a")
    bench.control(EpochBegins(6, 0))
    assert bench.edge.looked() == [(-2, None)]
    bench.edge.look(-3, b"a")
    assert bench.edge.look(-3, b"a") is Denied.NOT_NOW and not bench.registered()


def test_rows_told_by_key_say_where_it_is() -> None:
    bench = begun(ALL + " NOTIFY ENTER SNAPSHOT NONE")
    bench.edge.look(-1, b"a")
    bench.take()
    bench.answer(1, [(-1, rows_of(A))])
    bench.end(1)
    ((_, seen),) = bench.edge.looked()
    assert isinstance(seen, LookedRows) and seen.keys == (0,)
