from __future__ import annotations

import datetime as dt
import json
import math
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.types.column_type import RANGES, ColumnType, Kind
from catalog.types.value import code_of, from_json, to_json, value_of
from connectors.dead_letter import RecordFault
from connectors.json.document import Members, Number, parse_document
from connectors.json.scalar import expected, read_scalar, scalar_text
from state.order_code import code_of_double
from tests.connectors.documents import FLOATS
from tests.effort import examples
from tests.oracle.naive_float import hard_texts, naive_real

DECIMAL = ColumnType(Kind.DECIMAL, 12, 2)
TYPES = [ColumnType(kind) for kind in Kind if kind is not Kind.DECIMAL and kind not in RANGES]
TYPES += [ColumnType(Kind.DECIMAL, p, s) for p, s in ((12, 2), (18, 0), (18, 18), (38, 10))]


def refusal(column_type, value):
    with pytest.raises(RecordFault) as fault:
        read_scalar(column_type, value)
    assert fault.value.message.startswith("expected " + expected(column_type))
    assert len(fault.value.message) < 250
    return fault.value.code


@pytest.mark.parametrize(
    ("column_type", "value", "why"),
    [
        (ColumnType(Kind.DATE), "2023-02-29", "there is no such day"),
        (ColumnType(Kind.DATE), "2023-13-01", "there is no such day"),
        (ColumnType(Kind.DATE), "2023-2-9", ""),
        (ColumnType(Kind.TIMESTAMP), "2023-02-29T00:00:00", "there is no such day"),
        (ColumnType(Kind.TIMESTAMP), "2023-02-28T24:00:00", "there is no such time of day"),
        (DECIMAL, "10000000000", "more than 10 digits before the point"),
        (DECIMAL, "1e999", "more than 10 digits before the point"),
        (ColumnType(Kind.DECIMAL, 18, 18), "1", "more than 0 digits before the point"),
    ],
)
def test_a_refusal_says_what_is_wrong_of_a_value_in_the_right_form(column_type, value, why):
    with pytest.raises(RecordFault) as fault:
        read_scalar(column_type, value)
    assert why in fault.value.message and bool(why) == (":" in fault.value.message or ", which" in fault.value.message)


@pytest.mark.parametrize("column_type", TYPES, ids=str)
def test_other_json_types_are_refused(column_type):
    taken = {Kind.BOOLEAN: "boolean", Kind.DECIMAL: "number", Kind.VARCHAR: "text", Kind.DATE: "", Kind.TIMESTAMP: ""}
    malformed = (Kind.DECIMAL, Kind.DATE, Kind.TIMESTAMP)
    for name, value in (
        ("object", Members()),
        ("array", []),
        ("number", Number("0")),
        ("text", "x"),
        ("boolean", True),
    ):
        if name == taken.get(column_type.kind, "number"):
            read_scalar(column_type, value)
        else:
            code = "malformed_value" if name == "text" and column_type.kind in malformed else "wrong_type"
            assert refusal(column_type, value) == code


def codes_of(column_type):
    kind = column_type.kind
    if not column_type.coded:
        return st.text(max_size=8) if kind is Kind.VARCHAR else st.just("-12345678901234567890.0123456789")
    if kind is Kind.DECIMAL:
        return st.integers(-(10**column_type.precision) + 1, 10**column_type.precision - 1)
    if kind is Kind.DATE:
        return st.dates().map(lambda day: (day - dt.date(1970, 1, 1)).days)
    if kind is Kind.TIMESTAMP:
        return st.datetimes().map(lambda moment: (moment - dt.datetime(1970, 1, 1)) // dt.timedelta(microseconds=1))
    bits = {Kind.BOOLEAN: 1, Kind.SMALLINT: 16, Kind.INTEGER: 32, Kind.BIGINT: 64}.get(kind)
    if bits:
        return st.integers(0, 1) if bits == 1 else st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    floats = st.floats(allow_nan=False, allow_infinity=False, width=32 if kind is Kind.REAL else 64)
    return floats.map(lambda value: read_scalar(column_type, Number(repr(value))))


@given(st.sampled_from(TYPES).flatmap(lambda column_type: st.tuples(st.just(column_type), codes_of(column_type))))
@settings(max_examples=examples(200), deadline=None)
def test_canonical_text_is_read_as_what_it_was_written_from_and_as_the_catalog_does(typed):
    column_type, coded = typed
    text = scalar_text(column_type, coded)
    assert read_scalar(column_type, parse_document(text.encode())) == coded
    assert json.dumps(json.loads(text), ensure_ascii=False) == text
    value = from_json(column_type, json.loads(text))
    assert json.dumps(to_json(column_type, value), ensure_ascii=False) == text
    if column_type.coded:
        assert code_of(column_type, value) == coded
        assert value_of(column_type, coded) == value


def test_decimals_are_never_expanded_beyond_the_column():
    for text in ("1e999999999", "1" + "0" * 60_000, "1e" + "9" * 60_000, "0.1e1000000"):
        assert refusal(DECIMAL, Number(text)) == "out_of_range"
    for text in ("1e-999999999", "0." + "0" * 60_000 + "1"):
        assert refusal(DECIMAL, Number(text)) == "out_of_scale"
    for text in ("0e999999999", "0e-" + "9" * 60_000, "-0." + "0" * 60_000):
        assert read_scalar(DECIMAL, Number(text)) == 0
    assert read_scalar(DECIMAL, Number("0." + "0" * 50_000 + "1e50001")) == 100
    assert read_scalar(DECIMAL, Number("100" + "0" * 50_000 + "e-50002")) == 100
    assert refusal(ColumnType(Kind.BIGINT), Number("1" * 60_000)) == "out_of_range"


@given(st.decimals(-(10**11), 10**11, places=4))
@settings(max_examples=examples(100), deadline=None)
def test_decimals_are_exact(value):
    fits = not value * 10_000 % 100 and abs(value) < Decimal(10) ** 10
    if fits:
        assert read_scalar(DECIMAL, str(value)) == int(value * 100)
    else:
        assert refusal(DECIMAL, str(value)) in ("out_of_scale", "out_of_range")


@given(st.sampled_from(FLOATS) | hard_texts())
@settings(max_examples=examples(300), deadline=None)
def test_reals_are_rounded_once(text):
    if math.isinf(naive_real(text)):
        assert refusal(ColumnType(Kind.REAL), Number(text)) == "out_of_range"
    else:
        assert read_scalar(ColumnType(Kind.REAL), Number(text)) == code_of_double(naive_real(text))
