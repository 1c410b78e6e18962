"""Values of Debezium's images against what the database had, by schema and by unit; what is refused, in which words."""

from __future__ import annotations

import base64
import datetime as dt
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.types.column_type import ColumnType, Kind
from connectors.dead_letter import RecordFault
from connectors.formats.debezium_scalar import Unit, read_debezium
from connectors.json.document import Members, Number, parse_document
from connectors.schemas.connect_schema import FieldSchema
from state.order_code import code_of_double
from tests.effort import examples

DECIMAL, WIDE = ColumnType(Kind.DECIMAL, 12, 2), ColumnType(Kind.DECIMAL, 38, 10)
DATE, TIMESTAMP = ColumnType(Kind.DATE), ColumnType(Kind.TIMESTAMP)
REAL, DOUBLE, BIGINT = ColumnType(Kind.REAL), ColumnType(Kind.DOUBLE), ColumnType(Kind.BIGINT)
FIXED = FieldSchema("bytes", "org.apache.kafka.connect.data.Decimal", scale=3)
VARIABLE = FieldSchema("struct", "io.debezium.data.VariableScaleDecimal")
EPOCH = dt.datetime(1970, 1, 1)
MICRO = dt.timedelta(microseconds=1)


def time_schema(name: str, type_: str = "int64") -> FieldSchema:
    return FieldSchema(type_, f"io.debezium.time.{name}")


def two(number: int, spare: int = 0) -> str:
    """Base64 of a number's two's complement, with bytes to spare."""
    size = (number.bit_length() + 8) // 8 + spare
    return base64.b64encode(number.to_bytes(size, "big", signed=True)).decode()


def refused(column: ColumnType, value: object, unit: Unit) -> tuple[str, str]:
    with pytest.raises(RecordFault) as caught:
        read_debezium(column, value, unit)
    return caught.value.code, caught.value.message


NUMBERS = st.one_of(st.integers(-300, 300), st.sampled_from([-(2**63), 2**63 - 1, -128, 127, 128, -129, 10**15]))


@given(NUMBERS, st.integers(0, 2), st.integers(-2, 4))
@settings(max_examples=examples(600), deadline=None)
def test_unscaled_decimals_are_what_they_were(unscaled: int, spare: int, scale: int) -> None:
    """By the column's scale, by that of the schema, by one in each record; what does not fit, all refuse."""
    text, written = two(unscaled, spare), Members([("scale", Number(str(scale))), ("value", two(unscaled, spare))])
    number = Fraction(unscaled) / Fraction(10) ** scale * 100
    schema = FieldSchema("bytes", FIXED.name, scale=scale)
    assert abs(unscaled) >= 10**12 or read_debezium(DECIMAL, text, "base64") == unscaled
    if number.denominator == 1 and abs(number) < 10**12:
        assert read_debezium(DECIMAL, text, schema) == read_debezium(DECIMAL, written, VARIABLE) == number
        return
    code = refused(DECIMAL, text, schema)
    assert code == refused(DECIMAL, written, VARIABLE)
    assert code[0] == ("out_of_range" if number.denominator == 1 or abs(number) >= 10**12 else "out_of_scale")


@given(st.decimals("-1e20", "1e20", places=10))
@settings(max_examples=examples(100), deadline=None)
def test_a_wide_decimal_is_its_text(value: Decimal) -> None:
    read = read_debezium(WIDE, two(int(value.scaleb(10))), "base64")
    assert isinstance(read, str)
    assert Decimal(read) == value
    assert read == read_debezium(WIDE, format(value, "f"), "string")


@pytest.mark.parametrize("unit", ["string", FieldSchema("string")])
def test_a_decimal_as_a_string(unit: Unit) -> None:
    assert read_debezium(DECIMAL, "-12.3", unit) == -1230
    assert refused(DECIMAL, Number("12.3"), unit) == (
        "wrong_type",
        "expected a decimal string for DECIMAL(12,2), got the number 12.3",
    )


@pytest.mark.parametrize(
    "unit", ["number", *map(FieldSchema, ("double", "float", "float64", "int8", "int32", "int64"))]
)
def test_a_decimal_as_a_number(unit: Unit) -> None:
    assert read_debezium(DECIMAL, Number("-12.3"), unit) == -1230
    assert refused(DECIMAL, "12.3", unit) == (
        "wrong_type",
        'expected a number for DECIMAL(12,2), got the string "12.3"',
    )


