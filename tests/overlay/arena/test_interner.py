"""Shared values: numbered, counted, gone."""

from __future__ import annotations

import pytest

from overlay.arena.interner import Interned


def test_numbers_are_used_again_when_nobody_has_them() -> None:
    shared: Interned[str] = Interned()
    assert [shared.enter(value) for value in "aba"] == [0, 1, 0] and shared.enter("c", 5) == 2
    shared.leave([0, 1])
    assert "a" in shared and "b" not in shared and len(shared) == 2 and shared.value(0) == "a"
    assert shared.enter("d") == 1
    shared.check([0, 1, *[2] * 5])
    shared.leave([2] * 5)
    with pytest.raises(AssertionError, match="number 2 is free"):
        shared.value(2)
