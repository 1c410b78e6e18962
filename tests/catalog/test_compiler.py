from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.compiler import MAX_CHARACTERS, Compiled, Compiler
from catalog.errors import SubscriptionError
from catalog.plan import REFORMULATED
from tests.catalog import refusals
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
tails = st.sampled_from(["", "", "", ";", " -- done", " LIMIT 5", "; SELECT 1", " /* 1 */"])
statements = st.builds(
    lambda cs, tail: BASE + " AND ".join(cs) + tail, st.lists(conditions, min_size=1, max_size=3), tails
)


def outcome(compile_: Compiler, sql: str) -> Compiled | tuple[str, str]:
    try:
        return compile_.compile(sql)
    except SubscriptionError as error:
        return error.code, str(error)


SHARED = compiler()


@given(statements)
@settings(deadline=None, max_examples=examples(120))
def test_the_shortcut_gives_what_the_parser_gives(sql) -> None:
    fresh = outcome(Compiler(CATALOG), sql)
    assert outcome(SHARED, sql) == fresh
    assert outcome(SHARED, sql) == fresh


@given(st.lists(constants, min_size=6, max_size=6))
@settings(deadline=None, max_examples=examples(40))
def test_other_literals_of_a_known_template(some) -> None:
    """One compiler sees two statements with the same parts where it can; a fresh one parses the second."""
    warm = Compiler(CATALOG)
    for a, b, c in (some[:3], some[3:]):
        for sql in (
            f"{BASE}volume BETWEEN {a} AND {b} AND exchange = {c}",
            f"{BASE}day>={a} AND price={b} AND ratio={c};",
            f"SELECT MAX(volume) m FROM stock s WHERE {a}<s.risk AND s.at = {b} AND open = {c}",
        ):
            assert outcome(warm, sql) == outcome(Compiler(CATALOG), sql)


@given(st.text(max_size=80))
@settings(deadline=None, max_examples=examples(150))
def test_no_text_raises_anything_else(sql) -> None:
    outcome(SHARED, sql)
    outcome(SHARED, BASE + sql)


GOLDEN = [sql for sql, _, _ in refusals.read("refusals_subscription.txt")]


@given(st.data())
@settings(deadline=None, max_examples=examples(200))
def test_no_mutation_raises_anything_else(data) -> None:
    sql = data.draw(st.one_of(st.sampled_from(GOLDEN), statements))
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(sql)))
        end = min(len(sql), start + data.draw(st.integers(0, 8)))
        piece = data.draw(
            st.sampled_from(["", " ", "'", '"', "(", ")", ",", "AND", "SELECT", "*", ".", "\x00", "é", "::", "[", "{{"])
        )
        sql = sql[:start] + piece + sql[end:]
    result = outcome(SHARED, sql)
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
        small.compile(sql.replace("price)", f"price) AS a{i}"))
    assert len(small._shortcuts) == 2
    assert small.compile(sql) == compiler().compile(sql)


def prepared(condition: str, *parameters: object) -> Compiled:
    return compiler().compile_template(BASE + condition, list(parameters))


@pytest.mark.parametrize(
    ("condition", "parameters", "sql"),
    [
        ("exchange = ? AND risk BETWEEN ? AND ?", ["it's", 0.1, 3], "exchange = 'it''s' AND risk BETWEEN 0.1 AND 3"),
        ("price > ?", ["10.25"], "price > 10.25"),
        ("price > ?", [10.25], "price > 10.25"),
        ("price > ?", [Decimal("10.25")], "price > 10.25"),
        ("price > -?", [-5], "price > - -5"),
        ("price > -?", ["-5"], "price > - -5"),
        ("price > - ?", [5], "price > - 5"),
        ("volume = ? AND open = ?", [2**63 - 1, True], "volume = 9223372036854775807 AND open = TRUE"),
        ("volume = ?", [None], "volume = NULL"),
        ("volume = ?", [2**70], "volume = 1180591620717411303424"),
        (
            "day >= ? AND at = ?",
            ["2026-03-01", "2026-03-01T12:00:00"],
            "day >= '2026-03-01' AND at = '2026-03-01T12:00:00'",
        ),
        ("day >= DATE '2026-03-01' AND exchange = ?", ["?"], "day >= DATE '2026-03-01' AND exchange = '?'"),
        ("exchange = '?' AND volume < ?", [5], "exchange = '?' AND volume < 5"),
        ("? >= volume", [5], "5 >= volume"),
        ("volume = 5", [], "volume = 5"),
        ("risk = ?", [1e-7], "risk = 1e-07"),
    ],
)
def test_prepared_subscriptions_are_the_same_as_written_out(condition, parameters, sql) -> None:
    compiled = prepared(condition, *parameters)
    assert compiled.sql == BASE + sql
    assert compiled == compiler().compile(compiled.sql)


def test_one_template_serves_many_parameters() -> None:
    c = compiler()
    for low in range(3):
        assert c.compile_template(BASE + "volume >= ?", [low]).region.lo == low
    assert len(c._prepared) == 1


@pytest.mark.parametrize(
    ("condition", "parameters", "code", "message"),
    [
        ("volume = ?", [], "malformed", "has 1 `?`, and 0 values"),
        ("volume = ? AND price < ?", [1, 2, 3], "malformed", "has 2 `?`, and 3 values"),
        ("volume = ?", [[1]], "malformed", "expected null, a boolean"),
        ("volume = ?", [float("nan")], "malformed", "finite"),
        ("volume = ?", ["5"], "type_mismatch", "`volume` is BIGINT and cannot be compared with a string"),
        ("exchange = ?", [5], "type_mismatch", "cannot be compared with a number"),
        ("price = ?", ["cheap"], "type_mismatch", "cannot be compared with a string"),
        ("exchange = -?", ["5"], "type_mismatch", "cannot be compared with a string"),
        ("open = -?", [True], "type_mismatch", "cannot be compared with a boolean"),
        ("day = ?", ["2026-02-30"], "type_mismatch", "no day 2026-02-30"),
        ("day = DATE ?", ["2026-02-03"], "syntax", "`?`"),
        ("? = ?", [1, 1], "unsupported", "parameter"),
        ("nope = ?", [1], "unknown_column", "`nope`"),
        ("volume = :a", [1], "unsupported", "parameter"),
        ("volume = ? LIMIT ?", [1, 1], "unsupported", "LIMIT"),
    ],
)
def test_refused_templates(condition, parameters, code, message) -> None:
    with pytest.raises(SubscriptionError) as caught:
        prepared(condition, *parameters)
    assert caught.value.code == code
    assert message in caught.value.what


def test_a_mismatch_underlines_its_parameter() -> None:
    template = BASE + "exchange = ? AND volume = ?"
    with pytest.raises(SubscriptionError) as caught:
        compiler().compile_template(template, ["a", "b"])
    assert caught.value.start == len(template) - 1


scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.just("2026-03-01"),
    st.decimals(),
    st.just([]),
)


@given(
    st.sampled_from(["volume", "price", "risk", "exchange", "open", "day", "at", "ratio", "wide"]), operators, scalars
)
@settings(deadline=None, max_examples=examples(200))
def test_any_parameter_compiles_as_written_or_is_refused(column, operator, value) -> None:
    try:
        compiled = SHARED.compile_template(f"{BASE}{column} {operator} ?", [value])
    except SubscriptionError as error:
        assert error.code in ("malformed", "type_mismatch", "unsupported_type")
        return
    assert SHARED.compile(compiled.sql) == compiled
