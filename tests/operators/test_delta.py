"""Messages of one channel, as an operator leaves them: as many as they have causes, also where they are none."""

from __future__ import annotations

import numpy as np

from operators.delta import Delta


def test_there_are_as_many_as_causes() -> None:
    n = np.arange(3)
    delta = Delta(((1,), 3), n, n, n, n, n > 0, n, n > 0, np.zeros((4, 3), np.int64))
    assert len(delta) == 3
    nothing = n[:0]
    assert not len(Delta(((), None), *[nothing] * 4, nothing > 0, nothing, nothing > 0, np.zeros((4, 0), np.int64)))
