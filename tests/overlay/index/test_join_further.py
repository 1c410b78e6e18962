"""Further conditions come and go with their entries; how they judge is tested with the rows that are told."""

from __future__ import annotations

import numpy as np
import pytest

from catalog.query.value_set import ValueSet
from overlay.index.join_form import Further
from overlay.index.join_further import FurtherConditions

ONE = (Further(0, "x", ValueSet(((1, 2), (4, 5)))),)


def test_only_who_has_some_is_there() -> None:
    further = FurtherConditions()
    further.insert(np.array([3, 9, 4]), [ONE, (), ONE])
    assert len(further) == 2
    further.check(np.array([3, 9, 4]))
    further.remove(np.array([9, 3, 70]))
    further.check(np.array([4]))
    further.insert(np.array([3]), [()])
    assert len(further) == 1
    with pytest.raises(AssertionError):
        further.check(np.array([3]))
