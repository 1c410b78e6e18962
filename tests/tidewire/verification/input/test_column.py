"""Columns are equal by what they are."""

from __future__ import annotations

import dataclasses

import pytest

from tidewire.verification.input.column import Column


def test_a_column_is_told_from_another_by_each_of_its_members() -> None:
    one = Column("price", "DECIMAL(12,2)", True)
    others = [("Price", "DECIMAL(12,2)", True), ("price", "DECIMAL(12,3)", True), ("price", "DECIMAL(12,2)", False)]
    assert len({one, Column("price", "DECIMAL(12,2)", True), *(Column(*other) for other in others)}) == 4
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.name = "cost"  # type: ignore[misc]
