import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from state.box_merge import join
from state.order_code import INT64_MAX, INT64_MIN
from tests.effort import examples

END = st.one_of(st.integers(-9, 9), st.sampled_from([INT64_MIN, INT64_MAX]))
SPAN = st.tuples(END, END).map(sorted)
BOX = st.tuples(SPAN, SPAN, st.one_of(st.none(), st.sets(st.integers(0, 5), min_size=1)))


def named(groups) -> list:
    return [None if group is None else np.array(sorted(group), np.uint32) for group in groups]


@given(boxes=st.lists(BOX, min_size=1, max_size=9), limit=st.integers(1, 4))
@settings(max_examples=examples(100), deadline=None)
def test_every_box_lies_in_one_of_the_joined_ones(boxes, limit):
    bounds = np.array([[*lo, *hi] for lo, hi, _ in boxes], np.int64)
    sides, members = join(bounds, named(group for _, _, group in boxes), limit)
    assert len(sides) == len(members) == min(limit, len(boxes))
    for lo, hi, group in boxes:
        assert any(
            (side[0] <= lo[0] and lo[1] <= side[1] and side[2] <= hi[0] and hi[1] <= side[3])
            and (some is None or (group is not None and group <= set(some.tolist())))
            for side, some in zip(sides.tolist(), members, strict=True)
        )


def test_neighbours_are_joined_first():
    bounds = np.array([[0, 1, 0, 1], [900, 901, 900, 901], [2, 3, 2, 3]], np.int64)
    sides, _ = join(bounds, named([{1}, {1}, {1}]), 2)
    assert sides.tolist() == [[0, 3, 0, 3], [900, 901, 900, 901]]


def test_boxes_of_one_group_are_joined_before_those_of_two():
    bounds = np.array([[0, 10, 0, 10], [0, 10, 0, 10], [0, 12, 0, 12]], np.int64)
    sides, members = join(bounds, named([{1}, {2}, {1}]), 2)
    assert [group.tolist() for group in members if group is not None] == [[1], [2]]
    assert sides.tolist() == [[0, 12, 0, 12], [0, 10, 0, 10]]
