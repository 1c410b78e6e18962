"""Filters and first rows on the past: a back-test tells the very deliveries that shards and edges tell live."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.log.publication_log import PublicationLog
from operators.answer_quota import AnswerQuota
from shard.bounds import Bounds
from tests.effort import deep_examples
from tests.tidewire.history.test_backtest import RELATION, VERSIONS, Change, filled
from tidewire.client.delivery_reader import DeliveryReader
from tidewire.client.records import Delivery, Refused
from tidewire.history.backtest import Backtest, Told
from tidewire.pure_pipeline import PurePipeline

DDL = "CREATE TABLE stock (id BIGINT PRIMARY KEY, price BIGINT)"
FACTS = ("n", "kind", "old", "new", "removed", "added", "changes", "form", "key", "snapshot")
CONDITIONS: dict[str, Callable[[int, int], bool]] = {
    "price IN (1, 3) OR id = 2": lambda id, price: price in (1, 3) or id == 2,
    "NOT price BETWEEN 1 AND 2": lambda id, price: not 1 <= price <= 2,
    "id <> 1": lambda id, price: id != 1,
    "price > 0 OR price IS NULL": lambda id, price: price > 0,
    "id IN (5, 6)": lambda id, price: False,
}
ITEMS = ["id, price", "price", "*", "price, price", "COUNT(*), SUM(price)", "AVG(price)"]
ENDS = ["", " NOTIFY LATEST", " NOTIFY TRANSITIONS", " NOTIFY ENTER", " SNAPSHOT NONE", " DELIVER PACKED"]


@st.composite
def firsts(draw: st.DrawFn) -> tuple[str, str]:
    """A statement for first rows, which has no condition of these."""
    items, where = draw(st.sampled_from(ITEMS[:4])), draw(st.sampled_from(["", " WHERE id >= 2", " WHERE price = 1"]))
    order = draw(st.sampled_from(["price, id", "price DESC, id DESC", "id", "price NULLS FIRST, id"]))
    limit, end = draw(st.integers(0, 4)), draw(st.sampled_from([*ENDS[:2], ENDS[-1]]))
    return f"SELECT {items} FROM stock{where} ORDER BY {order} LIMIT {limit}{end}", ""


@st.composite
def filters(draw: st.DrawFn) -> tuple[str, str]:
    """A statement of any condition, and that."""
    items, condition = draw(st.sampled_from(ITEMS)), draw(st.sampled_from([*CONDITIONS]))
    rows, keys = "(" not in items, items in ("id, price", "*")
    ends = [end for end in ENDS if (rows or "SNAPSHOT" not in end) and (keys or end not in ENDS[2:4])]
    return f"SELECT {items} FROM stock WHERE {condition}{draw(st.sampled_from(ends))}", condition


questions = filters() | firsts()


class Live:
    """A chain whose batches are the versions of a log."""

    def __init__(self) -> None:
        self.pipeline = PurePipeline(1)
        self.pipeline.apply(DDL)

    def publish(self, version: list[Change]) -> None:
        for key, price in version:
            value = None if price is None else json.dumps({"id": key, "price": price}).encode()
            self.pipeline.append("stock", json.dumps({"id": key}).encode(), value)
        self.pipeline.settle()

    def ask(self, sql: str) -> None:
        self.pipeline.append(self.pipeline.topics.subscriptions, b"q", msgspec.json.encode({"sql": sql}))
        self.pipeline.settle()


@pytest.mark.deep
@settings(max_examples=deep_examples(100), deadline=None)
@given(VERSIONS, questions, st.integers(0, 3))
def test_the_past_is_told_as_it_would_have_been(
    tmp_path_factory: pytest.TempPathFactory, versions: list[list[Change]], asked: tuple[str, str], begin: int
) -> None:
    sql, condition = asked
    opened, begin = PublicationLog(filled(tmp_path_factory.mktemp("log"), versions).uri), min(begin, len(versions) - 1)
    live, rows = Live(), dict[int, int]()
    for version in versions[: begin + 1]:
        live.publish(version)
        for key, price in version:
            rows.pop(key, None) if price is None else rows.update({key: price})
    live.ask(sql)
    past = Backtest(
        opened, [RELATION], msgspec.json.encode({"sql": sql}), opened.at_version(begin), opened.newest.cut, []
    )
    told = list(past.run())
    meant = [[key, price] for key, price in sorted(rows.items()) if condition and CONDITIONS[condition](key, price)]
    if condition and sql.startswith(("SELECT id, price", "SELECT *")) and "NONE" not in sql:
        assert sorted(map(list, told[0].added or ())) == meant  # type: ignore[arg-type]
    for version in versions[begin + 1 :]:
        live.publish(version)
    assert [facts(one) for one in told] == [facts(one) for one in deliveries(live)]
    assert past.publications == sum(map(len, versions[begin + 1 :]))


def deliveries(live: Live) -> list[Delivery]:
    """Return what the chain has told, as a client reads it."""
    reader, log = DeliveryReader(), live.pipeline.logs[live.pipeline.topics.deliveries][0]
    found = [one for key, value in log if value is not None for one in reader.read(key, value)]
    return [one for one in found if isinstance(one, Delivery)]


def facts(told: Told | Delivery) -> list[object]:
    """Return what is told, and the offset of what caused it."""
    return [*(getattr(told, name) for name in FACTS), told.offset if isinstance(told, Told) else told.at.offset]


def test_what_a_shard_would_have_refused_is_refused(tmp_path: Path) -> None:
    opened = PublicationLog(filled(tmp_path, [[(1, 5), (2, 5)], [(3, 1)]]).uri)
    value = msgspec.json.encode({"sql": "SELECT id FROM stock WHERE price <> 1"})
    past = partial(Backtest, opened, [RELATION], value, opened.at_version(0), opened.newest.cut, [])
    assert len(list(past().run())) == 1
    with pytest.raises(Refused, match=r"2 rows of .* meet it, expected at most 1") as caught:
        past(bounds=Bounds(whole=AnswerQuota(rows=1)))
    assert caught.value.ack_code == "quota"
