"""Boxes: as few as may be, the same for the same condition, and never more than are taken."""

import itertools
import random
import time

import pytest

from catalog.query.filter_terms import MAX_BOXES, MAX_INTERVALS, Box, decode_terms
from catalog.query.value_set import ValueSet
from catalog.sql.errors import SubscriptionError
from tests.catalog.sample import region


def boxes(condition: str) -> list[Box]:
    return decode_terms(region(condition, "symbol").terms)


def terms(condition: str) -> bytes:
    return region(condition, "symbol").terms


@pytest.mark.parametrize(
    ("condition", "count"),
    [
        ("", 1),
        ("volume = 1", 1),
        ("volume = 1 OR volume = 2", 1),
        ("volume IN (1, 2) AND small IN (3, 4)", 1),
        ("volume = 1 OR small = 2", 2),
        ("(volume = 1 OR small = 2) AND (volume = 3 OR small = 2)", 1),
        ("(volume = 1 OR small = 2) AND (risk = 3 OR price = 4)", 4),
        ("volume = 1 AND small = 2 OR volume = 3 AND small = 2", 1),
        ("volume = 1 AND small = 2 OR volume = 3 AND small = 4", 2),
        ("volume = 1 OR volume = 1 AND small = 2", 1),
        ("volume = 1 AND volume = 2", 0),
        ("volume = 1 AND volume = 2 OR small = 1 AND small = NULL", 0),
        ("volume IS NULL OR volume IS NOT NULL", 1),
        ("open AND volume = 1 OR NOT open AND volume = 1 OR open IS NULL AND volume = 1", 1),
        (" OR ".join(f"volume = {i} AND small = {k}" for i in (1, 2) for k in (1, 2)), 1),
    ],
)  # fmt: skip
def test_boxes_are_few(condition, count) -> None:
    assert len(boxes(condition)) == count


def test_what_is_no_condition_is_left_out() -> None:
    assert boxes("") == boxes("volume IS NULL OR volume IS NOT NULL") == [{}]
    assert boxes("(volume <> 1 OR volume = 1 OR volume IS NULL) AND small = 2") == [{1: ValueSet(((2, 2),))}]
    merged = boxes("open AND volume = 1 OR NOT open AND volume = 1 OR open IS NULL AND volume = 1")
    assert merged == [{0: ValueSet(((1, 1),))}]


def test_equal_conditions_have_equal_terms() -> None:
    sides = ["volume = 1", "small BETWEEN 2 AND 3", "price <> 1", "symbol LIKE 'a%'"]
    assert len({terms(" OR ".join(order)) for order in itertools.permutations(sides)}) == 1
    assert len({terms(" AND ".join(order)) for order in itertools.permutations(sides)}) == 1
    same = [
        "volume IN (1, 2, 3)",
        "volume IN (3, 1, 2, 2, NULL)",
        "volume BETWEEN 0.5 AND 3",
        "volume > 0 AND 4 > volume",
    ]
    assert len({terms(each) for each in same}) == 1
    assert terms("NOT (volume = 1 OR small = 2)") == terms("small <> 2 AND volume <> 1")
    assert terms("price = 1.0 OR risk = 5e-1") == terms("risk = 0.50 OR price = 1")
    assert terms("symbol LIKE 'ab%'") == terms("starts_with(symbol, 'ab')") == terms("symbol >= 'ab' AND symbol < 'ac'")


def pairs(count: int) -> str:
    return " OR ".join(f"volume = {3 * i} AND small = {3 * i}" for i in range(count))


def test_as_many_boxes_as_are_taken() -> None:
    assert len(boxes(pairs(MAX_BOXES))) == MAX_BOXES
    with pytest.raises(SubscriptionError, match="has 65 of them or more; at most 64 are taken") as caught:
        boxes(pairs(MAX_BOXES + 1))
    assert (caught.value.code, caught.value.line) == ("unsupported", 1)
    assert len(boxes(f"({pairs(200)}) AND volume < 30")) == 10


def test_as_many_intervals_as_are_taken() -> None:
    values = ", ".join(str(2 * i) for i in range(MAX_INTERVALS))
    assert len(boxes(f"volume IN ({values})")[0][0].intervals) == MAX_INTERVALS
    assert len(boxes(f"volume NOT IN ({values}) AND volume > 0")[0][0].intervals) == MAX_INTERVALS
    with pytest.raises(SubscriptionError, match="compared with 1,001 values"):
        boxes(f"volume IN ({values}, -5)")
    dense = ", ".join(map(str, range(2_500)))
    assert boxes(f"volume IN ({dense})") == [{0: ValueSet(((0, 2_499),))}]


def test_large_conditions_are_refused_in_time() -> None:
    columns = ["volume", "small", "risk", "price", "ratio", "wide", '"Lot Size"']
    source = random.Random(3)

    def one() -> str:
        return f"{source.choice(columns)} = {source.randrange(1000)}"

    product = " AND ".join(f"({' OR '.join(one() for _ in range(4))})" for _ in range(90))
    dense = " AND ".join(f"({one()} OR {one()} AND {one()})" for _ in range(150))
    for condition in (product, dense, pairs(400), f"({pairs(120)}) AND NOT ({pairs(120)})"):
        begin = time.perf_counter()
        try:
            boxes(condition)
        except SubscriptionError as error:
            assert error.code == "unsupported"
        assert time.perf_counter() - begin < 10


def test_every_constant_is_checked_whatever_is_empty() -> None:
    for condition in ("volume = NULL AND small = 'x'", "(volume = 1 AND volume = 2 OR risk = 1) AND small = 'x'"):
        with pytest.raises(SubscriptionError, match="cannot be compared with a string"):
            boxes(condition)
