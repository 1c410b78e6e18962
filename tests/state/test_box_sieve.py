import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from state.box_sieve import LANE, Sieve
from state.boxes import Boxes, hashes_of
from state.order_code import INT64_MAX, INT64_MIN
from tests.effort import examples

GROUPS = [b"[%d]" % i for i in range(5)]
HASHES = hashes_of(GROUPS)
END = st.one_of(st.integers(0, 9), st.sampled_from([INT64_MIN, INT64_MAX]))
SPAN = st.tuples(END, END).map(sorted)
NAMED = st.one_of(st.none(), st.sets(st.integers(0, 3), min_size=1))
BOX = st.tuples(SPAN, SPAN, NAMED)
RECTANGLE = st.tuples(st.integers(0, 1), st.integers(0, 4), SPAN, SPAN)


def boxes_of(box) -> Boxes:
    bounds = np.array([[*lo, *hi] for lo, hi, _ in box], np.int64).reshape(-1, 4)
    return Boxes(bounds, tuple(None if named is None else np.sort(HASHES[sorted(named)]) for _, _, named in box))


def plain(box, group, lo, hi) -> bool:
    def overlap(one, other) -> bool:
        return one[0] <= other[1] and one[1] >= other[0]

    return any(overlap(lo, x) and overlap(hi, y) and (named is None or group in named) for x, y, named in box)


@given(
    data=st.data(),
    edges=st.integers(0, 6),
    rectangles=st.lists(RECTANGLE, max_size=8),
)
@settings(max_examples=examples(150), deadline=None)
def test_it_meets_what_a_look_at_every_box_says(data, edges, rectangles):
    boxes = data.draw(
        st.lists(st.lists(st.lists(BOX, max_size=4), min_size=edges, max_size=edges), min_size=2, max_size=2)
    )
    channel, group = (np.array([r[i] for r in rectangles], np.int32) for i in (0, 1))
    bounds = np.array([[*lo, *hi] for _, _, lo, hi in rectangles], np.int64).reshape(-1, 4)
    sieve = Sieve([[boxes_of(box) for box in row] for row in boxes])
    sieve.check()
    met = sieve.meets(HASHES, channel, group, tuple(bounds.T))
    assert met.shape == (edges, len(rectangles))
    assert met.tolist() == [[plain(boxes[c][e], g, lo, hi) for c, g, lo, hi in rectangles] for e in range(edges)]


def test_edges_of_many_boxes_and_more_bits_than_a_word():
    many = boxes_of([((i, i), (i, i), None) for i in range(LANE)])
    rectangles = tuple(np.array([LANE - 1, LANE]) for _ in range(4))
    met = Sieve([[many] * 70]).meets(HASHES, np.zeros(2, np.int32), np.zeros(2, np.int32), rectangles)
    assert met.tolist() == [[True, False]] * 70


def test_nobody_and_nothing():
    none = np.zeros(0, np.int32)
    assert Sieve([]).meets(HASHES, none, none, (none.astype(np.int64),) * 4).shape == (0, 0)
