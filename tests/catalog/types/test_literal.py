import datetime as dt
import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.types.literal import LiteralKind, LiteralMismatch, is_number, place, text_of
from catalog.types.value import code_of
from connectors.json.document import Number
from connectors.json.scalar import read_scalar
from state.order_code import INT64_MAX, INT64_MIN, code_of_double
from tests.catalog.sample import of
from tests.effort import examples
from tests.oracle.naive_float import hard_texts, naive_nearest

NUMBER, STRING = LiteralKind.NUMBER, LiteralKind.STRING
BIGINT, PRICE, DOUBLE, REAL = of("BIGINT"), of("DECIMAL", 12, 2), of("DOUBLE"), of("REAL")
DATE, TIMESTAMP = of("DATE"), of("TIMESTAMP")
EPOCH = dt.datetime(1970, 1, 1)

digits = st.text("0123456789", min_size=1, max_size=30)
exponents = st.integers(-45, 45).map(lambda n: f"e{n}")
numbers = st.builds(
    lambda a, b, e: a + b + e,
    digits,
    st.one_of(st.just(""), digits.map(".".__add__)),
    st.one_of(st.just(""), exponents),
)


@given(numbers, st.booleans(), st.sampled_from([BIGINT, PRICE, of("DECIMAL", 18, 18), of("SMALLINT")]))
@settings(deadline=None, max_examples=examples(200))
def test_a_number_stands_between_the_codes_around_it(text, negative, type_) -> None:
    exact = Fraction(text) * 10**type_.scale * (-1 if negative else 1)
    assert place(type_, NUMBER, text, negative) == (math.floor(exact), math.ceil(exact))


@given(numbers, st.booleans())
@settings(deadline=None, max_examples=examples(100))
def test_a_double_column_sees_the_nearest_double(text, negative) -> None:
    code = code_of_double(-float(text) if negative else float(text))
    assert place(DOUBLE, NUMBER, text, negative) == (code, code)


@given(hard_texts() | hard_texts(small=True) | numbers, st.sampled_from([REAL, DOUBLE]), st.booleans())
@settings(deadline=None, max_examples=examples(400))
def test_a_literal_meets_what_was_published_as_the_same_text(text, type_, negative) -> None:
    floor, ceiling = place(type_, NUMBER, text, negative)
    exact = naive_nearest(text, 32 if type_ is REAL else 64)
    assert floor == ceiling == code_of_double(-exact if negative else exact)
    if not math.isinf(exact):
        assert place(type_, NUMBER, text) == (read_scalar(type_, Number(text)),) * 2
        assert code_of(type_, Decimal(text)) == read_scalar(type_, Number(text))


def test_a_literal_beyond_the_largest_stands_beyond_all_values() -> None:
    infinite = code_of_double(math.inf)
    assert place(REAL, NUMBER, "1e39") == (infinite, infinite)
    assert place(REAL, NUMBER, "1e39", True) == (code_of_double(-math.inf),) * 2
    assert infinite > REAL.reach[1]


@pytest.mark.parametrize("text", ["1e400", "1e999999999999999999", "9" * 5000, "1" + "0" * 4000 + ".5"])
def test_numbers_beyond_all_types(text) -> None:
    floor, ceiling = place(BIGINT, NUMBER, text)
    assert floor == ceiling > INT64_MAX
    assert place(BIGINT, NUMBER, text, True)[1] < INT64_MIN
    assert place(DOUBLE, NUMBER, text)[0] > DOUBLE.reach[1]


@pytest.mark.parametrize("text", ["1e-400", "1e-999999999999999999", "0." + "0" * 4000 + "1"])
def test_numbers_too_small_for_all_types(text) -> None:
    assert place(PRICE, NUMBER, text) == (0, 1)
    assert place(PRICE, NUMBER, text, True) == (-1, 0)
    assert place(DOUBLE, NUMBER, text) == (0, 0)


@pytest.mark.parametrize("text", ["0", "0e999999999999", "0.000", "00e-99999999999"])
def test_zero_in_every_form(text) -> None:
    assert place(PRICE, NUMBER, text) == place(PRICE, NUMBER, text, True) == place(DOUBLE, NUMBER, text, True) == (0, 0)


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        ("1", True),
        ("1.", True),
        (".5", True),
        ("1e5", True),
        ("1E+05", True),
        ("1e", False),
        (".", False),
        ("e5", False),
    ],
)
def test_is_number(text, exact) -> None:
    assert is_number(text) is exact
    if exact:
        assert place(of("DECIMAL", 18, 1), NUMBER, text)[0] == Fraction(text) * 10


def micros(text: str) -> int:
    return (dt.datetime.fromisoformat(text) - EPOCH) // dt.timedelta(microseconds=1)