def test_a_decimal_with_a_schema_may_be_written_as_a_number() -> None:
    assert read_debezium(DECIMAL, Number("1.5"), FIXED) == 150


@pytest.mark.parametrize("text", ["", "A", "BNI", "BNI=\n", "B NI=", "BNJ=", "ß==="])
def test_what_is_no_base64_of_its_bytes_is_refused(text: str) -> None:
    """`BNJ=` has bits that no byte takes: the same bytes have one spelling."""
    code, said = refused(DECIMAL, text, "base64")
    assert code == "malformed_value"
    assert said.startswith("expected base64 for DECIMAL(12,2), got ")


def test_base64_as_long_as_no_decimal_is_refused_by_its_length() -> None:
    assert refused(DECIMAL, "A" * 2_004, "base64") == (
        "out_of_range",
        "expected DECIMAL(12,2), got 2004 characters of base64",
    )


@pytest.mark.parametrize(
    "text",
    [
        '{"value":"AQ=="}',
        '{"scale":"1","value":"AQ=="}',
        '{"scale":1.5,"value":"AQ=="}',
        '{"scale":1234567}',
        "5",
        "[]",
    ],
)
def test_a_variable_scale_must_be_an_integer_of_six_digits(text: str) -> None:
    code, said = refused(DECIMAL, parse_document(text.encode()), VARIABLE)
    assert (code, said[:41]) == ("malformed_value", "expected {scale, value} for DECIMAL(12,2)")


def test_a_decimal_whose_schema_is_none_of_a_decimal() -> None:
    assert refused(DECIMAL, "AQ==", FieldSchema("bytes", FIXED.name)) == (
        "malformed_schema",
        "the schema of a Decimal has no scale",
    )
    assert refused(DECIMAL, "AQ==", FieldSchema("bytes")) == (
        "wrong_type",
        "expected DECIMAL(12,2), got a value whose schema says bytes",
    )


@given(st.dates())
@settings(max_examples=examples(100), deadline=None)
def test_dates_of_all_spellings(day: dt.date) -> None:
    days = (day - EPOCH.date()).days
    number = Number(str(days))
    assert read_debezium(DATE, number, "days") == read_debezium(DATE, number, time_schema("Date", "int32")) == days
    assert read_debezium(DATE, number, FieldSchema("int32", "org.apache.kafka.connect.data.Date")) == days
    for text in (day.isoformat(), day.isoformat() + "Z"):
        assert read_debezium(DATE, text, "iso") == read_debezium(DATE, text, time_schema("IsoDate", "string")) == days


