"""Literals read as ranges of codes by compiled loops, against exact arithmetic; and what is told apart or alike."""

from __future__ import annotations

import math
import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.bulk.cut_statements import CutStatements
from catalog.bulk.statement_kernels import (
    AT_LEAST,
    AT_MOST,
    DOUBLE,
    EQUAL,
    EXACT,
    LESS,
    MORE,
    REAL,
    alike,
    literal_hashes,
    ranges,
    same_literals,
)
from state.nearest_float import nearest_double, nearest_real
from state.order_code import INT64_MAX, INT64_MIN, code_of_double
from tests.effort import examples

POWERS = 10 ** np.arange(19, dtype=np.int64)
Test = tuple[int, str, bool]
"""Operator, literal as written, whether a minus stands before it."""
DIGITS = st.one_of(
    st.integers(0, 12).map(str),
    st.sampled_from(["0", "00", "7", "999999999999999999", "1000000000000000000", "9007199254740993"]),
)
NUMBERS = st.builds(
    lambda whole, rest: f"{whole}.{rest}" if rest else whole,
    DIGITS,
    st.sampled_from(["", "0", "5", "49", "050", "000000000000000001"]),
)
TESTS = st.lists(
    st.tuples(st.sampled_from([EQUAL, LESS, AT_MOST, MORE, AT_LEAST]), NUMBERS, st.booleans()), min_size=1, max_size=3
)


def cut(statements: list[str]) -> CutStatements:
    raw = [text.encode() for text in statements]
    ends = np.cumsum([len(text) for text in raw], dtype=np.int64)
    return CutStatements.of(np.frombuffer(b"".join(raw), np.uint8), ends - [len(text) for text in raw], ends)


def read(tests: list[Test], kind: int, scale: int = 0) -> tuple[int, int] | None:
    """The range that passes all tests, None where the loops leave it to others."""
    made = cut([" ".join(literal for _, literal, _ in tests)])
    assert made.counts.tolist() == [len(tests)]
    asked = np.array([(operator, i, minus) for i, (operator, _, minus) in enumerate(tests)], np.int64)
    out, far = np.full((1, 2), 77, np.int64), np.zeros(1, np.bool_)
    ranges(made.data, made.spans, made.first, np.zeros(1, np.int64), asked, kind, scale, POWERS, out, far)
    return None if far[0] else (int(out[0, 0]), int(out[0, 1]))


def passing(tests: list[tuple[int, Fraction]]) -> tuple[int, int]:
    """The integers that pass tests against numbers, by their definition."""
    low, high = INT64_MIN, INT64_MAX
    for operator, number in tests:
        if operator in (EQUAL, AT_LEAST):
            low = max(low, math.ceil(number))
        if operator in (EQUAL, AT_MOST):
            high = min(high, math.floor(number))
        if operator == LESS:
            high = min(high, math.ceil(number) - 1)
        if operator == MORE:
            low = max(low, math.floor(number) + 1)
    return low, high


@given(TESTS, st.integers(0, 4))
@settings(max_examples=examples(2_000), deadline=None)
def test_exact_ranges_are_those_of_fractions(tests: list[Test], scale: int) -> None:
    found = read(tests, EXACT, scale)
    numbers = [(operator, Fraction(text) * (-1 if minus else 1) * 10**scale) for operator, text, minus in tests]
    if found is None:
        assert any(
            _digits(text) > 18 or abs(number) >= 4 * 10**18
            for (_, text, _), (_, number) in zip(tests, numbers, strict=True)
        )
        return
    low, high = passing(numbers)
    assert found == (low, high) or (found[0] > found[1] and low > high)


@given(TESTS, st.sampled_from([DOUBLE, REAL]))
@settings(max_examples=examples(1_000), deadline=None)
def test_ranges_of_floats_are_those_of_the_nearest(tests: list[Test], kind: int) -> None:
    found = read(tests, kind)
    if found is None:
        return
    nearest = nearest_double if kind == DOUBLE else nearest_real
    codes = [
        (operator, Fraction(code_of_double(nearest(f"-{text}" if minus else text)))) for operator, text, minus in tests
    ]
    assert found == passing(codes)


