"""Beginnings of changes, made for plain ids and for others."""

from __future__ import annotations

import pytest

from overlay.arena.text_arena import sizes_of
from overlay.delivery.delivery import change_head, json_text
from overlay.table.change_heads import change_heads


@pytest.mark.parametrize("last", [b"c", b'"', b"\\", b"\n", "é".encode()])
def test_they_are_what_one_by_one_gives(last: bytes) -> None:
    keys = [b"a", b"bc-1", last]
    ids, heads = change_heads(b"".join(keys), sizes_of(keys), [7, 8, 9])
    assert ids == keys
    assert heads == [
        change_head(json_text(key.decode()), version) for key, version in zip(keys, [7, 8, 9], strict=True)
    ]


def test_none() -> None:
    assert change_heads(b"", sizes_of([]), []) == ([], [])