@given(st.datetimes(), st.integers(-18 * 60 - 59, 18 * 60 + 59))
@settings(max_examples=examples(200), deadline=None)
def test_times_of_all_spellings(at: dt.datetime, minutes: int) -> None:
    micros = (at - EPOCH) // MICRO
    whole = at.replace(microsecond=at.microsecond // 1_000 * 1_000)
    assert read_debezium(TIMESTAMP, Number(str(micros)), "micros") == micros
    assert read_debezium(TIMESTAMP, Number(str(micros)), time_schema("MicroTimestamp")) == micros
    if abs(micros) < 2**63 // 1_000:
        assert read_debezium(TIMESTAMP, Number(f"{micros * 1_000}"), "nanos") == micros
    millis = (whole - EPOCH) // MICRO // 1_000
    assert read_debezium(TIMESTAMP, Number(str(millis)), "millis") == millis * 1_000
    assert read_debezium(TIMESTAMP, Number(str(millis)), time_schema("Timestamp")) == millis * 1_000
    try:
        local = at + dt.timedelta(minutes=minutes)
    except OverflowError:
        return
    zone = f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"
    for text in (f"{at.isoformat()}Z", local.isoformat() + zone):
        assert read_debezium(TIMESTAMP, text, "zoned") == micros
        assert read_debezium(TIMESTAMP, text, time_schema("ZonedTimestamp", "string")) == micros


@pytest.mark.parametrize(
    ("text", "micros"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01T00:00:00.5Z", 500_000),
        ("1970-01-01T00:00:00.000001000Z", 1),
        ("1970-01-01T01:30:00+01:30", 0),
        ("1969-12-31T22:30:00-01:30", 0),
    ],
)
def test_a_time_with_its_zone_is_kept_in_utc(text: str, micros: int) -> None:
    assert read_debezium(TIMESTAMP, text, "zoned") == micros


@pytest.mark.parametrize(
    "text",
    [
        "1970-01-01T00:00:00",
        "1970-01-01 00:00:00Z",
        "1970-01-01T00:00:00+19:00",
        "1970-01-01T00:00:00+01:60",
        "1970-01-01T00:00:00.Z",
        "1970-01-01T00:00:00.0000000001Z",
    ],
)
def test_a_time_without_a_zone_that_there_is_is_refused(text: str) -> None:
    code, said = refused(TIMESTAMP, text, "zoned")
    assert (code, said) == ("malformed_value", f'expected a time with its zone for TIMESTAMP, got the string "{text}"')


def test_what_is_finer_than_microseconds_is_refused_and_never_rounded() -> None:
    assert read_debezium(TIMESTAMP, Number("-1000"), "nanos") == -1
    for number in ("1", "-1", "999", "1001"):
        code, said = refused(TIMESTAMP, Number(number), "nanos")
        assert (code, said) == ("out_of_scale", f"expected TIMESTAMP in whole microseconds, got the number {number} ns")
    assert refused(TIMESTAMP, "1970-01-01T00:00:00.0000001Z", "zoned")[0] == "out_of_scale"


@pytest.mark.parametrize(
    ("column", "unit", "step"), [(DATE, "days", 1), (TIMESTAMP, "micros", 1), (TIMESTAMP, "millis", 1_000)]
)
def test_the_years_end_at_9999(column: ColumnType, unit: str, step: int) -> None:
    low, high = column.reach
    least, greatest = -(-low // step), high // step
    for number in (least, greatest):
        assert read_debezium(column, Number(str(number)), unit) == number * step
    for number in (least - 1, greatest + 1):
        code, said = refused(column, Number(str(number)), unit)
        assert (code, said) == ("out_of_range", f"expected {column} of the years 0001 to 9999, got the number {number}")


@pytest.mark.parametrize("text", ["1.0", "1e3", "-", "1" * 21])
def test_counts_of_time_are_integers(text: str) -> None:
    code, _ = refused(TIMESTAMP, Number(text), "micros")
    assert code == ("out_of_range" if text.isdigit() else "wrong_type")
    assert refused(TIMESTAMP, "5", "micros") == (
        "wrong_type",
        'expected an integer literal for TIMESTAMP, got the string "5"',
    )


@pytest.mark.parametrize("column", [DATE, TIMESTAMP])
def test_a_schema_that_says_no_time_is_refused(column: ColumnType) -> None:
    assert refused(column, Number("5"), FieldSchema("int64")) == (
        "wrong_type",
        f"expected {column}, got a value whose schema says int64",
    )


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
@settings(max_examples=examples(200), deadline=None)
def test_a_float_is_the_one_that_its_shortest_text_names(value: float) -> None:
    """In 64 bits 0.1 is another number: a column of DOUBLE has what the database had."""
    shortest = Number(str(np.float32(value)))
    for column in (REAL, DOUBLE):
        assert read_debezium(column, shortest, FieldSchema("float")) == code_of_double(value)


def test_a_double_is_read_as_in_json() -> None:
    assert read_debezium(DOUBLE, Number("0.1"), FieldSchema("double")) == code_of_double(0.1)
    assert read_debezium(DOUBLE, Number("0.1"), None) == code_of_double(0.1)
    assert refused(REAL, Number("1e39"), FieldSchema("float")) == (
        "out_of_range",
        "expected REAL, got the number 1e39, beyond the largest 32-bit float",
    )
    assert refused(DOUBLE, "0.1", FieldSchema("float"))[0] == "wrong_type"


def test_bytes_are_no_value_of_another_column() -> None:
    assert read_debezium(BIGINT, Number("7"), FieldSchema("int32")) == 7
    assert refused(BIGINT, "AQ==", FieldSchema("bytes", "x")) == (
        "wrong_type",
        "expected BIGINT, got bytes (schema: bytes x)",
    )
