"""The rule of ids, against a twin that looks at one character after the other."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.query.subscription_id import unknowable_id, wrong_id, wrong_name

characters = st.one_of(
    st.characters(),
    st.sampled_from("\n\r\t\0\x1b\x7f\x85\x9b\xa0\u2028\u2029\u200d\ufffd\ufeff@/%"),
    st.sampled_from("\ud800\udcff\udfff"),
)
names = st.text(characters, max_size=6) | st.builds(str.__mul__, characters, st.integers(1_020, 1_026))


def is_taken(name: str) -> bool:
    """The rule in other words."""
    kinds = [unicodedata.category(character) for character in name]
    if not name or name[0] == "@" or not {"Cc", "Zl", "Zp", "Cs"}.isdisjoint(kinds):
        return False
    return len(name.encode()) <= 1_024


@given(names)
def test_a_name_is_taken_exactly_by_the_rule_and_a_refusal_is_one_line(name: str) -> None:
    said = wrong_name(name)
    assert (said is None) == is_taken(name)
    assert said is None or (said.isprintable() and len(said) < 1_200)
    if not any("\ud800" <= character <= "\udfff" for character in name):
        assert said == wrong_id(name.encode())


@given(st.binary(max_size=20))
def test_any_bytes_are_judged_and_what_can_be_taken_can_be_ended(key: bytes) -> None:
    said = wrong_id(key)
    if said is None:
        assert wrong_name(key.decode()) is None and unknowable_id(key) is None
    if unknowable_id(key) is not None:
        assert said == unknowable_id(key)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("", "1 to 1024 bytes, got 0"),
        ("é" * 513, "1 to 1024 bytes, got 1026"),
        ("@progress", "reserved, got '@progress'"),
        ("a\r\nb", r"got 'a\r\nb' (U+000D at place 2)"),
        ("a\u2028", "U+2028 at place 2"),
        ("a\udcff", "no UTF-8, at place 2"),
        ("\ud800", "half of a character"),
    ],
)
def test_a_refusal_says_what_and_where(name: str, says: str) -> None:
    assert says in str(wrong_name(name))


def test_control_characters_were_taken_once() -> None:
    assert wrong_id(b"a\nb") is not None and unknowable_id(b"a\nb") is None
    assert all(unknowable_id(key) is not None for key in (b"", b"@a", b"\xff", b"x" * 1_025))
