"""Composite answers and policies at an edge: one delivery a cause, told as the policy says, ended beyond the quota."""

from __future__ import annotations

import numpy as np
import pytest

from catalog.query.channel import Channel, channel_of
from operators.answer import Extremum, Members, Parts, Tally
from operators.control import EpochBegins, Progress, RegisterAll
from operators.operator import Messages
from operators.packed import Header
from overlay.answers import quota
from overlay.maintain import batch_applier
from state.order_code import INT64_MAX, INT64_MIN
from tests.operators.packing import pack_apart
from tests.overlay.edge_bench import Bench

ROWS = channel_of("stock", "rows", None, (), None)
VALUES = channel_of("stock", "values", "price", (), None)
LEAST = channel_of("stock", "min", "price", (), None)
DAYS = channel_of("stock", "distinct", "day", (), None)
SYMBOLS = channel_of("stock", "distinct", "symbol", (), None)

Said = tuple[int, Channel, int, int | None, int | None]
"""offset of the causing row, channel, rows, old, new"""


def say(bench: Bench, batch: int, *chunks: list[Said], texts: tuple[str, ...] = ()) -> None:
    """Write the chunks of a batch and its progress."""
    for chunk, said in enumerate(chunks):
        channels = list(dict.fromkeys(channel for _, channel, *_ in said))
        m, ints = len(said), lambda values: np.array([value or 0 for value in values], np.int64)
        zeros, wide = np.zeros(m, np.int32), np.array([[INT64_MIN] * m, [INT64_MAX] * m] * 2)
        offsets, _, rows, old, new = (list(column) for column in zip(*said, strict=True))
        messages = Messages(
            channels, [b"[]"], zeros, np.array([channels.index(one[1]) for one in said], np.int32), zeros, ints(rows),
            ints(old), np.array([value is not None for value in old]),
            ints(new), np.array([value is not None for value in new]), *wide, texts=list(texts),
        )  # fmt: skip
        header = Header("messages", 5, "stock/0", batch, chunk=chunk, of=len(chunks), channels=channels)
        packed = pack_apart(header, messages, np.arange(m), zeros + 3, ints(offsets))
        bench.edge.notification(bench.offset, b"stock/0", packed)
        bench.offset += 1
    bench.control(Progress(5, batch, 0, "t"))


def live(sql: str, *parts: Parts, value: int | None = None) -> Bench:
    """Return a bench with subscription `a`, answered in batch 0."""
    bench = Bench()
    bench.ask(0, "a", sql)
    bench.take()
    bench.snapshot(0, {0: value}, parts=dict(enumerate(parts)))
    bench.control(Progress(5, 0, 0, "t0"))
    return bench


def told(bench: Bench, *members: str) -> list[tuple]:
    return [tuple(line.get(name) for name in members) for line in bench.lines() if line["kind"] != "progress"]


BOTH = "SELECT COUNT(*), SUM(price), MIN(price) FROM stock"


@pytest.mark.parametrize("step", [1, 2, 4096])
def test_messages_of_one_cause_make_one_delivery_however_they_are_cut(
    step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_applier, "STEP", step)
    bench = live(BOTH, (Tally(2), Tally.of(2, 300), Extremum(100)))
    assert told(bench, "kind", "new") == [("snapshot", [2, "3.00", "1.00"])]
    first: list[Said] = [(7, ROWS, 1, None, None), (7, VALUES, 1, None, 50), (7, LEAST, 0, None, 50)]
    second: list[Said] = [(8, ROWS, -1, None, None), (8, VALUES, -1, 50, None), (8, LEAST, 0, None, 100)]
    said = [*first, *second]
    say(bench, 1, said[:2], said[2:4], said[4:])
    (one, two) = [line for line in bench.lines() if line["kind"] == "change"]
    assert list(one) == ["id", "kind", "version", "n", "old", "new", "at"]
    assert (one["n"], one["old"], one["new"]) == (2, [2, "3.00", "1.00"], [3, "3.50", "0.50"])
    assert one["at"] == {"epoch": 5, "batch": 1, "topic": "stock-topic", "partition": 3, "offset": 7}
    assert (two["n"], two["new"], two["at"]["offset"]) == (3, [2, "3.00", "1.00"], 8)
    assert bench.again().find(b"a") == bench.edge.find(b"a")