@pytest.mark.parametrize(
    ("kind", "text", "floor", "extra"),
    [
        ("STRING", "2026-03-01", "2026-03-01", 0),
        ("DATE", "2026-03-01", "2026-03-01", 0),
        ("TIMESTAMP", "2026-03-01 12:00", "2026-03-01 12:00", 0),
        ("STRING", "2026-03-01T12:00:01", "2026-03-01 12:00:01", 0),
        ("DIGITS", "2026-03-01 12:00:01.5", "2026-03-01 12:00:01.5", 0),
        ("TIMESTAMP", "0001-01-01 00:00:00.000001", "0001-01-01 00:00:00.000001", 0),
        ("TIMESTAMP", "9999-12-31 23:59:59.9999995", "9999-12-31 23:59:59.999999", 1),
        ("TIMESTAMP", "2026-03-01 12:00:00.1234560000", "2026-03-01 12:00:00.123456", 0),
    ],
)
def test_moments(kind, text, floor, extra) -> None:
    assert place(TIMESTAMP, LiteralKind[kind], text) == (micros(floor), micros(floor) + extra)


def test_a_timestamp_stands_between_two_days() -> None:
    assert place(DATE, LiteralKind.TIMESTAMP, "2026-03-01 12:00:00") == (20513, 20514)
    assert place(DATE, LiteralKind.TIMESTAMP, "2026-03-01 00:00:00") == (20513, 20513)
    assert place(DATE, STRING, "1969-12-31 00:00:00.0000001") == (-1, 0)


@pytest.mark.parametrize(("text", "code"), [("TRUE", 1), ("false", 0)])
def test_truth(text, code) -> None:
    assert place(of("BOOLEAN"), LiteralKind.BOOLEAN, text) == (code, code)


def test_null_has_no_place() -> None:
    assert place(BIGINT, LiteralKind.NULL, "NULL") is None
    assert text_of(of("VARCHAR"), LiteralKind.NULL, "NULL") is None


@pytest.mark.parametrize(
    ("type_", "kind", "text", "what", "hint"),
    [
        (BIGINT, "STRING", "5", "BIGINT and cannot be compared with a string", "without quotes: 5"),
        (BIGINT, "STRING", "abc", "a string", "with a number"),
        (BIGINT, "DIGITS", "5", "a string", "without quotes"),
        (BIGINT, "BOOLEAN", "TRUE", "a boolean", "with a number"),
        (DOUBLE, "DATE", "2026-03-01", "a date", "with a number"),
        (PRICE, "DIGITS", "abc", "a string", "with a number"),
        (of("BOOLEAN"), "NUMBER", "1", "a number", "TRUE or FALSE"),
        (DATE, "NUMBER", "5", "a number", "DATE '2026-03-01'"),
        (TIMESTAMP, "BOOLEAN", "TRUE", "a boolean", "TIMESTAMP '"),
        (DATE, "STRING", "2026-02-30", "no day 2026-02-30", "existing"),
        (DATE, "STRING", "yesterday", "'yesterday' is no date", "2026-03-01"),
        (DATE, "DATE", "2026-03-01 12:00", "is no date", "2026-03-01"),
        (TIMESTAMP, "STRING", "2026-03-01 25:00:00", "is no timestamp", "12:00:00"),
        (TIMESTAMP, "TIMESTAMP", "2026-03-01 12:00:00Z", "seems to have one", "without a zone"),
        (TIMESTAMP, "STRING", "2026-03-01T12:00:00+01:00", "seems to have one", "without a zone"),
        (TIMESTAMP, "STRING", "2026-03-01 12:00:00 Europe/Berlin", "seems to have one", "without a zone"),
    ],
)
def test_mismatches_say_what_to_write(type_, kind, text, what, hint) -> None:
    with pytest.raises(LiteralMismatch) as caught:
        place(type_, LiteralKind[kind], text)
    assert what in caught.value.what
    assert hint in caught.value.hint


def test_a_decimal_parameter_may_be_text() -> None:
    assert place(PRICE, LiteralKind.DIGITS, "-1.005") == (-101, -100)
    assert place(PRICE, LiteralKind.DIGITS, "-1.005", True) == (100, 101)


@pytest.mark.parametrize("kind", ["BOOLEAN", "DATE", "TIMESTAMP"])
def test_only_numbers_have_a_sign(kind) -> None:
    with pytest.raises(LiteralMismatch):
        place(of(kind), LiteralKind.DIGITS, "2026-03-01", True)


def test_text_is_compared_with_strings_only() -> None:
    assert text_of(of("VARCHAR"), STRING, "a") == "a"
    for kind in (LiteralKind.NUMBER, LiteralKind.BOOLEAN, LiteralKind.DATE):
        with pytest.raises(LiteralMismatch, match="with a string"):
            text_of(of("VARCHAR"), kind, "5")
    with pytest.raises(LiteralMismatch):
        text_of(of("VARCHAR"), LiteralKind.DIGITS, "5", True)


def test_a_mismatch_learns_where_it_stands() -> None:
    mismatch = LiteralMismatch("is BIGINT", "Compare it.").at("volume", 3)
    assert (mismatch.column, mismatch.operand, mismatch.code) == ("volume", 3, "type_mismatch")
