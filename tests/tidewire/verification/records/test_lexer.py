from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

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