def test_a_cause_that_leaves_the_outputs_as_they_are_is_not_told() -> None:
    bench = live("SELECT AVG(price) FROM stock", (Tally.of(1, 200),))
    say(bench, 1, [(7, VALUES, 1, None, 200), (8, VALUES, 1, None, 500)])
    assert told(bench, "n", "old", "new") == [(1, None, 2.0), (2, 2.0, 3.0)]


def test_a_distinct_tells_what_came_and_went() -> None:
    bench = live("SELECT DISTINCT day FROM stock", (Members((0, None)),))
    say(bench, 1, [(7, DAYS, -1, None, None), (7, DAYS, 1, None, 1)], [(9, DAYS, -1, 0, None)])
    assert told(bench, "n", "removed", "added") == [
        (1, [], [None, "1970-01-01"]),
        (2, [None], ["1970-01-02"]),
        (3, ["1970-01-01"], []),
    ]
    view = bench.again().find(b"a")
    assert view is not None and view.answer == ["1970-01-02"]
    bench.edge.subscription(5, b"a", None)
    (ended,) = bench.lines()
    assert list(ended) == ["id", "kind", "version", "n", "removed", "added", "at", "reason"]
    assert (ended["removed"], ended["added"]) == (["1970-01-02"], [])


def test_a_resync_tells_the_difference_to_what_was_held() -> None:
    bench = live("SELECT DISTINCT day FROM stock", (Members((0, 1)),))
    bench.take()
    bench.control(EpochBegins(6, 0), RegisterAll(6, 0))
    bench.take()
    bench.snapshot(0, {0: None}, epoch=6, parts={0: (Members((1, 2)),)})
    bench.control(Progress(6, 0, 0, "t"))
    assert told(bench, "kind", "n", "removed", "added") == [("resync", 2, ["1970-01-01"], ["1970-01-03"])]


LATEST = [
    ("SELECT MIN(price) FROM stock NOTIFY LATEST", None, "3.00"),
    ("SELECT COUNT(*), MIN(price) FROM stock NOTIFY LATEST", (Tally(2), Extremum(300)), [2, "3.00"]),
]


@pytest.mark.parametrize(("sql", "parts", "first"), LATEST)
def test_latest_tells_once_a_batch_and_only_if_it_differs(sql: str, parts: Parts | None, first: object) -> None:
    bench = live(sql, *([] if parts is None else [parts]), value=300)
    assert told(bench, "new") == [(first,)]
    say(bench, 1, [(7, LEAST, 0, None, 200)], [(8, LEAST, 0, None, None), (9, LEAST, 0, None, 100)])
    say(bench, 2, [(10, LEAST, 0, None, 200), (11, LEAST, 0, None, 100)])
    (line,) = [line for line in bench.lines() if line["kind"] == "change"]
    assert list(line) == ["id", "kind", "version", "n", "old", "new", "at", "changes"]
    assert (line["n"], line["old"], line["changes"], line["at"]["offset"]) == (2, first, 3, 9)
    assert bench.edge.counters.deliveries == 2 and bench.edge.counters.conflated == 4
    bench.again()


def test_latest_of_a_distinct_tells_the_difference_to_the_batch_before() -> None:
    bench = live("SELECT DISTINCT day FROM stock NOTIFY LATEST", (Members((0,)),))
    bench.take()
    say(bench, 1, [(7, DAYS, 1, None, 1)], [(8, DAYS, -1, 1, None), (9, DAYS, 1, None, 2), (9, DAYS, -1, 0, None)])
    assert told(bench, "n", "removed", "added", "changes") == [(2, ["1970-01-01"], ["1970-01-03"], 3)]


