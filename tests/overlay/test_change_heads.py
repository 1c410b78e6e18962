"""Beginnings of changes: made when asked for, never too many, never of somebody else."""

from __future__ import annotations

import pytest

from overlay import change_heads
from overlay.change_heads import ChangeHeads
from state.change_batch import I64


def test_they_are_remembered_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change_heads, "_REMEMBERED", 4)
    asked: list[list[int]] = []

    def names(slots: I64) -> tuple[list[bytes], list[int]]:
        asked.append(slots.tolist())
        return ["é".encode() if slot == 9 else b"s%d" % slot for slot in slots.tolist()], (slots + 100).tolist()

    heads = ChangeHeads(names)
    ids, texts = heads.of([2, 1, 2])
    assert ids == {1: b"s1", 2: b"s2"} and texts[2] == '{"id":"s2","kind":"change","version":102'
    heads.of([1])
    heads.forget([1, 7])
    heads.of([1, 9])
    assert heads.of([9])[1][9] == '{"id":"é","kind":"change","version":109'
    heads.of([3, 4])
    many = heads.of(range(20))
    assert len(many[0]) == len(many[1]) == 20
    assert asked == [[1, 2], [1, 9], [3, 4], list(range(20))]
