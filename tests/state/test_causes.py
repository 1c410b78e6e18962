import numpy as np

from state.causes import Causes
from state.change_batch import ChangeBatch


def changes(cause: list[int] | None = None) -> ChangeBatch:
    offset = np.array([5, 7, 7, 7, 9], np.int64)
    given = {} if cause is None else {"cause": np.array(cause, np.int32)}
    nothing = np.zeros((0, 5), np.int64)
    return ChangeBatch([b"k"] * 5, offset > 0, nothing, nothing > 0, {}, np.ones(5, np.int32), offset, **given)


def test_each_change_is_its_own_cause_where_none_is_given():
    batch = changes()
    causes = Causes.of("t", batch)
    assert batch.cause.tolist() == [0, 1, 2, 3, 4] and not batch.shared
    assert len(causes) == 5 and causes.offset is batch.offset and causes.topics == ["t"]


def test_changes_of_one_record_share_a_cause():
    batch = changes([0, 1, 1, 1, 2])
    causes = Causes.of("t", batch)
    assert batch.shared and causes.offset.tolist() == [5, 7, 9]
    assert causes.partition.tolist() == [1, 1, 1] and causes.topic.tolist() == [0, 0, 0]


def test_those_that_are_named_are_numbered_without_gaps():
    causes = Causes.of("t", changes())
    some, cause = causes.named(np.array([1, 1, 4], np.int32))
    assert cause.tolist() == [0, 0, 1] and cause.dtype == np.int32
    assert (some.offset.tolist(), some.partition.tolist(), some.topics) == ([7, 9], [1, 1], ["t"])
    every = np.arange(5, dtype=np.int32)
    assert causes.named(every)[0] is causes
    none, nothing = causes.named(every[:0])
    assert len(none) == 0 == len(nothing)
