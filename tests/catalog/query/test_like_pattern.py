"""Patterns: how a text begins."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.query.like_pattern import PatternRefused, beyond_prefix, read_pattern
from tests.effort import examples


@pytest.mark.parametrize(
    ("pattern", "escape", "read"),
    [
        ("", None, ("", False)),
        ("%", None, ("", True)),
        ("%%%", None, ("", True)),
        ("ab", None, ("ab", False)),
        ("ab%", None, ("ab", True)),
        ("ab%%", None, ("ab", True)),
        ("ab!%", "!", ("ab%", False)),
        ("ab!%%", "!", ("ab%", True)),
        ("ab!!%", "!", ("ab!", True)),
        ("ab!!!%", "!", ("ab!%", False)),
        ("a!_b", "!", ("a_b", False)),
        ("a%%%", "%", ("a%", True)),
        ("a\\%%", "\\", ("a%", True)),
        ("a\\%", "", ("a\\", True)),
        ("a!%", "", ("a!", True)),
    ],
)
def test_patterns(pattern, escape, read) -> None:
    assert read_pattern(pattern, escape) == read


@pytest.mark.parametrize(
    ("pattern", "escape"),
    [("a_", None), ("_%", None), ("%a", None), ("a%b", None), ("a\\", None), ("a!", "!"), ("a!b", "!"), ("a", "!!")],
)
def test_refused(pattern, escape) -> None:
    with pytest.raises(PatternRefused):
        read_pattern(pattern, escape)


@given(st.text("ab%_!", max_size=6), st.none() | st.just("!"), st.text("ab%_!", max_size=6))
@settings(deadline=None, max_examples=examples(2_000))
def test_what_is_taken_holds_what_the_pattern_holds(pattern, escape, text) -> None:
    try:
        prefix, more = read_pattern(pattern, escape)
    except PatternRefused:
        return
    expression, at = "", 0
    while at < len(pattern):
        if pattern[at] == escape:
            at += 1
            expression += re.escape(pattern[at])
        else:
            expression += {"%": ".*", "_": "."}.get(pattern[at], re.escape(pattern[at]))
        at += 1
    held = re.fullmatch(expression, text) is not None
    assert held == (text.startswith(prefix) if more else text == prefix)


TEXTS = st.text("ab\x7f\x80\ud7ff\ue000\U0010fffe\U0010ffff", max_size=3)


@given(TEXTS, TEXTS)
@settings(deadline=None, max_examples=examples(2_000))
def test_the_first_text_beyond_a_prefix(prefix, text) -> None:
    end = beyond_prefix(prefix)
    assert text.startswith(prefix) == (prefix <= text and (end is None or text < end))
    assert end is None or end.encode()
