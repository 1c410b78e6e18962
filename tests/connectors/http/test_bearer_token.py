"""Tokens and their hashes."""

from __future__ import annotations

import pytest

from connectors.http.bearer_token import are_hashes, hash_of, matches, new_token


def test_a_token_matches_its_hash_alone() -> None:
    one, other = new_token(), new_token()
    assert one != other
    assert matches(hash_of(one), hash_of(one))
    assert matches(hash_of(one), f"{hash_of(other)} {hash_of(one).upper()}")
    assert not matches(hash_of(one), hash_of(other))
    assert not matches(hash_of(""), "")


@pytest.mark.parametrize("text", ["", " ", "secret", "a" * 63, "g" * 64, "a" * 64 + " b"])
def test_what_is_no_hash(text: str) -> None:
    assert not are_hashes(text)


def test_hashes() -> None:
    assert are_hashes("A" * 64 + " " + "0" * 64)
