"""Codes of values are inside the codes of an interval exactly if the values are inside the interval."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.index import label_order
from overlay.index.text_codes import TextCodes
from tests.effort import examples

texts = st.text("abc", max_size=3).map(str.encode)
intervals = st.tuples(texts, texts).filter(lambda pair: pair[0] < pair[1])


@settings(max_examples=examples(200))
@given(st.lists(intervals, min_size=1, max_size=9), st.lists(texts, max_size=9), st.sampled_from([4, 2**40]))
def test_values_are_inside_as_their_keys_are(asked: list[tuple[bytes, bytes]], values: list[bytes], gap: int) -> None:
    codes, given_out = TextCodes(), dict[tuple[bytes, bytes], tuple[int, int]]()
    original, label_order._GAP = label_order._GAP, gap
    try:
        for one in asked:
            moved = codes.add(one)
            if moved is not None:
                before, after = moved
                assert (np.diff(before) > 0).all() and (np.diff(after) > 0).all()
                became = dict(zip(before.tolist(), after.tolist(), strict=True))
                given_out = {pair: (became[lo], became[hi]) for pair, (lo, hi) in given_out.items()}
            given_out[one] = codes.interval(*one)
            codes.check()
            found = codes.of(values).tolist()
            for (lo, hi), (first, last) in given_out.items():
                assert codes.interval(lo, hi) == (first, last)
                assert [first <= code <= last for code in found] == [lo <= value < hi for value in values]
    finally:
        label_order._GAP = original


def test_a_bound_is_there_until_the_last_interval_has_gone() -> None:
    codes = TextCodes()
    codes.add([b"a", b"c"])
    codes.add([b"a", b"b"])
    for bound in (b"a", b"b"):
        codes.release(bound)
    assert len(codes) == 2 and codes.interval(b"a", b"c") is not None
    assert len(set(codes.of([b"a", b"b", b"bb", b"c", b"d", b""]).tolist())) == 5
