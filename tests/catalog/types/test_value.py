import datetime as dt
import json
import math
import struct
from dataclasses import replace
from decimal import Decimal

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.types.column_type import ColumnType
from catalog.types.value import (
    ValueRefused,
    code_of,
    decimal_text,
    from_json,
    json_of_code,
    json_texts_of_codes,
    to_json,
    value_of,
)
from state.order_code import INT64_MAX, INT64_MIN
from tests.catalog.sample import of
from tests.effort import examples

PRICE = of("DECIMAL", 12, 2)
WIDE = of("DECIMAL", 38, 10)
BIGINT, DOUBLE, REAL = of("BIGINT"), of("DOUBLE"), of("REAL")
DATE, TIMESTAMP, BOOLEAN, VARCHAR = of("DATE"), of("TIMESTAMP"), of("BOOLEAN"), of("VARCHAR")

finite = st.floats(allow_nan=False, allow_infinity=False)
decimals = st.integers(-(10**12) + 1, 10**12 - 1).map(lambda n: Decimal(n).scaleb(-2))
coded = st.one_of(
    st.tuples(st.just(BIGINT), st.integers(INT64_MIN, INT64_MAX)),
    st.tuples(st.just(of("SMALLINT")), st.integers(-32768, 32767)),
    st.tuples(st.just(BOOLEAN), st.booleans()),
    st.tuples(st.just(DOUBLE), finite),
    st.tuples(st.just(REAL), st.floats(width=32, allow_nan=False, allow_infinity=False)),
    st.tuples(st.just(PRICE), decimals),
    st.tuples(st.just(DATE), st.dates()),
    st.tuples(st.just(TIMESTAMP), st.datetimes()),
)


@given(coded)
@settings(deadline=None, max_examples=examples(200))
def test_a_value_survives_its_code_and_its_json(typed) -> None:
    type_, value = typed
    assert value_of(type_, code_of(type_, value)) == value
    assert json_of_code(type_, code_of(type_, value)) == to_json(type_, value)
    text = json.dumps(to_json(type_, value))
    assert from_json(type_, json.loads(text)) == value


@pytest.mark.parametrize("strategy", [("DOUBLE", finite), ("DECIMAL", decimals), ("TIMESTAMP", st.datetimes())])
def test_codes_keep_the_order(strategy) -> None:
    name, values = strategy
    type_ = PRICE if name == "DECIMAL" else of(name)

    @given(values, values)
    @settings(deadline=None, max_examples=examples(100))
    def check(a, b) -> None:
        assert (a < b) == (code_of(type_, a) < code_of(type_, b))
        assert (a == b) == (code_of(type_, a) == code_of(type_, b))

    check()


def test_minus_zero_is_zero() -> None:
    assert code_of(DOUBLE, -0.0) == code_of(DOUBLE, 0.0) == 0
    assert math.copysign(1, from_json(DOUBLE, -0.0)) == 1
    assert to_json(PRICE, from_json(PRICE, "-0")) == "0.00"


@pytest.mark.parametrize(
    ("type_", "json_value", "written"),
    [
        (BIGINT, -(2**63), -(2**63)),
        (PRICE, "10.25", "10.25"),
        (PRICE, "10.2500", "10.25"),
        (PRICE, 10, "10.00"),
        (PRICE, 0.1, "0.10"),
        (PRICE, Decimal("7e2"), "700.00"),
        (PRICE, "-9999999999.99", "-9999999999.99"),
        (PRICE, "0e400", "0.00"),
        (of("DECIMAL", 5, 0), "-12345", "-12345"),
        (of("DECIMAL", 2, 2), "0.07", "0.07"),
        (WIDE, "1234567890123456789012345678.0123456789", "1234567890123456789012345678.0123456789"),
        (DATE, "0001-01-01", "0001-01-01"),
        (DATE, "9999-12-31", "9999-12-31"),
        (TIMESTAMP, "2026-03-01T23:59:59.99999", "2026-03-01T23:59:59.999990"),
        (TIMESTAMP, "2026-03-01 00:00:00", "2026-03-01T00:00:00"),
        (TIMESTAMP, "0001-01-01T00:00:00.1", "0001-01-01T00:00:00.100000"),
        (VARCHAR, "", ""),
        (BOOLEAN, True, True),
        (DOUBLE, 3, 3.0),
        (DOUBLE, 9007199254740993, 9007199254740992.0),
        (REAL, 0.1, struct.unpack("<f", struct.pack("<f", 0.1))[0]),
        (BIGINT, None, None),
    ],
)
def test_json_forms(type_, json_value, written) -> None:
    value = from_json(type_, json_value)
    assert to_json(type_, value) == written
    assert type(to_json(type_, value)) is type(written)


