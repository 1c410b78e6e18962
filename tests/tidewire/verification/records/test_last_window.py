"""The least and greatest moment that a condition allows, against every moment of a small domain."""

import datetime as dt
import json
import random

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.effort import examples
from tidewire.verification.records.last_window import moments_of
from tidewire.verification.records.question import Unreadable

DATABASE = duckdb.connect()
ORIGIN = dt.datetime(1970, 1, 1)


def where(text: str) -> object:
    [(tree,)] = DATABASE.execute("SELECT json_serialize_sql(?)", [f"SELECT 1 FROM t WHERE {text}"]).fetchall()
    return json.loads(tree)["statements"][0]["node"]["where_clause"]


def moment(day: int) -> str:
    return f"TIMESTAMP '{ORIGIN + dt.timedelta(days=day)}'"


def condition(choose: random.Random, depth: int) -> str:
    if depth and choose.random() < 0.6:
        two = f" {choose.choice(['AND', 'OR'])} ".join(f"({condition(choose, depth - 1)})" for _ in range(2))
        return f"NOT ({two})" if choose.random() < 0.3 else two
    one, other = moment(choose.randrange(5)), moment(choose.randrange(5))
    comparison = choose.choice(["=", "<", "<=", ">", ">=", "<>"])
    return choose.choice([
        f"h {comparison} {one}", f"{one} {comparison} h", f"h BETWEEN {one} AND {other}", f"h IN ({one}, {other})",
        "h IS NULL", "h IS NOT NULL", f"h NOT IN ({one})", "h = '1970-01-03'",
    ])  # fmt: skip


@settings(max_examples=examples(60), deadline=None)
@given(st.integers(0, 10**9))
def test_they_are_the_first_and_last_moment_that_meet_it(seed: int) -> None:
    text = condition(random.Random(seed), 3)
    step = dt.timedelta(microseconds=1)
    beyond = ORIGIN + dt.timedelta(days=9)
    tried = [ORIGIN + dt.timedelta(days=day) + step * beside for day in range(-1, 6) for beside in (-1, 0, 1)]
    rows = ", ".join(f"(TIMESTAMP '{one}')" for one in [*tried, beyond])
    found = f"SELECT min(h), max(h) FROM (VALUES {rows}) AS t(h) WHERE {text}"
    [(least, last)] = DATABASE.execute(found).fetchall()
    first = ORIGIN - dt.timedelta(days=1) + step  # whoever is met there is met by all before, or by none
    expected = None if last in (None, beyond) or last <= first else (last - ORIGIN) // step
    moments = moments_of(where(text), "h", ())
    assert (moments and moments[1]) == expected, text
    if moments is not None:
        before_all = least <= first and moments[0] < -(2**63)
        assert before_all or moments[0] == (least - ORIGIN) // step, text


def test_other_columns_may_be_anything() -> None:
    day = 86_400_000_000
    assert moments_of(where(f"h = {moment(1)} AND g = 'a'"), "h", ()) == (day, day)
    assert moments_of(where(f"h = {moment(1)} OR g = 'a'"), "h", ()) is None
    either = f"(h = {moment(1)} AND g = 1) OR (h < {moment(3)} AND h > {moment(0)} AND n > 2)"
    assert moments_of(where(either), "h", ()) == (1, 3 * day - 1)
    assert moments_of(where("h BETWEEN $1 AND $2"), "h", ("1970-01-02", "1970-01-03")) == (day, 2 * day)
    assert moments_of(None, "h", ()) is None


def test_what_is_no_moment_is_unreadable() -> None:
    with pytest.raises(Unreadable):
        moments_of(where("h = g"), "h", ())
