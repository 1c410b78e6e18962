"""The SQL that a template says with its parameters asks the same, for all templates and parameters that are taken."""

import re
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.query.compiler import Compiled, Compiler
from catalog.sql.errors import SubscriptionError
from tests.catalog.sample import CATALOG, compiler
from tests.effort import deep_examples, examples

BASE = "SELECT MIN(price) FROM stock WHERE "
COLUMNS = ["volume", "price", "risk", "exchange", "open", "day", "at", "ratio", "wide", "small", '"Lot Size"']
operators = st.sampled_from(["=", "<", "<=", ">", ">=", " = ", " <\n"])


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
        ("volume > -?", [None], "volume >  NULL"),
        ("- ( -?) < volume", [None], "  (  NULL) < volume"),
        ("exchange = -?", [None], "exchange =  NULL"),
        (
            "risk between?and-?AND volume=?AND exchange=?",
            [1, None, None, "x"],
            "risk between 1 and NULL AND volume=NULL AND exchange='x'",
        ),
        ("price BETWEEN ? AND ?", [None, "1e3"], "price BETWEEN NULL AND 1e3"),
        ("exchange = ? AND sector >= ?", ["-- '", ";/*"], "exchange = '-- ''" + "' AND sector >= ';/*'"),
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
@pytest.mark.parametrize("base", [BASE, "SELECT *, symbol FROM stock WHERE "])
def test_prepared_subscriptions_are_the_same_as_written_out(base, condition, parameters, sql) -> None:
    compiled = compiler().compile_template(base + condition, list(parameters))
    assert compiled.sql == base + sql
    assert compiled == compiler().compile(compiled.sql)


@pytest.mark.parametrize(
    ("condition", "parameters", "sql"),
    [
        ("volume IN (?, 5, -?)", [1, None], "volume IN (1, 5,  NULL)"),
        ("volume NOT IN(?,?)", [1, -2], "volume NOT IN(1,-2)"),
        ("symbol LIKE ? OR symbol NOT LIKE ? ESCAPE ?", ["a%", "it's!%%", "!"],
         "symbol LIKE 'a%' OR symbol NOT LIKE 'it''s!%%' ESCAPE '!'"),
        ("symbol LIKE ?", [None], "symbol LIKE NULL"),
        ("starts_with(symbol, ?) AND NOT volume BETWEEN ? AND ?", ["%", 1, 2],
         "starts_with(symbol, '%') AND NOT volume BETWEEN 1 AND 2"),
        ("NOT (open AND price <> ?) AND wide IN (?)", ["1.5", "-2.25"],
         "NOT (open AND price <> 1.5) AND wide IN (-2.25)"),
    ],
)  # fmt: skip
def test_prepared_filters_are_the_same_as_written_out(condition, parameters, sql) -> None:
    base = "SELECT symbol, price FROM stock WHERE "
    compiled = compiler().compile_template(base + condition, parameters)
    assert compiled.sql == base + sql
    assert compiled == compiler().compile(compiled.sql)


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
        ("exchange = -?", ["5"], "type_mismatch", "a minus stands before a parameter that is a string"),
        ("exchange = - -?", ["5"], "type_mismatch", "a minus stands before a parameter that is a string"),
        ("open = -(-?)", [True], "type_mismatch", "a minus stands before a parameter that is a boolean"),
        ("day = ?", ["2026-02-30"], "type_mismatch", "no day 2026-02-30"),
        ("price BETWEEN ? AND ?", [None, "0 OR 1=1"], "type_mismatch", "cannot be compared with a string"),
        ("price BETWEEN ? AND ?", ["0 OR 1=1", None], "type_mismatch", "cannot be compared with a string"),
        ("exchange = ?", ["x" * 16_384], "malformed", "at most 16384 are taken"),
        ("day = DATE ?", ["2026-02-03"], "syntax", "`?`"),
        ("? = ?", [1, 1], "unsupported", "parameter"),
        ("nope = ?", [1], "unknown_column", "`nope`"),
        ("volume = :a", [1], "unsupported", "parameter"),
        ("volume = ? LIMIT ?", [1, 1], "unsupported", "LIMIT"),
        ("volume IN ?", [1], "unsupported", "IN without a list"),
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
odd_texts = st.sampled_from(
    ["it's", "''", "'", "1e3", "-5", ".5", "5.", "0 OR 1=1", "a--b", "/*", "?", "\\'", "\0", "é;"]
)


def is_refused(sql: str) -> bool:
    try:
        compiler().compile(sql)
    except SubscriptionError:
        return True
    return False


spaces = st.sampled_from(["", " ", "\n", " /* ? - ' */ "])
holes = st.builds(
    lambda signs, blank, deep: f"{signs}{'(' * deep}{blank}?{')' * deep}",
    st.sampled_from(["", "-", "- ", "- -", "-(-", "+", "-/**/-"]),
    spaces,
    st.integers(0, 2),
).map(lambda hole: hole + ")" * hole.count("(-"))
templates = st.one_of(
    st.builds(lambda c, a, o, b, h: f"{c}{a}{o}{b}{h}", st.sampled_from(COLUMNS), spaces, operators, spaces, holes),
    st.builds(lambda c, o, h, a: f"{h}{a}{o} {c}", st.sampled_from(COLUMNS), operators, holes, spaces),
    st.builds(
        lambda c, g, h, a, b: f"{c} BETWEEN{a}{g}{a}AND{b}{h}", st.sampled_from(COLUMNS), holes, holes, spaces, spaces
    ),
)
wide = st.one_of(
    templates,
    st.builds(lambda c, g, h, a: f"{c} NOT IN({g},{a}{h})", st.sampled_from(COLUMNS), holes, holes, spaces),
    st.builds(lambda h, a: f"exchange LIKE{a}{h}", holes, spaces),
    st.builds(lambda h: f"starts_with(exchange,{h})", holes),
)
asked = st.builds(
    lambda base, some, joint: base + joint.join(some),
    st.sampled_from([BASE, "SELECT COUNT(*) FROM stock WHERE ", "SELECT * FROM stock WHERE NOT "]),
    st.lists(templates, min_size=1, max_size=2) | st.lists(wide, min_size=1, max_size=3),
    st.sampled_from(["AND ", " OR "]),
)


@pytest.mark.deep
@given(asked, st.data())
@settings(deadline=None, max_examples=deep_examples(600))
def test_the_sql_that_is_shown_asks_the_same(template, data) -> None:
    shared = Compiler(CATALOG)
    wanted = len(re.sub(r"/\*.*?\*/", "", template).split("?")) - 1
    values = data.draw(st.lists(scalars | odd_texts, min_size=wanted, max_size=wanted))
    try:
        compiled = shared.compile_template(template, values)
    except SubscriptionError:
        told = shared.sql_of(template, values)
        assert told is None or is_refused(told)
        return
    assert Compiler(CATALOG).compile(compiled.sql) == compiled
    assert shared.sql_of(template, values) in (None, compiled.sql)


@given(st.sampled_from(COLUMNS), operators, scalars)
@settings(deadline=None, max_examples=examples(200))
def test_any_parameter_compiles_as_written_or_is_refused(column, operator, value) -> None:
    try:
        compiled = compiler().compile_template(f"{BASE}{column} {operator} ?", [value])
    except SubscriptionError as error:
        assert error.code in ("malformed", "type_mismatch", "unsupported_type")
        return
    assert compiler().compile(compiled.sql) == compiled
