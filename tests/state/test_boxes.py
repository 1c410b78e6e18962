import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from state import box_sieve
from state.boxes import MAX_BOXES, MAX_GROUPS, Boxes, hashes_of, warm
from state.errors import StateError
from state.order_code import INT64_MAX, INT64_MIN
from tests.effort import examples

NUMBER = st.one_of(st.integers(-20, 20), st.sampled_from([INT64_MIN, INT64_MAX]), st.integers(INT64_MIN, INT64_MAX))
POINT = st.tuples(st.integers(0, 5), NUMBER, NUMBER)
RECTANGLE = st.tuples(st.integers(0, 5), st.tuples(NUMBER, NUMBER).map(sorted), st.tuples(NUMBER, NUMBER).map(sorted))
GROUPS = [b"[%d]" % i for i in range(6)]
HASHES = hashes_of(GROUPS)


def columns(points):
    group, lo, hi = (np.array([point[i] for point in points], np.int64) for i in range(3))
    return HASHES[group], lo, hi


def meets(boxes: Boxes, rectangles) -> list[bool]:
    group = np.array([rectangle[0] for rectangle in rectangles], np.int32)
    bounds = np.array([[*lo, *hi] for _, lo, hi in rectangles], np.int64).reshape(-1, 4)
    return boxes.meets(HASHES, group, *bounds.T).tolist()


def wanted(points, rectangles) -> list[bool]:
    """By looking at every point."""
    return [
        any(g == group and lo[0] <= x <= lo[1] and hi[0] <= y <= hi[1] for g, x, y in points)
        for group, lo, hi in rectangles
    ]


def is_covered(boxes: Boxes, points, rectangles) -> bool:
    return all(met for met, must in zip(meets(boxes, rectangles), wanted(points, rectangles), strict=True) if must)


@given(
    points=st.lists(st.lists(POINT, max_size=12), min_size=1, max_size=4),
    rectangles=st.lists(RECTANGLE, max_size=8),
    limit=st.integers(1, 4),
)
@settings(max_examples=examples(200), deadline=None)
def test_never_a_false_negative(points, rectangles, limit):
    boxes, known = Boxes.none(), []
    for more in points:
        boxes, known = boxes.widen(*columns(more), limit=limit), known + more
        boxes.check()
        assert len(boxes) <= limit
        exact = [(g, (x, x), (y, y)) for g, x, y in known]
        assert all(meets(boxes, exact)) and is_covered(boxes, known, rectangles)
    built = Boxes.of(*columns(known), limit=limit)
    built.check()
    assert is_covered(built, known, rectangles + exact)
    again = Boxes.load(built.dump())
    assert again.dump() == built.dump() and meets(again, rectangles) == meets(built, rectangles)


def test_points_that_lie_in_heaps_get_a_box_each():
    rng = np.random.default_rng(1)
    heap = rng.integers(0, 8, 4_000)
    lo = heap * 1_000 + rng.integers(0, 20, 4_000)
    hi = lo + rng.integers(0, 20, 4_000)
    boxes = Boxes.of(np.full(4_000, HASHES[0]), lo, hi)
    between = [(0, (i * 1_000 + 500, i * 1_000 + 600), (i * 1_000 + 500, INT64_MAX)) for i in range(8)]
    assert not any(meets(boxes, between))
    assert all(meets(boxes, [(0, (i * 1_000, i * 1_000 + 20), (INT64_MIN, INT64_MAX)) for i in range(8)]))


def test_groups_that_ask_apart_are_told_apart():
    group = np.arange(600) % 6
    lo = group * 100
    boxes = Boxes.of(HASHES[group], lo, lo + 10)
    assert meets(boxes, [(2, (200, 200), (210, 210)), (3, (200, 200), (210, 210))]) == [True, False]


def test_ranges_without_bounds_do_not_hide_the_room_between_the_others():
    lo = np.array([INT64_MIN, 0, 1_000_000] * 50)
    boxes = Boxes.of(np.full(150, HASHES[0]), lo, lo + 10 * (lo > INT64_MIN))
    assert meets(boxes, [(0, (500, 5_000), (500, 5_000)), (0, (INT64_MIN, 0), (INT64_MIN, 0))]) == [False, True]


def test_without_codes_only_groups_are_told_apart():
    boxes = Boxes.of(HASHES[:2])
    assert meets(boxes, [(1, (-1, -1), (4, 5)), (2, (-1, -1), (4, 5))]) == [True, False]
    assert meets(boxes.widen(HASHES[2:3]), [(2, (3, 3), (4, 5)), (3, (3, 3), (4, 5))]) == [True, False]


def test_too_many_groups_are_any_group():
    many = hashes_of([b"[%d]" % i for i in range(MAX_GROUPS + 1)])
    boxes = Boxes.of(many, np.zeros(len(many), np.int64), np.zeros(len(many), np.int64))
    boxes.check()
    assert meets(boxes, [(0, (0, 0), (0, 0))]) == [True]
    assert meets(boxes.widen(HASHES[:1], np.array([7]), np.array([9])), [(0, (7, 7), (9, 9))]) == [True]


def test_what_boxes_cover_already_widens_nothing():
    lo = np.arange(100)
    boxes = Boxes.of(np.full(100, HASHES[0]), lo, lo + 1)
    assert boxes.widen(HASHES[:1], np.array([7]), np.array([8])) is boxes
    assert len(boxes.widen(HASHES[1:2], np.array([70_000]), np.array([80_000]))) <= MAX_BOXES


def test_nothing_meets_no_boxes():
    assert meets(Boxes.none(), [(0, (INT64_MIN, INT64_MAX), (INT64_MIN, INT64_MAX))]) == [False]
    assert len(Boxes.of(HASHES[:0], np.zeros(0, np.int64), np.zeros(0, np.int64))) == 0


@pytest.mark.parametrize("data", [b"", b"\x92", b"\x92\xc4\x03abc\x90", Boxes.of(HASHES[:1]).dump() + b"x"])
def test_other_bytes_are_refused(data):
    with pytest.raises(StateError, match="boxes"):
        Boxes.load(data)


def test_warm_leaves_one_specialisation_of_each_kernel():
    warm()
    few, read_only = Boxes.of(HASHES, np.arange(6), np.arange(6)), np.arange(4)
    read_only.flags.writeable = False
    assert few.meets(HASHES, np.arange(4, dtype=np.int32), *[read_only] * 4).all()
    assert meets(few, [(0, (0, 0), (0, 0)), (1, (0, 0), (0, 0))]) == [True, False]
    assert [len(kernel.signatures) for kernel in box_sieve.ENTRIES] == [1]
