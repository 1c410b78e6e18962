"""The readers of the benchmark hear every message once, however it is cut."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from benchmarks.push_readers import Reader
from connectors.http.stream import Portion, sse_frame
from overlay.delivery.delivery import Position, delivery, moved

LINES = [delivery('"r0"', "change", 0, n, moved(str(n - 1), str(n)), Position(0, 1).text) for n in range(1, 9)]
PROGRESS = b'{"kind":"progress","epoch":0,"batch":1,"time":"t"}'


@given(st.lists(st.integers(1, 900), max_size=8))
def test_any_cuts(cuts: list[int]) -> None:
    news: list[int] = []
    reader = Reader("r0", False, lambda one: news.append(one.last))
    text = sse_frame(Portion([*LINES[:5], PROGRESS], "0:0.5")) + sse_frame(Portion(LINES[5:], "0:0.8"))
    places = [0, *sorted(cuts), len(text)]
    for begin, end in pairwise(places):
        reader.data_received(text[begin:end])
    assert (reader.heard, reader.last) == (8, 8)
    assert news == sorted(set(news))
