from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tidewire.verification.scratch import SCRATCH
from tidewire.verification.records.lexer import is_word, lexemes, quote_names

NAMES = {"end", "at", "day", "select"}


@given(st.text(alphabet="aE'\"-/* \nend@1_", max_size=30))
def test_lexemes_are_the_text_and_quoting_changes_words_only(text: str) -> None:
    assert "".join(match[0] for match in lexemes(text)) == text
    if not any(match[0].lower() in NAMES for match in lexemes(text) if is_word(match[0])):
        assert quote_names(text, NAMES) == text


def test_names_that_are_keywords_are_quoted_and_nothing_else() -> None:
    assert quote_names("MIN(END) -- end\n, 'end', \"end\", day, at", NAMES) == (
        'MIN("end") -- end\n, \'end\', "end", day, "at"'
    )
    assert quote_names("select end", {"day"}) == "select end"


WORDS = ["from", "select", "where", "and", "not", "null", "on", "as", "desc", "limit", "order", "by", "group", "in"]


@pytest.mark.parametrize("word", WORDS)
def test_a_column_may_be_called_as_the_words_that_statements_are_made_of(word: str) -> None:
    """In quotes; the statement's own words stay such. Without them DuckDB could not read it."""
    quoted = f'"{word}"'
    statement = (
        f"SELECT {quoted}, MIN(x) AS {quoted} FROM t AS a JOIN u ON a.{quoted} = u.x WHERE NOT {quoted} IN (1, 2) "
        f"AND x NOT IN (NULL) GROUP BY {quoted}, x ORDER BY {quoted} DESC NULLS LAST, x DESC, {quoted} LIMIT 3"
    )
    assert quote_names(statement, {word}) == statement


@pytest.mark.parametrize("word", ["desc", "limit", "order", "by", "group", "in"])
def test_without_quotes_such_a_name_stands_where_a_value_is_due(word: str) -> None:
    places = [
        "SELECT {}, MIN({}), x AS {}, -{} FROM t",
        "SELECT a.{} FROM t a WHERE {} > 1 AND NOT {} IN (1, {}) OR x NOT IN ({})",
        "SELECT {} FROM t WHERE x = {} GROUP BY {}, x HAVING {} > 1",
        "SELECT {} FROM t ORDER BY {} DESC, {}, x DESC LIMIT 3",
        "SELECT x FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY {} ORDER BY {} DESC) <= 1",
        "SELECT x FROM t WHERE x BETWEEN {} AND {} AND {} IS NOT NULL ORDER BY x LIMIT 1",
    ]
    for place in places:
        times = place.count("{}")
        made = quote_names(place.format(*[word] * times), {word})
        assert made == place.format(*[f'"{word}"'] * times)
        SCRATCH.execute("SELECT json_serialize_sql(?)", [made])
