"""The bytes of boxes: read as they were written, equal where the boxes are, and refused where nothing writes them."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.query.filter_terms import MAX_BOXES, MAX_COLUMNS, MAX_INTERVALS, Box, decode_terms, encode_terms
from catalog.query.value_set import ValueSet
from state.order_code import INT64_MAX, INT64_MIN
from tests.effort import deep_examples, examples

ints = st.integers(INT64_MIN, INT64_MAX)
keys = st.binary(max_size=3)
sets = st.one_of(
    st.builds(ValueSet.of, st.lists(st.tuples(ints, ints), max_size=4), st.booleans()),
    st.builds(ValueSet.of, st.lists(st.tuples(keys, keys), max_size=4), st.booleans()),
).filter(bool)
boxes = st.lists(st.dictionaries(st.integers(0, 40), sets, max_size=5), max_size=6)


@pytest.mark.deep
@given(boxes)
@settings(deadline=None, max_examples=deep_examples(500))
def test_boxes_survive_their_bytes(some: list[Box]) -> None:
    read = decode_terms(encode_terms(some))
    assert sorted(map(repr, map(sorted_box, read))) == sorted(map(repr, map(sorted_box, some)))
    assert encode_terms(read) == encode_terms(some)


@given(boxes, st.randoms())
@settings(deadline=None, max_examples=examples(200))
def test_bytes_hang_on_no_order(some: list[Box], random) -> None:
    other = [dict(random.sample(list(box.items()), len(box))) for box in some]
    random.shuffle(other)
    assert encode_terms(other) == encode_terms(some)


def test_bytes_stay_as_they_are() -> None:
    some = [{1: ValueSet(((6, INT64_MAX),), True), 0: ValueSet(((b"a", b"a\0"),))}, {}]
    golden = "92909293009192c40161c4026100c29301919206cf7fffffffffffffffc3"
    assert encode_terms([]) == b"\x90" and encode_terms([{}]) == b"\x91\x90"
    assert encode_terms(some).hex() == golden


def refused(value: object) -> None:
    with pytest.raises(ValueError):
        decode_terms(msgspec.msgpack.encode(value))


@pytest.mark.parametrize(
    "value",
    [
        None,
        5,
        {},
        [5],
        [[5]],
        [[[0, [[1, 2]]]]],
        [[[0, [[1, 2, 3]], False]]],
        [[[0, [[1, "2"]], False]]],
        [[[0, [[1, b"2"]], False]]],
        [[[0, [[1, 2], [b"a", b"b"]], False]]],
        [[[0, [[1, 2.5]], False]]],
        [[[0, [[1, True]], False]]],
        [[[0, [[1, 2]], 0]]],
        [[[0, [], False]]],
        [[[0, [[2, 1]], False]]],
        [[[0, [[b"a", b"a"]], False]]],
        [[[0, [[1, 2], [3, 4]], False]]],
        [[[0, [[5, 6], [1, 2]], False]]],
        [[[0, [[b"a", b"b"], [b"b", b"c"]], False]]],
        [[[0, [[1, 2**63]], False]]],
        [[[-1, [[1, 2]], False]]],
        [[[1, [[1, 2]], False], [0, [[1, 2]], False]]],
        [[[0, [[1, 2]], False], [0, [[1, 2]], False]]],
        [[]] * (MAX_BOXES + 1),
        [[[i, [[1, 2]], False] for i in range(MAX_COLUMNS + 1)]],
        [[[0, [[2 * i, 2 * i] for i in range(MAX_INTERVALS + 1)], False]]],
    ],
    ids=lambda value: repr(value)[:40],
)
def test_what_is_not_sound_is_refused(value) -> None:
    refused(value)


def test_as_much_as_may_be_is_read() -> None:
    most = {i: ValueSet.of([(2 * k, 2 * k) for k in range(MAX_INTERVALS)]) for i in range(MAX_COLUMNS)}
    assert decode_terms(encode_terms([most] * 2)) == [most] * 2
    assert len(decode_terms(encode_terms([{}] * MAX_BOXES))) == MAX_BOXES


@given(st.binary(max_size=12))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        found = decode_terms(data)
    except ValueError:
        return
    assert decode_terms(encode_terms(found)) is not None


def sorted_box(box: Box) -> list[tuple[int, ValueSet]]:
    return sorted(box.items())
