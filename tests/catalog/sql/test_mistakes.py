"""Hints are tried: what a refusal says to write instead is accepted, and each refusal has a place and a hint."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from catalog.ddl.statements import apply_ddl
from catalog.query.compiler import Compiler
from catalog.schema.catalog import Catalog
from catalog.sql.errors import SqlError, SubscriptionError
from tests.catalog import refusals
from tests.catalog.sample import CATALOG, compiler
from tests.effort import examples

BASE = "SELECT MIN(price) FROM stock"
WHERE = BASE + " WHERE "


def refused(sql: str, catalog: Catalog = CATALOG) -> SqlError:
    with pytest.raises(SubscriptionError) as caught:
        Compiler(catalog).compile(sql)
    return caught.value


days = st.dates().map(lambda d: d.isoformat())
plain = st.from_regex(r"[A-Za-z][A-Za-z0-9]{0,8}", fullmatch=True)


@given(days, st.sampled_from(["day", "at"]), st.sampled_from([">", "<=", "="]), st.sampled_from(["-", "/", "."]))
@settings(deadline=None, max_examples=examples(40))
def test_days_without_quotes(day, column, operator, mark) -> None:
    sql = f"{WHERE}{column} {operator} {day.replace('-', mark)}"
    error = refused(sql)
    assert f"DATE '{day}'" in (error.hint or "") and sql[error.start : error.end] == day.replace("-", mark)
    assert compiler().compile(f"{sql[: error.start]}DATE '{day}'")


@given(
    st.sampled_from(["‘{}’", "“{}”", "„{}“", "`{}`", "$${}$$", "E'{}'", "N'{}'", "x'{}'", "{}"]),
    plain,
    st.sampled_from(["exchange = ", "exchange >= ", "exchange BETWEEN 'A' AND "]),
)
@settings(deadline=None, max_examples=examples(80))
def test_strings_in_other_quotes_or_none(form, content, before) -> None:
    assume(content.upper() not in ("TRUE", "FALSE", "NULL", "DATE") and (form != "{}" or "BETWEEN" not in before))
    try:
        sql = WHERE + before + form.format(content)
        Compiler(CATALOG).compile(sql)
    except SubscriptionError as error:
        assert error.code in ("unsupported", "syntax") and error.line == 1
        if form != "{}" or content.lower() not in ("current_date", "case", "if", "all", "any"):
            assert "quotes" in (error.hint or "") or "SQL" in error.what or "clock" in error.what, error


@given(st.from_regex(r"[A-Za-z ]{0,5}[A-Za-z]'[A-Za-z]{1,5}", fullmatch=True))
@settings(deadline=None, max_examples=examples(20))
def test_a_quote_inside_a_string(content) -> None:
    for written in (f"'{content}'", "'" + content.replace("'", "\\'") + "'"):
        error = refused(f"{WHERE}exchange = {written}")
        doubled = "'" + content.replace("'", "''") + "'"
        assert error.hint is not None and doubled in error.hint
        assert compiler().compile(f"{WHERE}exchange = {doubled}")


@pytest.mark.parametrize(
    "parameter",
    ["$1", "$12", "$name", "@x", ":x", ":low_1", "?1", "%s", "%(low)s", "{low}", "${low}", "#{low}", "{{ low }}"],
)
@pytest.mark.parametrize(
    "where", ["price > {}", "volume BETWEEN {} AND 9", "exchange = {} AND open = TRUE", "{} < risk"]
)
def test_parameters_of_all_kinds(parameter, where) -> None:
    error = refused(WHERE + where.replace("{}", parameter))
    assert f"`{parameter}`" in error.what and "template" in (error.hint or "")
    assert error.message.split("\n")[2].find(parameter) >= 0


@given(st.text("abzAZ'%_é\U0010ffff\ud7ff", max_size=5), st.sampled_from(["", " AND volume > 5", " AND open = TRUE"]))
@settings(deadline=None, max_examples=examples(60))
def test_a_prefix_is_a_range_where_one_may_be(pattern, behind) -> None:
    written = pattern.replace("'", "''")
    error = refused(f"{WHERE}symbol LIKE '{written}%'{behind}")
    hint = (error.hint or "").split("\n")[0]
    if hint.startswith("A prefix"):
        assert "volume" not in behind and not set(pattern) & set("%_")
        ranged = hint.removeprefix("A prefix is a range: ").removesuffix(".")
        region = compiler().compile(WHERE + ranged + behind).region
        assert region.lo <= (pattern + "a").encode() and not region.empty
        if pattern.strip("\U0010ffff"):
            assert (pattern + "\U0010ffff" * 3).encode() < region.hi


SLIPS = [
    ("SELCT MIN(price) FROM stock", "SELCT", "SELECT"), ("SELECT MIN(price) FORM stock", "FORM", "FROM"),
    ("SELECT MIN(price) FROM stock WHRE volume = 3", "WHRE", "WHERE"), (BASE + " WERE volume = 3", "WERE", "WHERE"),
    (WHERE + "volume = 1 ADN price = 3", "ADN", "AND"), (WHERE + "volume BETWEN 1 AND 3", "BETWEN", "BETWEEN"),
    (WHERE + "volume BETWEEN 1 ADN 3", "ADN", "AND"), (WHERE + "volume = 3 && price = 5", "&&", "AND"),
    (WHERE + "volume => 3", "=>", ">="), (WHERE + "volume =< 3", "=<", "<="),
    (BASE + " NOTFY LATEST", "NOTFY", "NOTIFY"), (WHERE + "volume = 3 DELVER PUSH", "DELVER", "DELIVER"),
    (WHERE + "volume = 3, open = TRUE", ",", "AND"), ("SELECT DISTNCT price FROM stock", "DISTNCT", "DISTINCT"),
    ("SELECT MNI(price) FROM stock", "MNI", "MIN"), ("SELECT AVERAGE(price) FROM stock", "AVERAGE", "AVG"),
    (BASE + " WHER", "WHER", "WHERE"),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "slip", "meant"), SLIPS)
def test_slips_of_the_pen_are_underlined(sql, slip, meant) -> None:
    error = refused(sql)
    assert sql[error.start : error.end] == slip
    assert f"Did you mean {meant}?" in (error.hint or "")
    if slip not in ("WHER",):
        assert compiler().compile(sql[: error.start] + meant + sql[error.end :])


@given(
    st.sampled_from(["SELECT", "FROM", "WHERE", "BETWEEN"]),
    st.integers(0, 6),
    st.sampled_from(["drop", "swap", "twice"]),
)
@settings(deadline=None, max_examples=examples(60))
def test_one_wrong_letter_is_found(word, at, kind) -> None:
    at = min(at, len(word) - 2)
    slip = {
        "drop": word[:at] + word[at + 1 :],
        "swap": word[:at] + word[at + 1] + word[at] + word[at + 2 :],
        "twice": word[:at] + word[at] + word[at:],
    }[kind]
    assume(slip != word and len(slip) > 3)
    sql = f"{WHERE}volume BETWEEN 1 AND 3".replace(word, slip, 1)
    error = refused(sql)
    assert f"Did you mean {word}?" in (error.hint or ""), error
    assert sql[error.start : error.end] == slip


RESERVED = ["drop", "alter", "insert", "grant", "rollback", "if", "between", "xor", "regexp", "order", "group", "from",
            "where", "table", "user", "update", "delete", "union", "case", "all", "any", "in", "limit"]  # fmt: skip


@pytest.mark.parametrize("word", RESERVED)
@pytest.mark.parametrize("form", ["SELECT MIN({}) FROM t", "SELECT COUNT(*) FROM t WHERE {} = 1"])
def test_words_of_sql_as_columns(word, form) -> None:
    catalog = apply_ddl(Catalog(), f'CREATE TABLE t (id INTEGER PRIMARY KEY, "{word}" INTEGER)', 0)
    quoted = form.format(f'"{word}"')
    assert Compiler(catalog).compile(quoted)
    try:
        Compiler(catalog).compile(form.format(word))
    except SubscriptionError as error:
        assert f'"{word}"' in (error.hint or ""), error
        assert quoted[error.start :].startswith(f'"{word}"')


@pytest.mark.parametrize(
    ("sql", "hint"),
    [
        ("SELECT MIN price FROM stock", "MIN(price)"),
        ("SELECT MAX risk, MIN(price) FROM stock", "MAX(risk)"),
        ("SELECT COUNT FROM stock", "COUNT(*)"),
        ("SELECT COUNT() FROM stock", "COUNT(*)"),
        ("SELECT COUNT * FROM stock", "COUNT(*)"),
        (WHERE + "1 < risk < 3", "risk > 1 AND risk < 3"),
        (WHERE + "-1 <= risk <= -.5", "risk >= -1 AND risk <= -.5"),
        (WHERE + "exchange IS 'NYSE'", "= 'NYSE'"),
        (WHERE + "volume = 1,000", "1000"),
        (WHERE + "volume = 1_000", "1000"),
        (WHERE + "risk > 5%", "5"),
        (WHERE + "at > 2026-03-01 12:00", "TIMESTAMP '2026-03-01 12:00:00'"),
        ("SELECT MIN(price) FROM (stock)", "FROM stock"),
        ("SELECT MIN('price') FROM stock", "MIN(price)"),
        ("SELECT MIN(`Price`) FROM stock", "price"),
        ("SELECT MIN(price) FROM [stock]", "stock"),
    ],
)
def test_what_a_hint_writes_is_accepted(sql, hint) -> None:
    error = refused(sql)
    assert hint in (error.hint or "") and error.line == 1
    start = sql.index("FROM (") if "FROM (" in sql else error.start
    made = sql[:start] + hint + sql[error.end :]
    for before in ("exchange IS ", "MIN("):
        if sql[error.start :].startswith(before) or hint == "MIN(price)":
            made = f"{WHERE}exchange {hint}" if "exchange" in sql else BASE
    assert compiler().compile(made)


@pytest.mark.parametrize(
    ("sql", "place", "hint"),
    [
        ("SELECT DISTINCT exchange FROM stock ORDER BY exchange", "ORDER BY", "A set has no order"),
        ("SELECT DISTINCT exchange FROM stock LIMIT 10", "LIMIT", "narrow the set by WHERE"),
        (BASE + " LIMIT 10", "LIMIT", "always one row"),
        (BASE + " EMIT CHANGES", "EMIT CHANGES", "Leave it out"),
        ("SUBSCRIBE TO (SELECT MIN(price) FROM stock)", "SUBSCRIBE TO", "SELECT alone"),
        (BASE + " WITH (snapshot = false)", "WITH", "Leave it out"),
        (BASE + " AS OF SYSTEM TIME '-1s'", "AS OF", "Leave it out"),
        (BASE + " FOR SYSTEM_TIME AS OF '2026-01-01'", "AS OF", "Leave it out"),
        ("SELECT TOP 1 price FROM stock", "TOP", "MIN(column)"),
        ("SELECT MIN(price) OVER (PARTITION BY exchange) FROM stock", "OVER", "WHERE exchange = constant"),
        (WHERE + "exchange = NYSE", "exchange = NYSE", "'NYSE'"),
        (WHERE + "exchange = New York", "New York", "'New York'"),
        (WHERE + "my-col = 3", "my-col", '"my-col"'),
    ],
)
def test_habits_of_other_databases(sql, place, hint) -> None:
    error = refused(sql)
    assert sql[error.start : error.end] == place and hint in (error.hint or "")


@pytest.mark.parametrize(
    ("items", "better"),
    [
        ("MIN(price)", "smaller"), ("MIN(price), MIN(risk)", "smaller"), ("MAX(price)", "greater"),
        ("COUNT(DISTINCT risk)", ""),
        ("MIN(price), COUNT(*)", ""), ("MIN(price), MAX(price)", ""), ("SUM(volume), MIN(risk)", ""),
        ("DISTINCT exchange", "together"),
    ],
)  # fmt: skip
def test_what_is_said_of_or_is_true_of_all_items(items, better) -> None:
    hint = refused(f"SELECT {items} FROM stock WHERE volume = 1 OR volume = 2").hint or ""
    said = [word for word in ("smaller", "greater", "together") if word in hint]
    assert said == ([better] if better else [])


def test_two_ranges_are_not_suggested_beside_a_third() -> None:
    for condition in ("volume <> 3", "NOT volume = 3", "NOT volume BETWEEN 1 AND 3"):
        assert "one with <" in (refused(WHERE + condition).hint or "")
        assert "one with <" not in (refused(f"{WHERE}{condition} AND price > 5").hint or "")


PIECES = re.findall(
    r"\S+",
    """SELECT MIN ( price ) FROM stock WHERE volume = 3 AND BETWEEN OR NOT NULL 'x' "y" ` [ ] { } $1 ? : @ % - . , ; 1
    2026-03-01 NOTIFY LATEST TTL DELIVER PUSH EMIT CHANGES AS OF TOP COUNT DISTINCT * < > IS LIKE IN 'a% ‘b’ E'c' GROUP
    ORDER BY LIMIT WITH if drop CREATE TABLE PRIMARY KEY INT DECIMAL DROP -- /* */ # // && || => #{x} %s SET ROW""",
)
soup = st.lists(st.sampled_from(PIECES), max_size=14).map(" ".join)


@given(soup)
@settings(deadline=None, max_examples=examples(300))
def test_any_soup_is_taken_or_refused_with_a_hint(text) -> None:
    for act in (refusals.refuse_subscription, refusals.refuse_catalog):
        error = act(text)
        if error is not None:
            assert error.hint and error.code
            assert "Traceback" not in str(error) and "object at 0x" not in str(error)
            assert 0 <= error.start <= error.end <= len(text) + 1
