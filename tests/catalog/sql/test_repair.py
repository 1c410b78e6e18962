"""Slips of one word: what is offered lets the text be parsed further, and nothing is offered that does not."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from catalog.sql import repair
from catalog.sql.errors import SqlError
from catalog.sql.mistakes import Mistake, Words
from catalog.sql.repair import find_repair, near_word, reach, unexplained_words
from catalog.sql.statement_text import StatementText, tokens_of
from tests.effort import examples

KNOWN = ("SELECT", "FROM", "WHERE", "AND", "BETWEEN", "GROUP", "ORDER")


def found(sql: str) -> Mistake | None:
    fault = reach(sql)
    assert fault is not None, "it can be parsed"
    return find_repair(Words(sql, tokens_of(sql)), KNOWN, fault)


@pytest.mark.parametrize(
    ("sql", "place"),
    [
        ("SELECT MIN(price) FROM stock WHERE volume = 3", None),
        ("SELECT MIN(price) FORM stock", 23),
        ("SELECT MIN(price FROM stock", 17),
        ("SELECT MIN(price) FROM stock NOTIFY LATEST", None),
        ("SELECT MIN(price) FROM stock NOTIFY CHANGE 5", 36),
        ("SELECT 'a", 7),
    ],
)
def test_how_far_a_text_is_parsed(sql: str, place: int | None) -> None:
    assert reach(sql) == place


@pytest.mark.parametrize(
    ("sql", "slip", "hint"),
    [
        ("SELCT MIN(price) FROM stock", "SELCT", "Did you mean SELECT?"),
        ("SELECT MIN(price) FROM stock WHRE volume = 1", "WHRE", "Did you mean WHERE?"),
        ("SELECT MIN(price) FROM stock AND volume = 1", "AND", "Did you mean WHERE?"),
        ("SELECT MIN(price) FROM stock WHERE volume = 1 WHERE price = 2", "WHERE", "Did you mean AND?"),
        ("SELECT MIN(price) FROM stock WHERE volume = 1, price = 2", ",", "Did you mean AND?"),
        ("SELECT MIN(price) FROM stock WHERE volume = < 3", "= <", None),
        ("SELECT MIN(price) FROM stock WHERE volume =< 3", "=<", "Did you mean <=?"),
        ("SELECT MIN(price) FROM stock WHERE volume => 3", "=>", "Did you mean >=?"),
        ("SELECT MIN(price) FROM stock WHERE volume BETWEEN 1 TO 3", "TO", "Did you mean AND?"),
        ("SELECT MIN(if) FROM t WHERE if = 1", "if", 'As a name, write it in double quotes: "if".'),
    ],
)
def test_slips_and_what_was_meant(sql: str, slip: str, hint: str | None) -> None:
    mistake = found(sql)
    if hint is None:
        assert mistake is None
        return
    assert mistake is not None
    start, end = mistake.place
    assert (sql[start:end], mistake.hint) == (slip, hint)
    assert mistake.what == (f"`{slip}` was not expected here" if "mean" in hint else f"`{slip}` is a word of SQL")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT MIN(price)) FROM stock",
        "SELECT MIN(price) FROM stock WHERE",
        "SELECT MIN(price) FROM stock WHERE volume = 1 WHERE",
        "SELECT 1 +",
        ")",
    ],
)
def test_what_one_word_does_not_mend_is_left(sql: str) -> None:
    assert found(sql) is None


@given(st.sampled_from(["SELECT", "FROM", "WHERE", "BETWEEN"]), st.integers(0, 5), st.integers(0, 5))
@settings(max_examples=examples(200), deadline=None)
def test_a_hint_is_one_that_helps(word: str, at: int, with_: int) -> None:
    letters = list(word)
    at, with_ = at % len(word), with_ % len(word)
    letters[at], letters[with_] = letters[with_], letters[at]
    sql = "SELECT MIN(a) FROM t WHERE b BETWEEN 1 AND 3".replace(word, "".join(letters))
    fault = reach(sql)
    assume(fault is not None)
    mistake = found(sql)
    assert mistake is not None
    start, end = mistake.place
    meant = mistake.hint.removeprefix("Did you mean ").removesuffix("?")
    reached = reach(sql[:start] + meant + sql[end:])
    assert reached is None or reached > fault


def test_of_a_long_text_no_word_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(sql: str) -> None:
        raise AssertionError(sql)

    short = "SELCT MIN(a) FROM t WHERE b = '{}'"
    assert found(short.format("x" * (repair.LONGEST - len(short) + 2))) is not None
    long = short.format("x" * (repair.LONGEST - len(short) + 3))
    monkeypatch.setattr(repair, "reach", never)
    assert len(long) == repair.LONGEST + 1
    assert find_repair(Words(long, tokens_of(long)), KNOWN, 6) is None


def test_few_words_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = list[str]()
    monkeypatch.setattr(repair, "reach", lambda sql: tried.append(sql) or 0)
    sql = f"SELECT {', '.join(f'MIN({word})' for word in ('if', 'order', 'group', 'all', 'any', 'case') * 4)} FORM t"
    assert find_repair(Words(sql, tokens_of(sql)), KNOWN, len(sql)) is None
    assert 0 < len(tried) <= 12


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("FORM", "FROM"),
        ("SELCT", "SELECT"),
        ("SELECTT", "SELECT"),
        ("ADN", "AND"),
        ("AN", "AND"),
        ("A", None),
        ("FROM", None),
        ("", None),
        ("PRICE", None),
        ("GRUOP", "GROUP"),
    ],
)
def test_near_words(word: str, meant: str | None) -> None:
    assert near_word(word, KNOWN) == meant


@pytest.mark.parametrize(
    ("code", "hint", "looked_at"),
    [
        ("syntax", None, True),
        ("syntax", "Close it.", False),
        ("unsupported", "Leave it out.", True),
        ("unknown_column", None, False),
    ],
)
def test_what_says_all_itself_is_not_looked_at(code: str, hint: str | None, looked_at: bool) -> None:
    text = StatementText("SELECT a", SqlError)
    assert (unexplained_words(text, SqlError(code, "what", hint=hint)) is not None) is looked_at


def test_a_text_without_tokens_has_no_words() -> None:
    assert unexplained_words(StatementText("SELECT 'a", SqlError), SqlError("syntax", "what")) is None
