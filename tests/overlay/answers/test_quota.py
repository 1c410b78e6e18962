"""What is too large for a DISTINCT."""

from __future__ import annotations

from overlay.answers.quota import MEMBERS, TEXT_BYTES, exceeds, size_of


def test_members_and_bytes_are_limited() -> None:
    assert not exceeds(MEMBERS, TEXT_BYTES)
    assert exceeds(MEMBERS + 1, 0) and exceeds(1, TEXT_BYTES + 1)


def test_texts_count_as_they_are_written() -> None:
    assert size_of([None, 5, "a", "ä", '"']) == (3 + 1) + (4 + 1) + (4 + 1)
