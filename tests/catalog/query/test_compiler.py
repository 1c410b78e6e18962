from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.bulk.bulk_compiler import compile_all
from catalog.bulk.cut_statements import CutStatements
from catalog.query.compiler import MAX_CHARACTERS, Compiled, Compiler
from catalog.query.range_plan import REFORMULATED
from catalog.sql.errors import CellMissing, SubscriptionError
from tests.catalog import joined, refusals, viewed
from tests.catalog.sample import CATALOG, compiler
from tests.effort import examples

BASE = "SELECT MIN(price) FROM stock WHERE "

numbers = st.one_of(
    st.integers(0, 10).map(str),
    st.integers(0, 2**70).map(str),
    st.decimals(0, 1000, places=3).map(str),
    st.sampled_from(["1e5", "2.5e-3", "1E400", "0", "007", "1e", ".5", "5.", "9" * 400, "1.2.3", "0x1F", "1_0"]),
)
strings = st.one_of(
    st.sampled_from(["a", "", "it''s", "5", "2026-03-01", "2026-03-01 12:00:00", "-- x", "?", "\\", "{{a}}", "Ö", '"']),
    st.text("ab'\"\\;- /*", max_size=6).map(lambda t: t.replace("'", "''")),
).map(lambda t: f"'{t}'")
signs = st.sampled_from(["", "", "", "-", "- ", "+", "--", "- -"])
constants = st.one_of(
    st.builds(lambda s, n: s + n, signs, numbers),
    strings,
    st.builds(lambda k, s: k + s, st.sampled_from(["DATE ", "TIMESTAMP ", "N", "E", "TIMESTAMP"]), strings),
    st.sampled_from(["TRUE", "false", "NULL", "?", "x", "(5)", "-(3)"]),
)
columns = st.sampled_from(
    ["volume", "price", "risk", "exchange", "open", "day", "at", "ratio", "small", '"Lot Size"', "nope", "stock.volume"]
)
operators = st.sampled_from(["=", "<", "<=", ">", ">=", " = ", " <\n"])
conditions = st.one_of(
    st.builds(lambda c, o, k: c + o + k, columns, operators, constants),
    st.builds(lambda k, o, c: k + o + c, constants, operators, columns),
    st.builds(lambda c, a, b: f"{c} BETWEEN {a} AND {b}", columns, constants, constants),
    st.builds(lambda c, a: f"{c} between {a}and 5", columns, constants),
)
lists = st.lists(constants, min_size=1, max_size=3).map(", ".join)
wide = st.one_of(
    conditions,
    st.builds(lambda c, n, some: f"{c}{n}IN ({some})", columns, st.sampled_from([" ", " NOT "]), lists),
    st.builds(lambda c, o, k: f"{c} {o} {k}", columns, st.sampled_from(["<>", "!=", "LIKE", "NOT LIKE"]), constants),
    st.builds(lambda a: f"symbol LIKE {a} ESCAPE '!'", strings),
    st.builds(lambda c, a: f"starts_with({c}, {a})", columns, constants),
    st.builds(lambda c, n: f"{c} IS {n}NULL", columns, st.sampled_from(["", "NOT "])),
    st.sampled_from(["open", "NOT open", "volume"]),
    st.builds(lambda c: f"NOT ({c})", conditions),
)
bases = st.sampled_from(
    [BASE, BASE, "SELECT COUNT(*), SUM(price) FROM stock WHERE ", "SELECT symbol, * FROM stock WHERE "]
)
joints = st.sampled_from([" AND ", " AND ", " OR ", ") OR (", " AND NOT "])
tails = st.sampled_from(["", "", "", ";", " -- done", " LIMIT 5", "; SELECT 1", " /* 1 */"])
statements = st.builds(
    lambda base, cs, joint, tail: base + (f"({joint.join(cs)})" if ")" in joint else joint.join(cs)) + tail,
    bases, st.lists(conditions, min_size=1, max_size=3) | st.lists(wide, min_size=1, max_size=4), joints, tails,
)  # fmt: skip


def outcome(compile_: Compiler, sql: str) -> Compiled | tuple[str, str]:
    try:
        return compile_.compile(sql)
    except SubscriptionError as error:
        return error.code, str(error)


def parsed(sql: str) -> Compiled | tuple[str, str]:
    """What the parser makes of a statement, whatever the compiler knows of its parts."""
    try:
        return compiler()._compile_whole(sql, None, [])
    except SubscriptionError as error:
        return error.code, str(error)


SHARED = compiler()


@given(statements)
@settings(deadline=None, max_examples=examples(120))
def test_the_shortcut_gives_what_the_parser_gives(sql) -> None:
    expected = parsed(sql)
    assert outcome(SHARED, sql) == expected
    assert outcome(SHARED, sql) == expected