def test_min_change_tells_what_is_far_from_what_was_told_and_keeps_the_exact_answer() -> None:
    bench = live("SELECT MIN(price) FROM stock NOTIFY MIN CHANGE 0.5", value=300)
    bench.take()
    say(bench, 1, [(7, LEAST, 0, None, 270), (8, LEAST, 0, None, 255)])
    assert told(bench, "n") == []
    view = bench.again().find(b"a")
    assert view is not None and (view.answer, view.n) == ("2.55", 1)
    say(bench, 2, [(9, LEAST, 0, None, 250), (10, LEAST, 0, None, None), (11, LEAST, 0, None, 240)])
    assert told(bench, "n", "old", "new", "changes") == [
        (2, "3.00", "2.50", 3),
        (3, "2.50", None, None),
        (4, None, "2.40", None),
    ]
    say(bench, 3, [(12, LEAST, 0, None, 230)])
    bench.control(EpochBegins(6, 0), RegisterAll(6, 0))
    bench.take()
    bench.snapshot(0, {0: 230}, epoch=6)
    bench.control(Progress(6, 0, 0, "t"))
    assert told(bench, "kind", "n", "old", "new") == [("resync", 5, "2.40", "2.30")]


def test_a_distinct_beyond_its_quota_ends_with_what_was_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quota, "MEMBERS", 2)
    bench = live("SELECT DISTINCT day FROM stock", (Members((0,)),))
    bench.take()
    say(bench, 1, [(7, DAYS, 1, None, 1), (8, DAYS, 1, None, 2), (9, DAYS, -1, 2, None)])
    out = bench.take()
    lines = [record.value or b"" for record in out["deliveries"]]
    assert b'"n":2,"removed":[],"added":["1970-01-02"]' in lines[0]
    assert b'"kind":"ended","version":0,"n":3,"removed":["1970-01-01","1970-01-02"],"added":[]' in lines[1]
    assert lines[1].endswith(b'"at":{"epoch":5,"batch":1},"reason":"quota"}')
    assert b'"status":"ended","reason":"quota"' in (out["acks"][0].value or b"")
    assert bench.edge.find(b"a") is None and bench.edge.counters.over_quota == 1
    bench.again()


def test_texts_count_by_their_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quota, "TEXT_BYTES", 12)
    bench = live("SELECT DISTINCT symbol FROM stock", (Members(("ab",)),))
    bench.take()
    say(bench, 1, [(7, SYMBOLS, 1, None, 0)], texts=("cd",))
    assert told(bench, "added") == [(["cd"],)]
    say(bench, 2, [(8, SYMBOLS, 1, None, 0)], texts=("e",))
    assert told(bench, "kind", "removed") == [("ended", ["ab", "cd"])]


def test_a_snapshot_beyond_the_quota_is_not_told_and_leaves_what_it_would_replace(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(quota, "MEMBERS", 2)
    bench = live("SELECT DISTINCT day FROM stock", (Members((0,)),))
    bench.ask(4, "a", "SELECT DISTINCT symbol FROM stock")
    bench.take()
    bench.snapshot(1, {4: None}, parts={0: (Members(("a", "b", "c")),)})
    bench.control(Progress(5, 1, 0, "t"))
    out = bench.take()
    assert [record.key for record in out["deliveries"]] == [b"@progress"]
    assert [record.value for record in out["acks"]] == [b'{"id":"a","version":4,"status":"ended","reason":"quota"}']
    view = bench.edge.find(b"a")
    assert view is not None and (view.version, view.answer) == (0, ["1970-01-01"])


def test_every_amount_may_be_another_and_no_more_than_some_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("overlay.maintain.object_path._THRESHOLDS", 4)
    bench, count = Bench(), 12
    for i in range(count):
        bench.ask(i, f"s{i}", f"SELECT MIN(price) FROM stock NOTIFY MIN CHANGE {i + 1}")
    bench.take()
    bench.snapshot(0, dict.fromkeys(range(count), 10_000))
    bench.control(Progress(5, 0, 0, "t0"))
    bench.take()
    for batch, price in ((1, 9_400), (2, 10_000)):
        say(bench, batch, [(1, LEAST, 0, None, price)])
        lines = {line["id"]: line["new"] for line in bench.lines() if line["kind"] == "change"}
        assert lines == {f"s{i}": f"{price / 100:.2f}" for i in range(6)}
    assert len(bench.edge._applier._singles._thresholds) == 4
