"""Terms read as columns are what `decode_terms` reads, or left to it."""

from __future__ import annotations

import msgspec
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.bulk.term_columns import TermColumns
from catalog.query.filter_terms import Box, decode_terms, encode_terms
from catalog.query.value_set import ValueSet
from state.filter_columns import COUNT, NULL, CodedBox, FilterColumns
from state.order_code import INT64_MAX, INT64_MIN
from tests.effort import examples
from tests.fuzz.mutation import damaged

CODE = st.integers(-3, 3) | st.sampled_from([INT64_MIN, INT64_MIN + 1, INT64_MAX, INT64_MAX - 1, -129, 255, 2**40])
SET = st.builds(ValueSet.of, st.lists(st.tuples(CODE, CODE), max_size=3), st.booleans()).filter(bool)
BOXES = st.lists(st.dictionaries(st.integers(0, 40), SET, max_size=3), max_size=3)
TEXTS = st.just([{0: ValueSet(((b"a", b"b"),))}])
TERMS = (BOXES | TEXTS).map(encode_terms)


def read(columns: TermColumns, i: int) -> list[Box]:
    """Return the boxes of one filter as `decode_terms` does."""
    boxes: list[Box] = []
    for b in range(columns.boxes[i], columns.boxes[i + 1]):
        box: Box = {}
        for head, lo, hi in columns.conditions[columns.starts[b] : columns.starts[b + 1]].tolist():
            many = head >> COUNT
            intervals = [(lo, hi)] if many == 1 else [(a, c) for a, c in columns.bounds[lo : lo + many].tolist()]
            box[head & 2**NULL - 1] = ValueSet(tuple(intervals), bool(head >> NULL & 1))
        boxes.append(box)
    return boxes


def coded(boxes: list[Box]) -> bool:
    return not any(isinstance(bound, bytes) for box in boxes for s in box.values() for i in s.intervals for bound in i)


@given(st.lists(TERMS | damaged(TERMS), max_size=6))
@settings(max_examples=examples(600), deadline=None)
def test_what_is_taken_is_what_is_read_one_by_one_and_codes_are_taken(terms: list[bytes]) -> None:
    columns = TermColumns.of(terms)
    for i, one in enumerate(terms):
        try:
            boxes = decode_terms(one)
        except ValueError:
            assert not columns.taken[i]
            continue
        assert read(columns, i) == (boxes if columns.taken[i] else [])
        assert columns.taken[i] or not coded(boxes) or one != encode_terms(boxes)


def test_numbers_that_no_code_is_and_arrays_that_are_cut_are_left() -> None:
    too_large = msgspec.msgpack.encode([[[0, [[0, 2**63]], False]]])
    touching = msgspec.msgpack.encode([[[0, [[0, 1], [2, 3]], False]]])
    odd = [too_large, touching, b"", b"\xdd", b"\x91\x91\x93\x00\x91\x92\xd3", b"\x90\x90", b"\xdc\xff\xff"]
    assert not TermColumns.of(odd).taken.any()


@given(st.lists(BOXES, max_size=5))
@settings(max_examples=examples(200), deadline=None)
def test_numbered_is_what_an_index_takes(filters: list[list[Box]]) -> None:
    columns = TermColumns.of([encode_terms(boxes) for boxes in filters])
    greatest = [max((place for box in boxes for place in box), default=-1) for boxes in filters]
    found = np.full(len(filters), -1)
    np.maximum.at(found, columns.owners, columns.places)
    assert found.tolist() == greatest
    numbers = np.arange(100, 141)[None] * np.array([[1], [2]])
    shape = np.arange(len(filters)) % 2
    made = columns.numbered(np.arange(len(filters)) * 3, np.arange(len(filters)).astype(np.uint64), numbers, shape)
    expected = FilterColumns.of(
        (3 * i, _coded(boxes, numbers[i % 2].tolist()), ()) for i, boxes in enumerate(filters) if boxes
    )
    for name in ("slots", "boxes", "starts", "conditions", "bounds"):
        assert getattr(made, name).tolist() == getattr(expected, name).tolist(), name
    assert made.interest.tolist() == [i for i, boxes in enumerate(filters) if boxes]


def _coded(boxes: list[Box], numbers: list[int]) -> list[CodedBox]:
    sets = (sorted(box.items()) for box in decode_terms(encode_terms(boxes)))
    return [[(numbers[place], values.intervals, values.null) for place, values in box] for box in sets]  # type: ignore[misc]