@given(st.lists(constants, min_size=6, max_size=6))
@settings(deadline=None, max_examples=examples(40))
def test_other_literals_of_a_known_template(some) -> None:
    """One compiler sees two statements with the same parts where it can."""
    warm = Compiler(CATALOG)
    for a, b, c in (some[:3], some[3:]):
        for sql in (
            f"{BASE}volume BETWEEN {a} AND {b} AND exchange = {c}",
            f"{BASE}day>={a} AND price={b} AND ratio={c};",
            f"SELECT MAX(volume) m FROM stock s WHERE {a}<s.risk AND s.at = {b} AND open = {c}",
            f"SELECT symbol FROM stock WHERE volume IN ({a}, NULL, {b}) OR NOT exchange LIKE {c} AND open",
            f"SELECT COUNT(*) FROM stock WHERE exchange LIKE {a} ESCAPE {b} AND NOT (risk BETWEEN 1 AND {c} OR open)",
        ):
            assert outcome(warm, sql) == parsed(sql)


@given(st.text(max_size=80))
@settings(deadline=None, max_examples=examples(150))
def test_no_text_raises_anything_else(sql) -> None:
    outcome(SHARED, sql)
    outcome(SHARED, BASE + sql)


GOLDEN = [sql for sql, _, _ in refusals.read("refusals_subscription.txt")]


GOLDEN_JOINS = [sql for sql, _, _ in refusals.read("refusals_join.txt")] + [
    "SELECT q.*, f.kind FROM quote AS q JOIN filing f ON q.symbol = f.symbol AND q.day = f.day WHERE q.price IN (1, 2)"
]
SHARED_JOINS = joined.compiler()
PIECES = [
    "",
    " ",
    "'",
    '"',
    "(",
    ")",
    ",",
    "AND",
    "SELECT",
    "*",
    ".",
    "\x00",
    "é",
    "::",
    "[",
    "{{",
    "JOIN",
    " ON ",
    "q.",
]


@given(st.data())
@settings(deadline=None, max_examples=examples(300))
def test_no_mutation_raises_anything_else(data) -> None:
    of_joins = data.draw(st.booleans())
    sql = data.draw(st.sampled_from(GOLDEN_JOINS) if of_joins else st.one_of(st.sampled_from(GOLDEN), statements))
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(sql)))
        end = min(len(sql), start + data.draw(st.integers(0, 8)))
        piece = data.draw(st.sampled_from(PIECES))
        sql = sql[:start] + piece + sql[end:]
    result = outcome(SHARED_JOINS if of_joins else SHARED, sql)
    if isinstance(result, tuple):
        assert result[0] in (
            "syntax",
            "unknown_table",
            "unknown_column",
            "unsupported",
            "unsupported_type",
            "type_mismatch",
            "malformed",
        )


def test_what_is_compiled_carries_type_cost_and_text() -> None:
    sql = "SELECT MAX(risk) FROM stock WHERE exchange = 'a'"
    for _ in range(2):
        compiled = SHARED.compile(sql)
        assert (str(compiled.columns[0]), compiled.cost, compiled.sql) == ("DOUBLE", REFORMULATED, sql)


def test_a_long_text_is_refused() -> None:
    for action in (compiler().compile, lambda sql: compiler().compile_template(sql, [])):
        with pytest.raises(SubscriptionError) as caught:
            action("x" * (MAX_CHARACTERS + 1))
        assert caught.value.code == "malformed"


def test_a_long_conjunction_is_fine() -> None:
    sql = BASE + " AND ".join(["volume > 5"] * 1000)
    assert compiler().compile(sql).region.lo == 6


@pytest.mark.parametrize("sql", [BASE + "exchange = 'a' AND volume > 5", BASE + "volume = 5 -- no template"])
def test_templates_are_bounded(sql) -> None:
    small = Compiler(CATALOG, max_templates=2)
    for i in range(5):
        for _ in range(2):
            small.compile(sql.replace("price)", f"price) AS a{i}"))
    assert len(small._shortcuts) == 2
    assert small.compile(sql) == compiler().compile(sql)


def test_one_template_serves_many_parameters() -> None:
    c = compiler()
    for low in range(3):
        assert c.compile_template(BASE + "volume >= ?", [low]).region.lo == low
    assert len(c._prepared) == 1


COLUMNS = ["volume", "price", "risk", "exchange", "open", "day", "at", "ratio", "wide", "small", '"Lot Size"']
CONSTANTS = ["NULL", "5", "-1.5", "'abc'", "'2026-03-01'", "TRUE", "DATE '2026-03-01'", "TIMESTAMP '2026-03-01'"]


