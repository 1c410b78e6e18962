"""When slots become final: a column that is there once one does, and is stored with what has a moment."""

from __future__ import annotations

import numpy as np

from overlay.table.final_column import FINAL_ROW, FinalColumn
from state.order_code import INT64_MAX


def slots(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int64)


def column(**when: int) -> FinalColumn:
    finals = FinalColumn()
    finals.reserve(8)
    for name, moment in when.items():
        finals.set(slots(int(name[1:])), slots(moment))
    return finals


VERSIONS = np.array([9, 8, 7, 6, 5, 4, 3, 2])


def test_nothing_is_kept_before_something_becomes_final() -> None:
    finals = column()
    assert not len(finals) and finals.of(slots(3)).tolist() == [INT64_MAX] and not finals.told(slots(3)).any()
    assert not len(finals.stored(slots(0, 1))) and not len(finals.due(5, VERSIONS))
    finals.forget(slots(2))
    finals.check()


def test_those_are_due_that_have_come_by_their_moment_then_by_version() -> None:
    finals = column(s1=20, s2=10, s3=10, s4=21)
    assert finals.due(20, VERSIONS).tolist() == [3, 2, 1]
    assert finals.due(9, VERSIONS).tolist() == []
    finals.tell(slots(2))
    assert finals.due(20, VERSIONS).tolist() == [3, 1]
    assert finals.told(slots(1, 2)).tolist() == [False, True]
    finals.check()


def test_a_slot_that_is_free_has_no_moment() -> None:
    finals = column(s1=20)
    finals.tell(slots(1))
    finals.forget(slots(1))
    assert finals.of(slots(1)).tolist() == [INT64_MAX] and not finals.told(slots(1)).any()


def test_what_is_stored_is_the_same_when_it_is_read_back() -> None:
    finals = column(s1=20, s2=10)
    finals.tell(slots(2))
    rows = finals.stored(slots(1, 2, 3))
    again = FinalColumn()
    again.reserve(8)
    again.put_stored(slots(1, 2, 3), np.frombuffer(rows.tobytes(), FINAL_ROW))
    assert again.of(slots(1, 2, 3)).tolist() == [20, 10, INT64_MAX]
    assert again.told(slots(1, 2, 3)).tolist() == [False, True, False]
    assert not len(finals.stored(slots(5)))


def test_it_grows() -> None:
    finals = column(s1=20)
    finals.reserve(200)
    assert finals.of(slots(150)).tolist() == [INT64_MAX] and finals.of(slots(1)).tolist() == [20]
