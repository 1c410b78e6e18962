from __future__ import annotations

import json

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.json.byte_layout import ByteLayout, equal_strings
from tests.effort import examples


def test_none_is_laid_out_as_nothing():
    layout, present = ByteLayout.of_nullable([b"ab", None, b"", b"c"])
    assert layout.byte_strings() == [b"ab", b"", b"", b"c"]
    assert present.tolist() == [True, False, True, True]
    assert layout.lengths.tolist() == [2, 0, 0, 1]
    for empty in (ByteLayout.of([]), ByteLayout.of_nullable([None])[0]):
        assert empty.data.tolist() == []


def test_texts_are_none_where_not_valid():
    layout = ByteLayout.of(["é", "", "x"], text=True)
    assert layout.texts(np.array([True, True, False])) == ["é", "", None]


@given(st.lists(st.text(max_size=6), max_size=12), st.booleans())
@settings(max_examples=examples(100), deadline=None)
def test_unescaped_spans_are_the_texts_that_were_escaped(texts, ascii_only):
    spelled = [json.dumps(text, ensure_ascii=ascii_only).encode() for text in texts]
    layout = ByteLayout.of(spelled)
    found = ByteLayout.unescaped(layout.data, layout.offsets[:-1] + 1, layout.offsets[1:] - 1)
    assert found.texts(np.ones(len(texts), np.bool_)) == texts


def test_slashes_and_upper_case_escapes():
    data = np.frombuffer(rb"\/\u00E9\uD83D\uDE00", np.uint8)
    assert ByteLayout.unescaped(data, np.array([0]), np.array([len(data)])).byte_strings() == ["/é😀".encode()]


@given(st.lists(st.sampled_from([b"", b"a", b"ab", b"b"]), min_size=1, max_size=8))
@settings(max_examples=examples(50), deadline=None)
def test_strings_are_compared_by_their_bytes(strings):
    layout = ByteLayout.of(strings)
    forward = np.arange(len(strings))
    same = equal_strings(layout, forward, layout, forward[::-1].copy())
    assert same.tolist() == [left == right for left, right in zip(strings, strings[::-1], strict=True)]