def refused(condition: str) -> str | None:
    try:
        compiler().compile(BASE + condition)
    except SubscriptionError as error:
        return error.code
    return None


@pytest.mark.parametrize("column", COLUMNS)
def test_what_stands_beside_null_is_checked_as_it_is_alone(column) -> None:
    """With every operator, in every order, and with the parameter's NULL as with the written one."""
    c, tests = compiler(), list(product(CONSTANTS, ("=", "<", "<=", ">", ">=")))
    every = len(tests) // examples(len(tests))
    for constant, op in tests[COLUMNS.index(column) % every :: every]:
        alone = refused(f"{column} {op} {constant}")
        conditions = [
            f"{column} {op} {constant} AND {column} >= NULL",
            f"{column} <= NULL AND {constant} {op} {column}",
        ]
        if op in ("<=", ">="):
            conditions += [f"{column} BETWEEN NULL AND {constant}", f"{column} BETWEEN {constant} AND NULL"]
        for condition in conditions:
            assert refused(condition) == alone, condition
            if alone is None:
                compiled = c.compile(BASE + condition)
                assert compiled.region.empty
                template, nulls = BASE + condition.replace("NULL", "?"), condition.count("NULL")
                assert c.compile_template(template, [None] * nulls) == compiled


@pytest.mark.parametrize("condition", ["volume BETWEEN NULL AND 'a{}'", "exchange >= {} AND exchange < NULL"])
def test_the_bulk_refuses_what_stands_beside_null(condition) -> None:
    assert refused(condition.format(1)) == "type_mismatch"
    raw = [(BASE + condition.format(i)).encode() for i in range(10, 30)]
    ends = np.cumsum([len(text) for text in raw])
    statements = CutStatements.of(np.frombuffer(b"".join(raw), np.uint8), ends - len(raw[0]), ends)
    assert compile_all(compiler(), statements) == []


@pytest.mark.parametrize(
    ("sql", "columns"),
    [
        ("SELECT MAX(low) FROM low WHERE n BETWEEN 1 AND 5 AND dest = 'LHR'", ["DECIMAL(8,2)"]),
        (
            "SELECT COUNT(*), SUM(paid), AVG(n) FROM taken WHERE n > 1 OR paid IS NULL",
            [None, "DECIMAL(38,0)", "BIGINT"],
        ),
        ("SELECT COUNT(DISTINCT dest) FROM low", ["VARCHAR"]),
        ("SELECT DISTINCT low FROM low WHERE n <= 3", ["DECIMAL(8,2)"]),
        ("SELECT * FROM low WHERE dest LIKE 'L%' NOTIFY TRANSITIONS", ["VARCHAR", "DECIMAL(8,2)", "BIGINT"]),
        ("SELECT dest FROM low WHERE n = 2 ORDER BY low, dest LIMIT 3", ["VARCHAR"]),
        ("SELECT high FROM dear WHERE symbol = 'A'", ["DECIMAL(12,2)"]),
    ],
)
def test_all_kinds_of_questions_about_views(sql: str, columns: list[str | None]) -> None:
    compiled = Compiler(viewed.CATALOG).compile(sql)
    assert [None if column is None else str(column) for column in compiled.columns] == columns


def test_transitions_of_a_view_that_does_not_show_its_key_are_refused_with_what_works() -> None:
    catalog = viewed.after("CREATE VIEW bare AS SELECT low FROM low")
    with pytest.raises(SubscriptionError, match="View `bare` does not show the key of its rows"):
        Compiler(catalog).compile("SELECT low FROM bare NOTIFY TRANSITIONS")


def test_a_view_without_its_cell_is_waited_for() -> None:
    catalog = viewed.after(
        "CREATE VIEW both AS SELECT s.flight, t.paid FROM seat s JOIN taken t ON s.flight = t.flight",
        "REFUSE JOIN booked, seat BECAUSE 'too large'",
    )
    with pytest.raises(CellMissing) as refused:
        Compiler(catalog).compile("SELECT MAX(paid) FROM both")
    assert (refused.value.tables, refused.value.reason) == (("booked", "seat"), "too large")


def test_rows_of_a_view_that_does_not_show_its_key_are_not_first_in_any_order() -> None:
    catalog = viewed.after("CREATE VIEW fares AS SELECT dest, fare FROM seat")
    with pytest.raises(SubscriptionError, match="does not show the key of its rows"):
        Compiler(catalog).compile("SELECT dest FROM fares ORDER BY fare LIMIT 3")
    with pytest.raises(SubscriptionError, match="without their primary key"):
        Compiler(catalog).compile("SELECT dest FROM fares NOTIFY ENTER")
