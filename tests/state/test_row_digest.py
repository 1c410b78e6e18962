"""Numbers of rows against the textbook's, the arithmetic of bags, and the values that are stored somewhere."""

from __future__ import annotations

import random

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from state import row_digest
from state.byte_table import Strings
from state.order_code import INT64_MAX, INT64_MIN
from state.row_digest import Digest, hashes, warm
from tests.effort import examples
from tests.oracle.naive_row_digest import number, siphash128
from tests.oracle.plain_kernels import plain_kernels

KEY = bytes(range(16))
GOLDEN = [(823975514219851512, 1428966671294632362), (10073290120410914818, 13184494691770810844)]
codes = st.none() | st.sampled_from([INT64_MIN, -1, 0, 1, INT64_MAX])
letters = st.none() | st.sampled_from(["", "a", "b", "12345678", "Zürich", "\U0010ffff" * 5])
tables = st.lists(st.sampled_from([int, str]), min_size=1, max_size=4).flatmap(
    lambda kinds: st.tuples(st.just(kinds), st.lists(st.tuples(*(codes if k is int else letters for k in kinds))))
)


def numbers(rows: list, kinds: list, key: bytes = KEY, source: random.Random | None = None, raw: bool = False) -> list:
    """Return the rows' numbers; texts are numbered in an order of the `source`, and values of NULLs are rubbish."""
    columns, valid, texts = [], [], []
    for c, kind in enumerate(kinds):
        values = [row[c] for row in rows]
        distinct = sorted({v for v in values if v is not None} | {"unused"}) if kind is str else None
        if distinct is not None:
            (source or random.Random(1)).shuffle(distinct)
            values = [None if v is None else distinct.index(v) for v in values]
        columns.append(np.array([-77 if v is None else v for v in values], np.int64))
        valid.append(np.array([v is not None for v in values], np.bool_))
        texts.append(Strings.of([t.encode() for t in distinct]) if raw and distinct is not None else distinct)
    low, high = hashes(key, columns, valid, texts)
    return list(zip(low.tolist(), high.tolist(), strict=True))


@pytest.mark.parametrize(
    ("message", "expected"),
    [(b"", "a3817f04ba25a8e66df67214c7550293"), (b"\0", "da87c1d86b99af44347659119b22fc45")],
)
def test_the_twin_is_the_published_function(message: bytes, expected: str) -> None:
    assert b"".join(lane.to_bytes(8, "little") for lane in siphash128(KEY, message)).hex() == expected


@settings(max_examples=examples(100), deadline=None)
@given(tables, st.randoms(use_true_random=False), st.booleans())
def test_numbers_are_those_of_the_textbook_whatever_numbers_texts_have(
    table: tuple, source: random.Random, raw: bool
) -> None:
    kinds, rows = table
    assert numbers(rows, kinds, source=source, raw=raw) == [number(KEY, row, kinds) for row in rows]


def test_plain_kernels_say_the_same() -> None:
    rows, kinds = [(1, "a", None), (None, None, 3), (INT64_MIN, "x" * 17, -1)], [int, str, int]
    with plain_kernels(row_digest):
        assert numbers(rows, kinds) == [number(KEY, row, kinds) for row in rows]


def test_many_rows_and_many_columns() -> None:
    source = random.Random(5)
    rows = [tuple(source.choice([None, 0, 1, 2]) for _ in range(70)) for _ in range(600)]
    kinds = [int] * 70
    found = numbers(rows, kinds)
    assert found[::50] == [number(KEY, row, kinds) for row in rows[::50]] and len(set(found)) == len(set(rows))


def test_order_of_columns_null_and_key_matter() -> None:
    row = numbers([(1, 2)], [int, int])
    assert row != numbers([(2, 1)], [int, int])
    assert row != numbers([(1, 2)], [int, int], key=bytes(16))
    assert numbers([(0, None)], [int, int]) != numbers([(0, 0)], [int, int])
    assert numbers([("", None)], [str, str]) != numbers([(None, "")], [str, str])
    assert numbers([("ab", "c")], [str, str]) != numbers([("a", "bc")], [str, str])


def test_golden_numbers() -> None:
    """These stand in stored digests: another number here needs another format there."""
    assert numbers([(1, "Zürich", None), (None, None, INT64_MIN)], [int, str, int]) == GOLDEN


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 9)), max_size=30))
def test_a_bag_is_the_sum_of_its_rows_in_any_order(steps: list) -> None:
    low, high = hashes(KEY, [np.arange(10)], np.ones((1, 10), np.bool_), [None])
    bag, held = Digest(), []
    for comes, i in steps:
        one = Digest.of(low[i : i + 1], high[i : i + 1])
        if comes:
            bag, held = bag + one, [*held, i]
        elif i in held:
            bag = bag - one
            held.remove(i)
    assert bag == Digest.of(low[sorted(held)], high[sorted(held)])
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(bag), type=Digest) == bag


@pytest.mark.parametrize(("key", "columns"), [(b"short", 1), (KEY, 0)])
def test_a_wrong_key_and_no_columns_are_refused(key: bytes, columns: int) -> None:
    with pytest.raises(ValueError, match="cannot hash rows"):
        hashes(key, [np.zeros(1, np.int64)] * columns, [np.ones(1, np.bool_)] * columns, [None] * columns)


def test_no_rows_have_no_numbers() -> None:
    low, high = hashes(KEY, [np.zeros(0, np.int64)], np.ones((1, 0), np.bool_), [None])
    assert len(low) == len(high) == 0 and Digest.of(low, high) == Digest()


def test_warm_leaves_one_specialisation_of_each_kernel() -> None:
    warm()
    numbers([(1, "a")], [int, str], raw=True)
    assert [len(kernel.signatures) for kernel in row_digest.ENTRIES] == [1, 1]
