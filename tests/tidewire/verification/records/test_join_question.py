"""Questions of joins, taken apart by DuckDB's tree."""

from __future__ import annotations

import pytest

from tests.tidewire.verification.scratch import SCRATCH
from tidewire.verification.records.join_question import JoinQuestion, NoSuchName, Shown, Source, flat
from tidewire.verification.records.question import Query, Unreadable, parse

COLUMNS = [["k", "x", "at"], ["k", "y"], ["k", "x"]]


def question(sql: str, *params: object) -> JoinQuestion:
    found = parse(SCRATCH, Query(sql, params), {"at"})
    assert isinstance(found, JoinQuestion)
    return found


def test_sources_conditions_and_what_is_shown() -> None:
    asked = question(
        "SELECT r.X, Y, at FROM A AS r INNER JOIN b ON b.k = r.k WHERE x > 3 AND (y = 1 OR y IS NULL) TTL 5"
    )
    assert asked.sources == (Source("a", "r"), Source("b", "b")) and asked.tables == ("a", "b")
    assert asked.shown == (Shown("r", "x"), Shown(None, "y"), Shown(None, "at"))
    assert asked.policy.ttl == 5 and not asked.starred
    named = asked.named(COLUMNS[:2])
    assert named.shown == ((0, "x"), (1, "y"), (0, "at"))
    assert named.equalities == [((1, "k"), (0, "k"))]
    assert [len(named.about(source)) for source in (0, 1)] == [1, 1] and named.across == []


def test_an_equality_of_where_is_one_of_on() -> None:
    asked = question("SELECT a.k FROM a JOIN b ON a.k = b.k JOIN c ON c.k = 1 WHERE (c.x = a.x AND b.y = c.k)")
    named = asked.named(COLUMNS)
    assert [tuple(map(flat, pair)) for pair in named.equalities] == [("0.k", "1.k"), ("2.x", "0.x"), ("1.y", "2.k")]
    assert len(named.about(2)) == 1
    assert asked.mentioned() == {"k", "x", "y"}


def test_conditions_over_two_tables_are_across() -> None:
    named = question("SELECT a.k FROM a JOIN b ON a.k = b.k WHERE NOT (a.x > 1 OR y > 2) AND 1 = 1").named(COLUMNS[:2])
    assert len(named.across) == 2 and named.about(0) == []


def test_stars_show_all_columns_in_the_order_of_from() -> None:
    assert question("SELECT *, b.k FROM b JOIN a ON a.k = b.k").named([COLUMNS[1], COLUMNS[0]]).shown == (
        (0, "k"), (0, "y"), (1, "k"), (1, "x"), (1, "at"), (0, "k"),
    )  # fmt: skip
    assert question("SELECT s.* FROM a r JOIN a s ON r.x = s.k").named([["k"], ["k", "x"]][::-1]).shown == ((1, "k"),)


@pytest.mark.parametrize("item", ["k", "nothing", "b.x", "c.k", "d.*"])
def test_names_that_no_source_or_two_have(item: str) -> None:
    with pytest.raises(NoSuchName):
        question(f"SELECT {item} FROM a JOIN b ON a.k = b.k").named(COLUMNS[:2])


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a.k FROM a LEFT JOIN b ON a.k = b.k",
        "SELECT a.k FROM a, b WHERE a.k = b.k",
        "SELECT a.k FROM a CROSS JOIN b",
        "SELECT a.k FROM a JOIN b USING (k)",
        "SELECT a.k FROM a NATURAL JOIN b",
        "SELECT COUNT(*) FROM a JOIN b ON a.k = b.k",
        "SELECT DISTINCT a.k FROM a JOIN b ON a.k = b.k",
        "SELECT a.k FROM a JOIN b ON a.k = b.k ORDER BY a.k LIMIT 1",
        "SELECT a.k FROM a JOIN a ON a.k = a.x",
        "SELECT a.k FROM a JOIN (SELECT 1 AS k) b ON a.k = b.k",
        "SELECT * EXCLUDE (k) FROM a JOIN b ON a.k = b.k",
        "SELECT a.k + 1 FROM a JOIN b ON a.k = b.k",
    ],
)
def test_what_is_no_question_of_a_join(sql: str) -> None:
    with pytest.raises(Unreadable):
        parse(SCRATCH, Query(sql), set())
