"""An answer is final when no row can meet its condition any more whose window has not ended."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.bulk.bulk_compiler import compile_all
from catalog.ddl.statements import apply_ddl
from catalog.query.compiler import Compiled, Compiler
from catalog.query.finality import NEVER, end_of, gone_at
from catalog.schema.catalog import Catalog
from catalog.schema.stream import HOUR, SECOND, WINDOWS, Closing
from catalog.sql.errors import SubscriptionError
from catalog.sql.notify import Notify
from tests.catalog.bulk.test_bulk_compiler import cut
from tests.catalog.streamed import DDL, compiled
from tests.effort import examples

BEGIN = datetime(2026, 3, 2, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
FAR = datetime(9000, 1, 1, tzinfo=UTC)
TIMES = [BEGIN + timedelta(minutes=30 * i) for i in range(-4, 6)]
HOURS = [*(time for time in TIMES if time.minute == 0), FAR]
SYMBOLS, NUMBERS = (None, "a", "b"), (None, 0, 1, 2)
Row = tuple[datetime, str | None, int | None]
Met = Callable[[Row], bool | None]
COMPILER = Compiler(apply_ddl(Catalog(), DDL.replace(", 'keep'='7 days'", ""), 0))
KEPT = {text: Compiler(apply_ddl(Catalog(), DDL.replace("7 days", text), 0)) for text in ("1 s", "1 h", "90 min")}
HELD = {"1 s": HOUR + SECOND, "1 h": 2 * HOUR, "90 min": 2 * HOUR + HOUR // 2}
"""How long after the start of an hour its rows are there."""


def code(time: datetime) -> int:
    return (time - datetime(1970, 1, 1, tzinfo=UTC)) // MICROSECOND


def written(value: object) -> str:
    if isinstance(value, datetime):
        return f"TIMESTAMP '{value:%Y-%m-%d %H:%M:%S}'"
    return f"'{value}'" if isinstance(value, str) else str(value)


OPERATORS: dict[str, Callable[[object, object], bool]] = {
    "=": lambda a, b: a == b,
    "<": lambda a, b: a < b,  # type: ignore[operator]
    "<=": lambda a, b: a <= b,  # type: ignore[operator]
    ">": lambda a, b: a > b,  # type: ignore[operator]
    ">=": lambda a, b: a >= b,  # type: ignore[operator]
    "<>": lambda a, b: a != b,
}


def compares(column: int, operator: str, constant: object) -> tuple[str, Met]:
    def met(row: Row) -> bool | None:
        value = row[column]
        return None if value is None or constant is None else OPERATORS[operator](value, constant)

    return f"{('hour', 'symbol', 'n')[column]} {operator} {'NULL' if constant is None else written(constant)}", met


def under_and(sides: list[tuple[str, Met]]) -> tuple[str, Met]:
    def met(row: Row) -> bool | None:
        found = [met(row) for _, met in sides]
        return False if False in found else None if None in found else True

    return " AND ".join(f"({text})" if " OR " in text else text for text, _ in sides), met


def under_or(sides: list[tuple[str, Met]]) -> tuple[str, Met]:
    def met(row: Row) -> bool | None:
        found = [met(row) for _, met in sides]
        return True if True in found else None if None in found else False

    return " OR ".join(text for text, _ in sides), met


def negated(side: tuple[str, Met]) -> tuple[str, Met]:
    def met(row: Row) -> bool | None:
        found = side[1](row)
        return None if found is None else not found

    return f"NOT ({side[0]})", met


def constants(column: int) -> st.SearchStrategy[object]:
    return st.sampled_from((TIMES, ["a", "b"], [0, 1, 2])[column])


def comparison(column: int, operators: list[str]) -> st.SearchStrategy[tuple[str, Met]]:
    return st.builds(lambda op, value: compares(column, op, value), st.sampled_from(operators), constants(column))


RANGES = ["<", "<=", ">", ">="]
sides = st.sampled_from([0, 0, 1, 2]).flatmap(lambda column: comparison(column, list(OPERATORS)))
conditions = st.recursive(
    st.one_of(sides, sides, st.builds(compares, st.just(0), st.just("="), st.just(None))),
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=3).map(under_and),
        st.lists(inner, min_size=2, max_size=3).map(under_or),
        inner.map(negated),
    ),
    max_leaves=6,
)
plain = st.one_of(
    st.lists(st.one_of(comparison(0, [*RANGES, "="]), comparison(1, ["="])), min_size=1, max_size=4),
    st.lists(st.one_of(comparison(0, ["="]), comparison(2, [*RANGES, "="])), min_size=1, max_size=3),
).map(under_and)


def rows_that_meet(met: Met) -> list[Row]:
    return [row for row in product(HOURS, SYMBOLS, NUMBERS) if met(row) is True]


def check(sql: str, met: Met) -> None:
    end = COMPILER.compile(sql).final_at
    windows = [code(hour) + HOUR for hour, _, _ in rows_that_meet(met)]
    if end is not None:
        assert all(window <= end for window in windows), sql
    else:
        assert not windows or code(FAR) + HOUR in windows, sql
    check_kept(sql, windows)


def check_kept(sql: str, windows: list[int]) -> None:
    """Windows are those that rows can be in, by their ends: an answer of whole ones alone is final."""
    for text, compiler in KEPT.items():
        asked = compiler.compile(sql)
        gone = gone_at(closing_of(compiler, asked), asked.region)
        assert (gone is None) == (asked.final_at is None), sql
        if gone is not None and windows:
            assert gone <= min(windows) - HOUR + HELD[text], f"{sql}: {text} a row may have gone"
        if gone is not None and asked.final_at is not None:
            assert gone >= asked.final_at, f"{sql}: {text} a row may go before it is final"


def closing_of(compiler: Compiler, asked: Compiled) -> Closing | None:
    return compiler.catalog.views[asked.region.shape.relation].relation.closing


@settings(max_examples=examples(300), deadline=None)
@given(conditions, st.sampled_from(["symbol, high", "COUNT(*)", "*"]))
def test_of_filters(condition: tuple[str, Met], asked: str) -> None:
    check(f"SELECT {asked} FROM hourly WHERE {condition[0]}", condition[1])


@settings(max_examples=examples(300), deadline=None)
@given(
    plain,
    st.sampled_from(
        ["MAX(high)", "AVG(n), COUNT(*)", "COUNT(DISTINCT symbol)", "DISTINCT symbol", "symbol, hour, high"]
    ),
)
def test_of_ranges(condition: tuple[str, Met], asked: str) -> None:
    order = " ORDER BY high DESC, symbol, hour LIMIT 2" if asked.startswith("symbol, hour") else ""
    try:
        check(f"SELECT {asked} FROM hourly WHERE {condition[0]}{order}", condition[1])
    except SubscriptionError as refused:
        assert "a range over" in str(refused)


@settings(max_examples=examples(40), deadline=None)
@given(
    st.sampled_from(
        [
            "SELECT MAX(high) FROM hourly WHERE symbol = '{s}' AND hour = {a}",
            "SELECT MAX(high) FROM hourly WHERE hour = {a} AND hour = {b} AND n > {n}",
            "SELECT MAX(high) FROM hourly WHERE symbol = '{s}' AND hour > {a} AND hour < {b}",
            "SELECT MAX(high) FROM hourly WHERE symbol = '{s}'",
            "SELECT symbol, n FROM hourly WHERE n > {n} AND hour <= {a}",
            "SELECT symbol, n FROM hourly WHERE n > {n} OR hour <= {a}",
            "SELECT symbol, n FROM hourly WHERE n > {n}",
            "SELECT COUNT(*) FROM hourly WHERE hour IN ({a}, {b}) AND n < {n} NOTIFY FINAL",
            "SELECT MAX(high) FROM hourly WHERE hour = {a} AND hour = {b} NOTIFY FINAL",
            "SELECT symbol, hour, n FROM hourly WHERE hour = {a} ORDER BY n, symbol, hour LIMIT 2",
            "SELECT MAX(high) FROM daily WHERE n > {n}",
            "SELECT MAX(n) FROM symbols WHERE symbol = '{s}'",
        ]
    ),
    st.lists(st.tuples(st.sampled_from(TIMES), st.sampled_from(TIMES), st.integers(0, 3)), min_size=10, max_size=14),
)
def test_many_together_are_as_alone(form: str, chosen: list[tuple[datetime, datetime, int]]) -> None:
    texts = [form.format(s="ab"[n % 2], a=written(a), b=written(b), n=n) for a, b, n in chosen]
    for alike in compile_all(COMPILER, cut(texts)):
        ends = [NEVER] * len(alike.rows) if alike.final_at is None else alike.final_at.tolist()
        for row, end in zip(alike.rows.tolist(), ends, strict=True):
            alone = COMPILER.compile(texts[row])
            assert end == (NEVER if alone.final_at is None else alone.final_at), texts[row]


def test_a_column_whose_windows_are_longer_than_its_steps() -> None:
    """In a UNION ALL of hours and days the row of a day stands at its first hour."""
    assert end_of(Closing("hour", "day"), 5 * HOUR) == WINDOWS["day"]
    assert end_of(Closing("hour", "day"), -1) == 0


def test_the_last_window_of_all_never_ends() -> None:
    assert compiled("SELECT MAX(high) FROM hourly WHERE hour = TIMESTAMP '9999-12-31 23:00:00'").final_at is None


@pytest.mark.parametrize(
    ("where", "keeps"),
    [
        ("hour = {0}", ["1 s", "1 h", "90 min"]),
        ("hour >= {0} AND hour <= {0} AND n > 1", ["1 s", "1 h", "90 min"]),
        ("hour = {0} OR hour = {1}", ["1 h", "90 min"]),
        ("hour >= {0} AND hour <= {1}", ["1 h", "90 min"]),
        ("hour >= {0} AND hour <= {2}", []),
        ("hour <= {0}", []),
    ],
)
def test_what_spans_more_than_is_kept_is_never_final(where: str, keeps: list[str]) -> None:
    sql = "SELECT COUNT(*) FROM hourly WHERE " + where.format(*(written(BEGIN + timedelta(hours=i)) for i in range(3)))
    assert [text for text, compiler in KEPT.items() if compiler.compile(sql).final_at is not None] == keeps
    assert COMPILER.compile(sql).final_at is not None
    for text in keeps:
        asked = KEPT[text].compile(sql)
        assert gone_at(closing_of(KEPT[text], asked), asked.region) == code(BEGIN) + HELD[text]


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT MAX(high) FROM hourly WHERE symbol = 'a'", "never becomes final"),
        ("SELECT MAX(high) FROM hourly WHERE hour = NULL", "never changes"),
        ("SELECT MAX(high) FROM hourly WHERE hour >= TIMESTAMP '2026-03-02 10:00:00'", "never becomes final"),
        ("SELECT COUNT(*) FROM symbols", "rows that never become final"),
        ("SELECT COUNT(*) FROM company", "rows that never become final"),
    ],
)
def test_notify_final_of_what_never_is(sql: str, said: str) -> None:
    with pytest.raises(SubscriptionError, match=said) as refused:
        compiled(f"{sql} NOTIFY FINAL")
    assert refused.value.code == "unsupported" and refused.value.hint


def test_notify_final() -> None:
    sql = "SELECT MAX(high) FROM hourly WHERE hour = TIMESTAMP '2026-03-02 00:00:00' NOTIFY FINAL"
    found = compiled(f"{sql} TTL 90")
    assert (found.notify, found.ttl, found.final_at) == (Notify("final"), 90, code(BEGIN) + HOUR)
    with pytest.raises(SubscriptionError, match="SNAPSHOT NONE"):
        compiled(f"{sql} SNAPSHOT NONE")
