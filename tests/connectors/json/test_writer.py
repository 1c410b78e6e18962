from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pytest

from catalog.types.column_type import Kind
from connectors.json.writer import RowError, encode_key, encode_row
from tests.connectors.relations import STOCK, one_column


def test_a_row_is_written_in_ddl_order_without_blanks():
    row = {"price": Decimal("1e3"), "risk": 1, "symbol": 'A"\n/é', "exchange": None}
    expected = '{"symbol":"A\\"\\n/é","exchange":null,"risk":1.0,"price":"1000.00"}'
    assert encode_row(STOCK, row) == expected.encode()
    assert encode_key(STOCK, row) == '{"symbol":"A\\"\\n/é"}'.encode()
    assert encode_key(STOCK, {"symbol": ""}) == b'{"symbol":""}'


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        (Kind.BOOLEAN, True, "true"),
        (Kind.BIGINT, -(2**63), "-9223372036854775808"),
        (Kind.BIGINT, np.int64(7), "7"),
        (Kind.REAL, 0.1, "0.10000000149011612"),
        (Kind.DOUBLE, -0.0, "0.0"),
        (Kind.DOUBLE, np.float64(2.5), "2.5"),
        (Kind.DATE, dt.date(2026, 3, 1), '"2026-03-01"'),
        (Kind.DATE, "0001-01-01", '"0001-01-01"'),
        (Kind.TIMESTAMP, dt.datetime(2026, 3, 1, 23, 59, 59, 999990), '"2026-03-01T23:59:59.999990"'),
        (Kind.TIMESTAMP, "2026-03-01 00:00:00.000000", '"2026-03-01T00:00:00"'),
        (Kind.VARCHAR, "\x00", '"\\u0000"'),
    ],
)
def test_values_of_python_become_canonical_json(kind, value, text):
    assert encode_row(one_column(kind), {"k": 1, "v": value}) == f'{{"k":1,"v":{text}}}'.encode()


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"symbol": None}, "column `symbol`: expected a string for VARCHAR, got NULL"),
        ({}, "column `symbol`: expected a string for VARCHAR, got no value"),
        ({"symbol": "A", "sybmol": 1}, "got `sybmol`"),
        ({"symbol": "A", "price": 1.5}, "DECIMAL(12,2), got 1.5"),
        ({"symbol": "A", "price": "1.234"}, "beyond the scale 2"),
        ({"symbol": "A", "price": Decimal("NaN")}, "got Decimal('NaN')"),
        ({"symbol": "A", "risk": float("nan")}, "got nan"),
        ({"symbol": "A", "risk": "1"}, 'got the string "1"'),
        ({"symbol": "A", "risk": True}, "got true"),
        ({"symbol": "\ud800"}, "got '\\ud800'"),
        ({"symbol": "A", "exchange": b"N"}, "got b'N'"),
        ({"symbol": "A" * 70_000}, "expected at most 65536 bytes"),
        ({"symbol": "A", "price": 10**5_000}, "an integer of thousands of digits"),
        ({"symbol": "A", "price": {"a": 10**5_000}}, "an integer of thousands of digits"),
        ({"symbol": "A", "price": Decimal("1e999999999999")}, "column `price`"),
        ({"symbol": "A", "risk": Decimal("1e999999999999")}, "column `risk`"),
    ],
)
def test_what_does_not_fit_is_refused_with_column_expected_and_got(row, words):
    with pytest.raises(RowError) as error:
        encode_row(STOCK, row)
    assert str(error.value).startswith("cannot encode a row of table `stock`: ")
    assert words in str(error.value)
    assert len(str(error.value)) < 300


def test_a_zone_is_refused_where_the_column_has_none():
    with pytest.raises(RowError):
        encode_row(one_column(Kind.TIMESTAMP), {"k": 1, "v": dt.datetime(2026, 3, 1, tzinfo=dt.UTC)})
    with pytest.raises(RowError):
        encode_row(one_column(Kind.DATE), {"k": 1, "v": dt.datetime(2026, 3, 1)})


def test_a_column_left_out_follows_the_relation():
    assert encode_row(one_column(Kind.BIGINT), {"k": 1}) == b'{"k":1,"v":null}'
    assert encode_row(one_column(Kind.BIGINT, absent="keep"), {"k": 1}) == b'{"k":1}'
    with pytest.raises(RowError, match="got no value"):
        encode_row(one_column(Kind.BIGINT, absent="error"), {"k": 1})
