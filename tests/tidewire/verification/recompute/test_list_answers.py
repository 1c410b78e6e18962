"""Lists of best-k over a small history, by hand and by sorting anew."""

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.effort import deep_examples
from tests.oracle.naive_database import NaiveDatabase, Order, RowsQuestion
from tests.tidewire.verification.recompute.test_history import history
from tidewire.verification.compare.same_value import led_to
from tidewire.verification.recompute.answers import answers_to
from tidewire.verification.recompute.list_answers import ListAnswers, difference
from tidewire.verification.records.question import Query, parse

DDL = "CREATE TABLE t (k INTEGER PRIMARY KEY, j VARCHAR, m DECIMAL(6,2), d DOUBLE)"
TYPES = {"k": "INTEGER", "j": "VARCHAR", "m": "DECIMAL(6,2)", "d": "DOUBLE"}
ORDERS = [
    Order(column, descending, nulls)
    for column in ("m", "d")
    for descending in (False, True)
    for nulls in ("", "FIRST", "LAST")
]


def answers(records: list[Any], sql: str) -> ListAnswers:
    made = history(records, DDL, tuple(TYPES))
    question = parse(made.database, Query(sql), set())
    found = answers_to(question.over(list(TYPES)), made, TYPES, ["k"])
    assert isinstance(found, ListAnswers)
    return found


def test_a_row_is_in_the_list_while_fewer_are_better() -> None:
    found = answers_of([(1, "5"), (2, "3"), (3, "4"), (2, "9"), (3, "4"), (2, "9.5"), (1, None)], "m DESC, k, j", 2)
    assert found == [
        (1, [["5.00"]]), (2, [["5.00"], ["3.00"]]), (3, [["5.00"], ["4.00"]]), (4, [["9.00"], ["5.00"]]),
        (6, [["9.50"], ["5.00"]]), (7, [[None], ["9.50"]]),
    ]  # fmt: skip


def answers_of(rows: list[tuple[int, Any]], order: str, limit: int) -> list[tuple[int, Any]]:
    made = answers([{"k": k, "j": "a", "m": m} for k, m in rows], f"SELECT m FROM t ORDER BY {order} LIMIT {limit}")
    return [(step.seq, [list(one) for one in made.shown(step.after)]) for step in made.steps(0, 99)]


@pytest.mark.deep
@settings(max_examples=deep_examples(60), deadline=None)
@given(st.integers(0, 10**9))
def test_every_list_is_what_sorting_gives(seed: int) -> None:
    choose = random.Random(seed)
    shown = choose.choice([("m",), ("k", "j"), ("d", "m", "d")])
    order = (*choose.sample(ORDERS, choose.randrange(3)), Order("k", choose.random() < 0.5))
    question = RowsQuestion(shown, None, order, choose.randrange(5))
    table, rows, states = NaiveDatabase(), list[Any](), list[Any]()
    for _ in range(25):
        one = {
            "k": choose.randrange(4),
            "j": "a",
            "m": choose.choice([None, "1.00", "2.00"]),
            "d": choose.choice([None, 0.0, -0.0, 1.5]),
        }
        rows.append(one)
        table.rows[one["k"]] = one
        states.append(table.exact(question))
    made = answers(rows, question.sql("t"))
    for seq, expected in enumerate(states, 1):
        assert made.shown(made.at(seq)) == expected
    told = [step.seq for step in made.steps(0, 99)]
    assert told == [i for i, (a, b) in enumerate(zip([(), *states], states, strict=False), 1) if a != b]


rows_of = st.lists(st.integers(0, 3).map(lambda n: (n,)), max_size=6).map(tuple)


@given(rows_of, rows_of)
def test_a_difference_leads_from_one_list_to_the_other(old: Any, new: Any) -> None:
    said = difference(old, new)
    assert led_to(old, said["removed"], said["added"]) == [list(one) for one in new]


def test_what_snapshots_resyncs_and_ends_say() -> None:
    made, held = ListAnswers([]), ((1,), (2,))
    assert made.first(held) == {"form": "list", "removed": [], "added": [[0, [1]], [1, [2]]]}
    assert made.between(held, held) == {"same": True, "removed": [], "added": []}
    assert made.between((), held) == made.anew(held) == {"form": "list", "whole": True, **difference((), held)}
    assert made.last(held) == {"removed": [[1, [2]], [0, [1]]], "added": []}
