"""Conditions of every kind, as DuckDB judges them, against plain Python's logic of three values."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.effort import deep_examples
from tests.oracle.naive_condition import random_condition
from tidewire.verification.recompute.history import connect
from tidewire.verification.records.question import Query, parse
from tidewire.verification.records.wide_decimals import key_column, key_expression

TYPES = {
    "i": "INTEGER",
    "l": "BIGINT",
    "d": "DOUBLE",
    "b": "BOOLEAN",
    "t": "VARCHAR",
    "day": "DATE",
    "z": "DECIMAL(38,2)",
}
VALUES: dict[str, list[Any]] = {
    "i": [-1, 0, 1, 2],
    "l": [-(2**63), 0, 2**53, 2**53 + 1, 2**63 - 1],
    "d": [-1.5, 0.0, 0.5],
    "b": [False, True],
    "t": ["", "a", "ab", "aB", "b%", "\U0010ffff", "it's"],
    "day": ["2024-02-28", "2024-02-29", "2024-03-01"],
    "z": [0, 2**70, -(2**70)],
}
CONSTANTS = VALUES | {"t": ["", "a", "ab", "b", "\U0010ffff", "it's"]}
COLUMNS = list(VALUES)


def duckdb_holds(rows: list[dict[str, Any]], condition: str) -> list[int]:
    database = connect()
    columns = ", ".join(f"{name} {type}" for name, type in TYPES.items())
    database.execute(f"CREATE TABLE base ({columns}, __from BIGINT, __to BIGINT, place BIGINT)")
    marks = ", ".join("?" * (len(TYPES) + 3))
    database.executemany(f"INSERT INTO base VALUES ({marks})", [[*r.values(), 0, 1, i] for i, r in enumerate(rows)])
    key = f"{key_expression('z', 38, 2)} AS {key_column('z')}"
    database.execute(f"CREATE TABLE t AS SELECT *, {key} FROM base")
    question = parse(database, Query(f"SELECT i FROM t WHERE {condition}"), set())
    found = database.execute(question.selection(database, ["place"], TYPES)).fetchall()
    return sorted(place for _, _, place in found)


@pytest.mark.deep
@settings(max_examples=deep_examples(200), deadline=None)
@given(st.integers(0, 10**9))
def test_the_same_rows_meet_a_condition(seed: int) -> None:
    choose = random.Random(seed)
    domains = {column: CONSTANTS[column] for column in choose.sample(COLUMNS, choose.randrange(1, 4))}
    condition = random_condition(choose, domains)
    rows = [{column: choose.choice([None, *VALUES[column]]) for column in COLUMNS} for _ in range(60)]
    expected = [place for place, row in enumerate(rows) if condition.of(row) is True]
    assert duckdb_holds(rows, condition.sql()) == expected, condition.sql()


def test_members_of_a_list_are_compared_one_by_one() -> None:
    rows = [dict.fromkeys(COLUMNS) | {"l": value} for value in (2**53, 2**53 + 1, None)]
    assert duckdb_holds(rows, "l IN (9007199254740993, 1e36, 0.5)") == [1]
    assert duckdb_holds(rows, "l NOT IN (9007199254740993, -1e36)") == [0]
    assert duckdb_holds(rows, "l NOT IN (1, NULL)") == duckdb_holds(rows, "NOT l IN (NULL)") == []
    assert duckdb_holds(rows, "NOT (l = 9007199254740992 AND z = 1)") == [1]
