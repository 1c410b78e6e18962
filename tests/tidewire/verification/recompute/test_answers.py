"""Answers of every family over one small history, by hand."""

from fractions import Fraction
from typing import Any

import pytest

from tests.tidewire.verification.recompute.test_history import history
from tidewire.verification.recompute.answers import Answers, RowAnswers, SetAnswers, answers_to
from tidewire.verification.records.question import Query, Unreadable, parse

DDL = "CREATE TABLE \"odd name\" (k INTEGER PRIMARY KEY, m DECIMAL(6,2), d DOUBLE, v VARCHAR) WITH ('topic'='odd')"
ROWS: list[Any] = [
    {"k": 1, "m": "1.50", "d": 0.1, "v": "b"},
    {"k": 2, "m": "2.00", "d": 0.2, "v": None},
    {"k": 3, "m": None, "d": 0.3, "v": "b"},
    {"k": 1, "m": "2.50", "d": 0.1, "v": "a"},
    2,
    1,
    3,
]


def answers(select: str) -> Answers:
    made = history(ROWS, DDL, ("k", "m", "d", "v"))
    question = parse(made.database, Query(f'SELECT {select} FROM "odd name" WHERE k < 9'), set())
    return answers_to(question, made, {"k": "INTEGER", "m": "DECIMAL(6,2)", "d": "DOUBLE", "v": "VARCHAR"})


def changes(select: str) -> list[tuple[int, Any]]:
    found = answers(select)
    return [(step.seq, found.said(step)) for step in found.steps(0, 99)]


def told(select: str) -> list[tuple[int, Any]]:
    return [(seq, said["new"]) for seq, said in changes(select)]


def test_aggregates() -> None:
    assert told("COUNT(*)") == [(1, 1), (2, 2), (3, 3), (5, 2), (6, 1), (7, 0)]
    assert told("COUNT(m)") == [(1, 1), (2, 2), (5, 1), (6, 0)]
    assert told("COUNT(DISTINCT v)") == [(1, 1), (4, 2), (6, 1), (7, 0)]
    assert told("SUM(m)") == [(1, "1.50"), (2, "3.50"), (4, "4.50"), (5, "2.50"), (6, None)]
    assert told("AVG(m)") == [(1, 1.5), (2, 1.75), (4, 2.25), (5, 2.5), (6, None)]
    assert told("MAX(v)") == [(1, "b"), (7, None)]
    assert told("SUM(k)") == [(1, 1), (2, 3), (3, 6), (5, 4), (6, 3), (7, None)]


def test_a_sum_of_doubles_is_exact_until_it_is_written() -> None:
    assert told("SUM(d)") == [(1, 0.1), (2, 0.30000000000000004), (3, 0.6), (5, 0.4), (6, 0.3), (7, None)]


def test_several_items_are_one_answer() -> None:
    assert changes("COUNT(*), MIN(m), count(*)")[:2] == [
        (1, {"old": [0, None, 0], "new": [1, "1.50", 1]}),
        (2, {"old": [1, "1.50", 1], "new": [2, "1.50", 2]}),
    ]


def test_distinct_tells_what_goes_and_comes() -> None:
    assert changes("DISTINCT v") == [
        (1, {"removed": [], "added": ["b"]}),
        (2, {"removed": [], "added": [None]}),
        (4, {"removed": [], "added": ["a"]}),
        (5, {"removed": [None], "added": []}),
        (6, {"removed": ["a"], "added": []}),
        (7, {"removed": ["b"], "added": []}),
    ]
    found = answers("DISTINCT v")
    assert isinstance(found, SetAnswers)
    assert found.first(found.at(4)) == {"removed": [], "added": [None, "a", "b"]}
    assert found.between(frozenset({"x", None}), found.at(2)) == {"removed": ["x"], "added": ["b"]}


def test_states_are_exact() -> None:
    found = answers("AVG(m)")
    assert isinstance(found, RowAnswers)
    assert (found.at(0), found.at(2)) == ((None,), (Fraction(7, 4),))
    assert found.amount(found.at(2)) == Fraction(7, 4)
    minimum = answers("MIN(m)")
    assert minimum.amount(minimum.at(4)) == 2


def test_texts_cannot_be_added() -> None:
    with pytest.raises(Unreadable, match="SUM of VARCHAR"):
        answers("SUM(v)")
