from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from state import byte_table, text_rank
from state.byte_table import Strings
from tests.effort import examples
from tests.oracle.plain_kernels import plain_kernels

CALM = settings(max_examples=examples(80), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
TEXTS = st.lists(st.text("\0aé\U0001f600", max_size=4), unique=True, max_size=20)
NUMBERS = st.lists(st.integers(-(10**21), 10**21) | st.integers(-120, 120), unique=True, max_size=20)


@pytest.fixture
def plain() -> Iterator[None]:
    with plain_kernels(byte_table, text_rank):
        yield


def written(number: int) -> str:
    return f"{Decimal(number).scaleb(-2):.2f}" if abs(number) < 10**20 else f"{str(number)[:-2]}.{str(number)[-2:]}"


def ordered(texts: list[str], first: int, numbers: bool) -> list[str]:
    return [texts[i] for i in text_rank.order(Strings.of(texts).take(np.arange(len(texts))), first, numbers).tolist()]


@CALM
@given(TEXTS, st.data())
def test_texts_are_in_the_order_of_their_code_points(plain: None, texts: list[str], data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(texts)))
    mixed = sorted(texts[:first]) + texts[first:]
    assert ordered(mixed, first, False) == sorted(texts)


@CALM
@given(NUMBERS, st.data())
def test_decimals_are_in_the_order_of_their_values(plain: None, numbers: list[int], data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(numbers)))
    mixed = [written(number) for number in sorted(numbers[:first]) + numbers[first:]]
    assert ordered(mixed, first, True) == [written(number) for number in sorted(numbers)]


@CALM
@given(TEXTS, TEXTS)
def test_places_count_what_is_below(plain: None, texts: list[str], wanted: list[str]) -> None:
    held = sorted(texts)
    for past in (False, True):
        found = text_rank.places(Strings.of(held), Strings.of(wanted), np.full(len(wanted), past), False)
        assert found.tolist() == [sum(text < each or (past and text == each) for text in held) for each in wanted]


def test_places_of_decimals(plain: None) -> None:
    held, wanted = Strings.of(["-1.50", "0.00", "10.25"]), Strings.of(["-2.00", "-1.50", "0.01", "9.99", "10.25"])
    assert text_rank.places(held, wanted, np.zeros(5, np.bool_), True).tolist() == [0, 0, 2, 2, 2]
    assert text_rank.places(held, wanted, np.ones(5, np.bool_), True).tolist() == [0, 1, 2, 2, 3]


def test_ten_thousand_texts_compiled() -> None:
    texts = [f"{i * 7919 % 10_007:x}" for i in range(10_000)]
    mixed = sorted(texts[:9_000]) + texts[9_000:]
    assert ordered(mixed, 9_000, False) == sorted(texts)
