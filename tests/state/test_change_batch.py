"""Which causes are of several changes; also where causes have gaps, as those of a view have."""

from __future__ import annotations

import numpy as np
import pytest

from state.change_batch import ChangeBatch


def of(cause: list[int] | None, changes: int) -> ChangeBatch:
    nothing = np.zeros((0, changes), np.int64)
    live, nowhere = np.ones(changes, np.bool_), np.zeros(changes, np.int32)
    given = {} if cause is None else {"cause": np.array(cause, np.int32)}
    return ChangeBatch([b""] * changes, live, nothing, nothing > 0, {}, nowhere, nowhere.astype(np.int64), **given)


@pytest.mark.parametrize(
    ("cause", "several"),
    [([0, 0, 5], [0]), ([0, 0, 1], [0]), ([3, 7, 7, 7, 9], [7]), ([0, 1, 2], []), ([4, 9], []), ([], [])],
)
def test_causes_of_several_changes(cause: list[int], several: list[int]) -> None:
    found = of(cause, len(cause)).several
    assert (found is None) == (not several)
    assert found is None or np.flatnonzero(found).tolist() == several


def test_each_change_is_its_own_cause_where_none_is_given() -> None:
    assert of(None, 3).cause.tolist() == [0, 1, 2]
    assert not of(None, 3).shared
