"""The last word on a refused question: which of several explanations is told, and that what explains itself is left."""

from __future__ import annotations

import pytest

from catalog.query.refusal import explained, explained_name
from catalog.query.unsupported import SUPPORTED
from catalog.sql.errors import SqlError, SubscriptionError
from catalog.sql.statement_text import StatementText
from tests.catalog.sample import compiler


def last_word(sql: str) -> SqlError:
    """What is told of a text that the parser refuses."""
    text = StatementText(sql, SubscriptionError)
    with pytest.raises(SubscriptionError) as caught:
        _ = text.statements
    return explained(text, caught.value)


@pytest.mark.parametrize(
    ("sql", "place", "hint"),
    [
        ("SELCT MIN(price) FROM stock", "SELCT", "Did you mean SELECT?"),
        ("SELECT MIN(price) FORM stock", "FORM", "Did you mean FROM?"),
        ("SELECT MIN(if) FROM t WHERE if = 1", "if", 'As a name, write it in double quotes: "if".'),
    ],
)
def test_a_slip_of_one_word_is_told_alone(sql: str, place: str, hint: str) -> None:
    error = last_word(sql)
    assert (error.code, sql[error.start : error.end], error.hint) == ("syntax", place, hint)


@pytest.mark.parametrize("sql", ["SELECT MIN(price)) FROM stock", "SELECT MIN(price) FROM stock WHERE", ") FROM"])
def test_what_has_no_better_word_says_what_is_supported(sql: str) -> None:
    text = StatementText(sql, SubscriptionError)
    with pytest.raises(SubscriptionError) as caught:
        _ = text.statements
    error = explained(text, caught.value)
    assert (error.code, error.what, error.hint) == (caught.value.code, caught.value.what, SUPPORTED)
    assert (error.start, error.end) == (caught.value.start, caught.value.end)


def test_what_says_all_itself_is_told_as_it_is() -> None:
    text = StatementText("SELCT MIN(price) FROM stock", SubscriptionError)
    for error in (SqlError("unknown_table", "what"), SqlError("syntax", "what", hint="Do that.")):
        assert explained(text, error) is error


def test_a_refusal_with_a_hint_keeps_it_where_no_words_say_more() -> None:
    text = StatementText("SELECT MIN(price) FROM stock", SubscriptionError)
    error = SqlError("unsupported", "what", hint="Do that.")
    assert explained(text, error) is error
    told = explained(text, SqlError("unsupported", "what"))
    assert (told.what, told.hint, told.line) == ("what", SUPPORTED, 0)


@pytest.mark.parametrize(
    ("options", "place"),
    [("NOTIFY SOMETIMES", "SOMETIMES"), ("TTL", "TTL"), ("DELIVER BY_MAIL", "BY_MAIL"), ("NOTIFY LATEST TTL x", "x")],
)
def test_options_are_to_blame_where_they_follow_what_could_have_been_all(options: str, place: str) -> None:
    sql = f"SELECT MIN(price) FROM stock WHERE volume = 1 {options}"
    with pytest.raises(SubscriptionError) as caught:
        compiler().compile(sql)
    assert sql[caught.value.start : caught.value.end] == place


def test_options_before_from_are_names() -> None:
    assert last_word("SELECT ttl notify deliver FROM stock").what == "`deliver` was not expected here"


def refused_name(sql: str) -> SqlError:
    with pytest.raises(SubscriptionError) as caught:
        compiler().compile(sql)
    return caught.value


@pytest.mark.parametrize(
    ("sql", "code", "hint"),
    [
        ("SELECT DISTNCT price FROM stock", "unknown_column", "Did you mean DISTINCT?"),
        ("SELECT MIN price FROM stock", "unsupported", "MIN(price)"),
        ("SELECT prise FROM stock", "unknown_column", "Did you mean `price` or `risk`?"),
    ],
)
def test_a_name_that_is_none_may_be_a_word(sql: str, code: str, hint: str) -> None:
    error = refused_name(sql)
    assert error.code == code
    assert hint in (error.hint or "")


def test_a_name_that_is_no_word_is_left() -> None:
    text = StatementText("SELECT prise FROM stock", SubscriptionError)
    error = text.refusal("unknown_column", "what", (7, 12))
    assert explained_name(text, error) is error
