"""Versions of several tables, joined as intervals."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from tests.tidewire.verification.scratch import SCRATCH
from tidewire.verification.input.cell_ordering import cell_sequence
from tidewire.verification.input.declared import Declared
from tidewire.verification.input.declared_cells import Cell
from tidewire.verification.input.ordering import Sequence
from tidewire.verification.input.rows import Rows
from tidewire.verification.recompute.bag_answers import BagAnswers
from tidewire.verification.recompute.history import build_cell, connect
from tidewire.verification.recompute.joined_answers import joined_answers
from tidewire.verification.records.join_question import JoinQuestion
from tidewire.verification.records.journal import Record
from tidewire.verification.records.question import Query, Unreadable, parse

DDL = """CREATE TABLE t (k INTEGER PRIMARY KEY, n DECIMAL(6,3), l BIGINT, w DECIMAL(38,2), v VARCHAR);
CREATE TABLE "Odd u" (k INTEGER PRIMARY KEY, d DOUBLE, r REAL, w DECIMAL(38,4), day DATE)
  WITH ('topic'='u')"""


def answers(sql: str, *records: tuple[str, dict[str, Any]], params: tuple[Any, ...] = ()) -> BagAnswers:
    """Return the answer over rows, each a record of a table with a seq of its own; a key alone is a delete."""
    tables = Declared([Record(0, 0, 0, None, DDL.encode())], scratch=SCRATCH).at(0)
    taken = {name: Sequence(1, table) for name, table in tables.items()}
    for seq, (name, row) in enumerate(records, 1):
        value = json.dumps(row).encode() if len(row) > 1 else None
        record = Record(0, seq, seq, b"%d" % row["k"], value)
        taken[name].add(0, tables[name], [record])
    sequence = cell_sequence(Cell(tuple(sorted(tables)), 0), taken, 0)
    question = parse(SCRATCH, Query(sql, params), set())
    assert isinstance(question, JoinQuestion)
    named = question.named([[c.name.lower() for c in tables[source.table].columns] for source in question.sources])
    histories = build_cell(connect(), sequence, Rows(), question.mentioned())
    return joined_answers(question, named, [tables[source.table] for source in question.sources], histories)


def steps(made: BagAnswers) -> list[tuple[int, list[Any], list[Any]]]:
    return [(s.seq, *(sorted(made.shown(side).elements()) for side in (s.before, s.after))) for s in made.steps(0, 99)]


def t(k: int, **columns: Any) -> tuple[str, dict[str, Any]]:
    return "t", {"k": k} | columns


def u(k: int, **columns: Any) -> tuple[str, dict[str, Any]]:
    return "odd u", {"k": k} | columns


JOIN = 'FROM t JOIN "Odd u" u ON'


def test_pairs_hold_as_long_as_both_rows_do() -> None:
    made = answers(f"SELECT t.k, u.k {JOIN} t.l = u.k", t(1, l=7), u(7, d=1), u(7, d=2), t(2, l=7), u(7), t(1, l=3))
    assert steps(made) == [(2, [], [(1, 7)]), (4, [], [(2, 7)]), (5, [(1, 7), (2, 7)], [])]
    assert made.shown(made.at(4)) == Counter([(1, 7), (2, 7)]) and not made.at(5)


def test_what_is_not_shown_is_no_change_and_rows_that_are_shown_alike_count() -> None:
    made = answers(f"SELECT u.d {JOIN} t.l = u.k", u(7, d=1), t(1, l=7), t(2, l=7), t(2, l=7, v="x"), u(7, d=1.5))
    assert steps(made) == [(2, [], [(1.0,)]), (3, [], [(1.0,)]), (5, [(1.0,), (1.0,)], [(1.5,), (1.5,)])]


def test_a_row_of_a_self_join_pairs_with_itself_once() -> None:
    made = answers("SELECT a.k, b.k FROM t a JOIN t b ON a.l = b.l WHERE a.v > 'm'", t(1, l=1, v="z"), t(2, l=1, v="a"))
    assert steps(made) == [(1, [], [(1, 1)]), (2, [], [(1, 2)])]


def test_numbers_of_different_types_are_equal_as_exact_numbers() -> None:
    rows = [
        u(1, d=0.1, r=0.1),
        u(2, d=0.5, r=0.5),
        u(3, d=2.0**53),
        t(1, n="0.1", l=2**53 + 1),
        t(2, n="0.50", l=2**53),
    ]
    assert steps(answers(f"SELECT t.k, u.k {JOIN} t.n = u.d", *rows)) == [(5, [], [(2, 2)])]
    assert steps(answers(f"SELECT t.k, u.k {JOIN} u.r = t.n", *rows)) == [(5, [], [(2, 2)])]
    assert steps(answers(f"SELECT t.k, u.k {JOIN} t.l = u.d", *rows)) == [(5, [], [(2, 3)])]


def test_long_decimals_are_equal_and_compared_exactly() -> None:
    nines = "9" * 34
    rows = [t(1, w=f"{nines}.5"), u(1, w=f"{nines}.5000"), u(2, w=f"{nines}.5001"), u(3, w=None), t(2, w=None)]
    assert steps(answers(f"SELECT t.k, u.k {JOIN} t.w = u.w", *rows)) == [(2, [], [(1, 1)])]
    asked = f"SELECT t.k, u.k {JOIN} t.w = u.w WHERE u.w > {nines}.50004 AND t.w < ?"
    assert steps(answers(asked, *rows, params=(5,))) == []
    assert steps(answers(f"SELECT t.k, u.k {JOIN} t.w = u.w WHERE u.w > {nines}.49996", *rows)) == [(2, [], [(1, 1)])]


def test_conditions_over_both_tables_and_parameters() -> None:
    rows = [t(1, l=1, v="a"), u(1, d=1.0, day="2024-02-29"), t(2, l=1, v="b"), u(1, d=2.0, day="2024-02-29")]
    asked = f"SELECT t.k {JOIN} t.l = u.k WHERE NOT (t.v = ? OR u.d > ?) AND u.day < '2024-02-29 12:00:00'"
    assert steps(answers(asked, *rows, params=("a", 1))) == [(3, [], [(2,)]), (4, [(2,)], [])]


def test_what_cannot_be_compared_is_unreadable() -> None:
    with pytest.raises(Unreadable):
        answers(f"SELECT t.k {JOIN} t.v = u.k", t(1, v="1"), u(1, d=1))
