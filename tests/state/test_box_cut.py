import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from state.box_cut import SAMPLE, cut, scaled
from state.order_code import INT64_MAX, INT64_MIN
from tests.effort import examples

NUMBER = st.one_of(st.integers(-9, 9), st.sampled_from([INT64_MIN, INT64_MAX]), st.integers(INT64_MIN, INT64_MAX))


@given(points=st.lists(st.tuples(st.integers(0, 3), NUMBER, NUMBER), min_size=1, max_size=20), limit=st.integers(1, 6))
@settings(max_examples=examples(150), deadline=None)
def test_the_sets_are_a_partition(points, limit):
    group, lo, hi = (np.array([point[i] for point in points], np.int64) for i in range(3))
    sets = cut(group.astype(np.uint32), lo, hi, limit)
    assert 1 <= len(sets) <= limit and all(len(part) for part in sets)
    assert sorted(np.concatenate(sets).tolist()) == list(range(len(points)))


@example(values=[INT64_MAX, -11, 25_811_604_814_582_830])
@given(values=st.lists(NUMBER, min_size=1, max_size=9))
@settings(max_examples=examples(100), deadline=None)
def test_scaling_keeps_the_order(values):
    places = scaled(np.array(sorted(values)))
    assert (places[1:] >= places[:-1]).all() and places.min() >= 0 and places.max() <= 1


def test_what_is_beyond_the_sample_is_parted_too():
    lo = np.concatenate((np.zeros(3 * SAMPLE, np.int64), np.full(3 * SAMPLE, 1_000)))
    assert sorted(map(len, cut(np.zeros(len(lo), np.uint32), lo, lo, 4))) == [3 * SAMPLE, 3 * SAMPLE]


def test_one_point_is_one_set():
    assert [part.tolist() for part in cut(np.zeros(5, np.uint32), np.full(5, 3), np.full(5, 4), 16)] == [list(range(5))]
