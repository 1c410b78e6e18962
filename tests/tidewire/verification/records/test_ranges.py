"""Ranges against sets of values: every pair of small ranges of each kind of end, whole numbers and decimals."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import product

import duckdb
import pytest

from tidewire.verification.records.ranges import (
    EMPTY,
    NoRange,
    Range,
    canonical,
    contained,
    contains,
    element_of,
    is_range,
    overlaps,
    read,
)

BOUNDS = ["", "0", "1", "2"]
TEXTS = [
    f"{a}{low},{high}{b}"
    for a, low, high, b in product("[(", BOUNDS, BOUNDS, ")]")
    if not low or not high or low <= high
]
TEXTS.append("empty")
POINTS = {"INT4RANGE": [*range(-2, 5)], "NUMRANGE(6,2)": [Fraction(n, 2) for n in range(-2, 8)]}
"""Values that tell ranges apart whose bounds are 0, 1, 2: all that there are, or those at and between the bounds."""


def values(type: str, text: str) -> frozenset[Fraction | int]:
    """The points in a range, as its brackets say."""
    if text == "empty":
        return frozenset()
    low, high = (None if not bound else int(bound) for bound in text[1:-1].split(","))
    return frozenset(
        point
        for point in POINTS[type]
        if (low is None or point > low or (point == low and text[0] == "["))
        and (high is None or point < high or (point == high and text[-1] == "]"))
    )


@pytest.mark.parametrize("type", list(POINTS))
def test_ranges_of_the_same_values_have_one_text(type: str) -> None:
    texts = {text: canonical(type, text) for text in TEXTS}
    sets = {text: values(type, text) for text in TEXTS}
    for one, other in product(TEXTS, TEXTS):
        assert (texts[one] == texts[other]) is (sets[one] == sets[other]), (one, other)
    assert all(canonical(type, text) == text for text in texts.values())


@pytest.mark.parametrize("type", list(POINTS))
def test_operators_are_those_of_sets(type: str) -> None:
    element = element_of(type)
    with duckdb.connect() as database:
        database.execute(
            f'CREATE TABLE r (n INTEGER, "lower" {element}, "upper" {element}, "lower closed" BOOLEAN, '
            '"upper closed" BOOLEAN, "empty" BOOLEAN)'
        )
        rows = [[n, *read(type, text)] for n, text in enumerate(TEXTS)]
        database.execute(
            f"INSERT INTO r VALUES {', '.join(['(?, ?, ?, ?, ?, ?)'] * len(rows))}", [v for row in rows for v in row]
        )
        found = []
        for other in TEXTS:
            asked = [
                operator(lambda part: f'"{part}"', read(type, other), lambda bound: f"CAST('{bound}' AS {element})")
                for operator in (overlaps, contains, contained)
            ]
            found.append(database.execute(f"SELECT {', '.join(asked)} FROM r ORDER BY n").fetchall())
    for (i, other), (j, one) in product(enumerate(TEXTS), enumerate(TEXTS)):
        left, right = values(type, one), values(type, other)
        assert found[i][j] == (bool(left & right), right <= left, left <= right), (one, other)


@pytest.mark.parametrize(
    ("type", "text", "made"),
    [
        ("INT4RANGE", "[3,5]", "[3,6)"), ("INT4RANGE", "(3,5)", "[4,5)"), ("INT4RANGE", " [ +3 , 05 ) ", "[3,5)"),
        ("INT4RANGE", "7", "[7,8)"), ("INT4RANGE", "[,5]", "(,6)"), ("INT4RANGE", "(3,4)", "empty"),
        ("INT4RANGE", "(,)", "(,)"), ("INT4RANGE", "[,]", "(,)"), ("INT4RANGE", "Empty ", "empty"),
        ("INT4RANGE", "[-2147483648,2147483646]", "[-2147483648,2147483647)"),
        ("INT8RANGE", "(9223372036854775798,)", "[9223372036854775799,)"),
        ("DATERANGE", "[2026-02-28,2026-02-28]", "[2026-02-28,2026-03-01)"),
        ("DATERANGE", "2024-02-28", "[2024-02-28,2024-02-29)"),
        ("TSRANGE", "[2026-03-01,2026-03-01T12:30]", '["2026-03-01 00:00:00","2026-03-01 12:30:00"]'),
        ("TSRANGE", "(2026-03-01 00:00:00.500000,)", '("2026-03-01 00:00:00.5",)'),
        ("NUMRANGE(6,2)", "[1,2e1)", "[1.00,20.00)"), ("NUMRANGE(6,2)", "[-0.5,.25]", "[-0.50,0.25]"),
        ("NUMRANGE(6,2)", "[-0,1.500]", "[0.00,1.50]"), ("NUMRANGE(3,0)", "[7,700]", "[7,700]"),
        ("FLOAT8RANGE", "[1.0,2.5e0)", "[1,2.5)"), ("FLOAT8RANGE", "[-0.0,0]", "[0,0]"),
        ("FLOAT8RANGE", "(1,1]", "empty"),
        ("TEXTRANGE", "[a,b)", "[a,b)"), ("TEXTRANGE", 'a b', '["a b","a b"]'), ("TEXTRANGE", '["a,b",]', '["a,b",)'),
        ("TEXTRANGE", r'[a\,b,c]', '["a,b",c]'), ("TEXTRANGE", '["x""y",z]', '["x""y",z]'),
        ("TEXTRANGE", r'["x\"y",z]', '["x""y",z]'),
        ("TEXTRANGE", '["",a]', '["",a]'), ("TEXTRANGE", "", '["",""]'), ("TEXTRANGE", r'[a\\,b]', r'["a\\",b]'),
    ],
)  # fmt: skip
def test_one_form(type: str, text: str, made: str) -> None:
    assert canonical(type, text) == made and canonical(type, made) == made


@pytest.mark.parametrize(
    ("type", "text"),
    [
        ("INT4RANGE", text)
        for text in (
            "", " ", "[", "[1]", "[1,2", "1,2]", "[1,2,3]", "[2,1]", "[1.5,2]", "[a,b]", "[2147483648,)",
            "[1,2147483647]",
            "(2147483647,)", "[-2147483649,)", "1 2", '["1"x"2",3]', "[1,2] x", "[१,2]",
        )
    ]
    + [
        ("INT8RANGE", "[9223372036854775801,)"), ("DATERANGE", "[2026-02-29,)"), ("DATERANGE", "[2026-3-1,)"),
        ("DATERANGE", "[,9999-12-31]"), ("DATERANGE", "[infinity,)"), ("TSRANGE", "[2026-03-01 24:00,)"),
        ("TSRANGE", "[2026-03-01 12:00:00.1234567,)"), ("TSRANGE", "[2026-03-01 12:00+01,)"),
        ("NUMRANGE(6,2)", "[10000,)"),
        ("NUMRANGE(6,2)", "[0.001,)"), ("NUMRANGE(6,2)", "[NaN,)"), ("NUMRANGE(6,2)", "[1e,)"),
        ("NUMRANGE(6,2)", f"[{'0' * 201},)"),
        ("FLOAT8RANGE", "[1e309,)"), ("FLOAT8RANGE", "[inf,)"), ("FLOAT8RANGE", "[0x1,)"), ("TEXTRANGE", "[b,a]"),
    ],
)  # fmt: skip
def test_no_range(type: str, text: str) -> None:
    with pytest.raises(NoRange):
        read(type, text)


def test_the_edges_of_what_fits() -> None:
    assert read("NUMRANGE(6,2)", "[9999.99,]") == Range("9999.99", None, True, False)
    assert read("NUMRANGE(6,2)", f"[{'0' * 198}.5,)").lower == "0.50"
    assert read("INT8RANGE", "[-9223372036854775800,9223372036854775800)").upper == "9223372036854775800"
    assert read("DATERANGE", "[0001-01-01,9999-12-31)").upper == "9999-12-31"
    assert read("INT4RANGE", "(1,1)") is EMPTY or read("INT4RANGE", "(1,1)") == EMPTY


def test_types() -> None:
    assert element_of("NUMRANGE(12,3)") == "DECIMAL(12,3)" and element_of("TSRANGE") == "TIMESTAMP"
    assert is_range("NUMRANGE(12,3)") and is_range("TEXTRANGE") and not is_range("DECIMAL(12,3)")
    assert Decimal(read("NUMRANGE(12,3)", "0.5").lower or "") == Decimal("0.500")