@pytest.mark.parametrize(
    ("type_", "json_value", "why"),
    [
        (BIGINT, 2**63, "between"),
        (BIGINT, 5.0, "integer"),
        (BIGINT, "5", "integer"),
        (BIGINT, True, "integer"),
        (of("SMALLINT"), -32769, "between"),
        (BOOLEAN, 1, "true or false"),
        (DOUBLE, math.nan, "finite"),
        (DOUBLE, math.inf, "finite"),
        (DOUBLE, 10**400, "range"),
        (DOUBLE, "1", "number"),
        (DOUBLE, False, "number"),
        (REAL, 1e39, "range"),
        (PRICE, "1.005", "after the point"),
        (PRICE, "10000000000", "before the point"),
        (PRICE, "1e999999", "before the point"),
        (PRICE, "1e-999999", "after the point"),
        (PRICE, "1e9999999999", "expected a decimal"),
        (PRICE, "", "expected a decimal"),
        (PRICE, "+1", "expected a decimal"),
        (PRICE, " 1", "expected a decimal"),
        (PRICE, "١", "expected a decimal"),
        (PRICE, "NaN", "expected a decimal"),
        (PRICE, Decimal("NaN"), "finite"),
        (PRICE, math.inf, "finite"),
        (PRICE, True, "expected a decimal"),
        (DATE, "2026-02-30", "no such day"),
        (DATE, "0000-01-01", "no such day"),
        (DATE, "20260301", "expected"),
        (DATE, "2026-W09-1", "expected"),
        (DATE, 5, "expected"),
        (TIMESTAMP, "2026-03-01", "expected"),
        (TIMESTAMP, "2026-03-01T00:00", "expected"),
        (TIMESTAMP, "2026-03-01T00:00:00Z", "zone"),
        (TIMESTAMP, "2026-03-01T00:00:00+01:00", "zone"),
        (TIMESTAMP, "2026-03-01T00:00:00.1234567", "6 digits"),
        (TIMESTAMP, "2026-03-01T24:00:00", "expected"),
        (TIMESTAMP, "2026-03-01T23:59:60", "no such day or time"),
        (VARCHAR, 5, "string"),
    ],
)
def test_what_is_no_value_is_refused(type_, json_value, why) -> None:
    with pytest.raises(ValueRefused, match=why) as caught:
        from_json(type_, json_value)
    assert str(type_) in str(caught.value)
    assert caught.value.type is type_


def test_codes_only_of_values_of_the_type() -> None:
    with pytest.raises(ValueRefused, match="no order code"):
        code_of(VARCHAR, "a")
    with pytest.raises(ValueRefused, match="no order code"):
        value_of(WIDE, 1)
    with pytest.raises(ValueRefused, match="order codes are"):
        value_of(BOOLEAN, 2)
    with pytest.raises(ValueRefused, match="date or datetime"):
        code_of(DATE, "2026-03-01")
    with pytest.raises(ValueRefused, match="without zone"):
        code_of(TIMESTAMP, dt.datetime(2026, 3, 1, tzinfo=dt.UTC))
    with pytest.raises(ValueRefused, match="a date"):
        code_of(DATE, dt.datetime(2026, 3, 1))
    with pytest.raises(ValueRefused, match="a date or datetime"):
        code_of(TIMESTAMP, dt.date(2026, 3, 1))


@pytest.mark.parametrize("code", [-(10**12), 10**12, INT64_MAX])
def test_no_json_of_codes_beyond_the_type(code: int) -> None:
    with pytest.raises(ValueRefused, match="order codes"):
        json_of_code(PRICE, code)


def test_a_long_value_is_shown_short() -> None:
    with pytest.raises(ValueRefused) as caught:
        from_json(PRICE, "9" * 10_000)
    assert len(str(caught.value)) < 200


def test_a_whole_decimal_is_an_integer() -> None:
    type_ = replace(of("DECIMAL", 38), whole=True)
    assert to_json(type_, from_json(type_, 2**100)) == 2**100
    assert to_json(of("DECIMAL", 38), Decimal(7)) == "7"


def test_decimal_text_has_the_scale() -> None:
    assert decimal_text(Decimal("1.5"), 4) == "1.5000"
    assert decimal_text(Decimal("-12"), 0) == "-12"


@pytest.mark.parametrize("type_", [PRICE, of("DECIMAL", 5, 0), DATE, DOUBLE])
def test_a_column_of_texts_is_one_by_one(type_: ColumnType) -> None:
    for codes in ([], [0, 5, 12, 100, 99_999, 5], [3, -7, -100]):
        texts = [msgspec.json.encode(json_of_code(type_, code)).decode() for code in codes]
        assert json_texts_of_codes(type_, codes) == texts
    if type_ == PRICE:
        with pytest.raises(ValueRefused):
            json_texts_of_codes(type_, [1, 10**12])