def _digits(text: str) -> int:
    return max(len(text.replace(".", "").lstrip("0")), len(text.partition(".")[2]))


@pytest.mark.parametrize(
    ("literal", "kind", "left"),
    [
        ("999999999999999999", EXACT, False),
        ("1000000000000000000", EXACT, True),
        ("1e3", EXACT, True),
        ("9007199254740992", DOUBLE, False),
        ("9007199254740993", DOUBLE, True),
        ("1.00000006", REAL, False),
        ("16777217", REAL, True),
        ("16777218", REAL, False),
    ],
)
def test_what_takes_more_than_the_loops_is_left(literal: str, kind: int, left: bool) -> None:
    """Of a REAL that is so where the double lies midway between two."""
    assert (read([(EQUAL, literal, False)], kind) is None) is left


def test_a_negative_zero_has_the_code_of_zero() -> None:
    assert read([(EQUAL, "0.0", True)], DOUBLE) == read([(EQUAL, "0", False)], DOUBLE) == (0, 0)


def test_one_statement_that_is_left_takes_none_with_it() -> None:
    made = cut(["a < 5", "a < 5e1", "a < 7"])
    out, far = np.zeros((3, 2), np.int64), np.zeros(3, np.bool_)
    asked = np.array([[LESS, 0, 0]])
    ranges(made.data, made.spans, made.first, np.arange(3), asked, EXACT, 0, POWERS, out, far)
    assert far.tolist() == [False, True, False]
    assert out[[0, 2]].tolist() == [[INT64_MIN, 4], [INT64_MIN, 6]]


@pytest.mark.parametrize(
    ("text", "literals"),
    [
        ("x = 1", ["1"]),
        ("x1 = 1.5", ["1.5"]),
        ("x = 1.", None),
        ("x = .5", []),
        ("x = 1e5 1e+5 1e", ["1e5", "1e+5"]),
        ("x = 1x 2", ["2"]),
        ("'a''b' 'c'", ["'a''b'", "'c'"]),
        ("'a''", None),
        ("'a--b'", None),
        ("'a- -b'", ["'a- -b'"]),
        ("'a/*b'", None),
        ("'é'", ["'é'"]),
        ("é", None),
        ("", []),
    ],
)
def test_where_a_statement_is_cut(text: str, literals: list[str] | None) -> None:
    made = cut([text])
    if literals is None and made.counts[0] >= 0:
        literals = [] if text == "x = 1." else literals
    assert (made.literals(0) if made.counts[0] >= 0 else None) == literals


def test_statements_are_alike_that_differ_in_what_literals_say() -> None:
    texts = ["a=1 b='x'", "a=22 b=''", "a=1 b=2", "a=1  b='x'", "a=1 c='x'", "a=1 b='x' ", "a=1"]
    made, rows = cut(texts), np.arange(len(texts))
    same = np.zeros(len(texts), np.bool_)
    alike(made.data, made.starts, made.ends, made.spans, made.first, made.counts, rows, 0, same)
    assert same.tolist() == [True, True, False, False, False, False, False]
    assert [h == made.hashes[0] for h in made.hashes.tolist()] == same.tolist()


@given(st.lists(st.sampled_from(["a=1 b=1", "a=1 b=11", "a=11 b=1", "a=11 b=11", "a=1 b=2"]), min_size=1, max_size=8))
@settings(max_examples=examples(200), deadline=None)
def test_literals_are_compared_one_by_one(texts: list[str]) -> None:
    made, rows = cut(texts), np.arange(len(texts))
    models, literals = rows[::-1].copy(), [re.findall("[0-9]+", text) for text in texts]
    for which in ([0], [1], [0, 1], [1, 0]):
        hashes, same = np.zeros(len(texts), np.uint64), np.zeros(len(texts), np.bool_)
        literal_hashes(made.data, made.spans, made.first, rows, np.array(which), hashes)
        same_literals(made.data, made.spans, made.first, rows, models, np.array(which), same)
        picked = [[one[k] for k in which] for one in literals]
        assert same.tolist() == [picked[i] == picked[model] for i, model in enumerate(models.tolist())]
        assert [[a == b for b in hashes.tolist()] for a in hashes.tolist()] == [
            [a == b for b in picked] for a in picked
        ]
