from __future__ import annotations

import datetime as dt
import random

import numpy as np

from catalog.types.column_type import ColumnType, Kind
from connectors.dead_letter import RecordFault
from connectors.json.byte_layout import ByteLayout
from connectors.json.document import parse_document
from connectors.json.kernel import ABSENT, CODE, CODED, NULL, SPAN, START, STATE, STOP, scan_records
from connectors.json.plan import Plan
from connectors.json.scalar import read_scalar
from state.order_code import code_of_double
from tests.connectors.documents import DATES, NUMBERS, TIMES
from tests.connectors.relations import STOCK, key_of, one_column


def scan(plan, values, as_keys=False):
    layout = ByteLayout.of(values)
    out = np.zeros((4, len(plan.fields) + 1, len(values)), np.int64)
    scan_records(layout.data, layout.offsets, np.arange(len(values)), plan.names, plan.fields, as_keys, out)
    return out, layout


def test_columns_states_and_spans():
    value = b'{"x":[],"symbol":"A\\n","risk":0.25,"exchange":null}'
    out, layout = scan(Plan.of_rows(STOCK), [b"{}", value])
    assert out[STATE, :, 1].tolist() == [SPAN, NULL, CODED, ABSENT, 1]
    assert out[CODE, 4].tolist() == [0, 1]
    assert out[CODE, 2, 1] == code_of_double(0.25)
    assert layout.data[out[START, 0, 1] : out[STOP, 0, 1]].tobytes() == b"A\\n"


def test_records_are_read_by_their_numbers():
    layout = ByteLayout.of([b'{"symbol":"A"}', b"x", b'{"symbol":"C"}'])
    plan = Plan.of_rows(STOCK)
    out = np.zeros((4, 5, 2), np.int64)
    scan_records(layout.data, layout.offsets, np.array([2, 1]), plan.names, plan.fields, False, out)
    assert out[CODE, 4].tolist() == [1, 0]


def test_a_later_member_wins_if_the_earlier_was_right_too():
    plan = Plan.of_rows(one_column(Kind.BIGINT))
    out, _ = scan(plan, [b'{"k":1,"v":null,"v":2}', b'{"k":1,"v":2,"v":null}', b'{"k":1,"v":"x","v":2}'])
    assert out[CODE, 2].tolist() == [1, 1, 0]
    assert out[STATE, 1, :2].tolist() == [CODED, NULL]
    assert out[CODE, 1, :2].tolist() == [2, 0]


def test_keys_may_be_bare_and_have_no_other_members():
    plan = Plan.of_keys(key_of(Kind.INTEGER))
    keys = [b"5", b' {"v":5} ', b'{"v":5,"x":1}', b"[5]", b"", b"5 6"]
    assert scan(plan, keys, as_keys=True)[0][CODE, 1].tolist() == [1, 1, 0, 0, 0, 0]
    assert scan(plan, keys)[0][CODE, 1].tolist() == [0, 1, 1, 0, 0, 0]


def check_against_exact(column_type, texts):
    """What the kernel takes has the exact code; what it leaves, the exact reader refuses or is worth a span."""
    plan = Plan.of_rows(one_column(column_type.kind, column_type.precision, column_type.scale))
    out, _ = scan(plan, [f'{{"k":1,"v":{text}}}'.encode() for text in texts])
    for i, text in enumerate(texts):
        try:
            expected = read_scalar(column_type, parse_document(text.encode()))
        except RecordFault:
            assert not out[CODE, 2, i] or out[STATE, 1, i] == SPAN, text
            continue
        assert out[CODE, 2, i] or len(text) > 19, text
        if out[CODE, 2, i] and out[STATE, 1, i] == CODED:
            assert out[CODE, 1, i] == code_of_bits(column_type, out[CODE, 1, i], expected), text


def code_of_bits(column_type, bits, expected):
    """Doubles are left as their bits."""
    if column_type.kind is not Kind.DOUBLE:
        return expected
    assert code_of_double(float(np.int64(bits).view(np.float64))) == expected
    return bits


def test_numbers_against_the_exact_reader():
    for kind in (Kind.SMALLINT, Kind.INTEGER, Kind.BIGINT, Kind.DOUBLE):
        check_against_exact(ColumnType(kind), NUMBERS)
    for precision, scale in ((12, 2), (18, 0), (18, 18), (1, 0)):
        check_against_exact(ColumnType(Kind.DECIMAL, precision, scale), NUMBERS)
        check_against_exact(ColumnType(Kind.DECIMAL, precision, scale), [f'"{number}"' for number in NUMBERS])
    rng = random.Random(3)
    decimals = [f"{rng.randrange(10**9)}.{rng.randrange(10**6)}" for _ in range(2_000)]
    check_against_exact(ColumnType(Kind.DOUBLE), decimals)
    check_against_exact(ColumnType(Kind.DECIMAL, 12, 6), decimals)


def test_every_day_of_the_calendar_and_the_days_around_it():
    days = [dt.date.fromordinal(n).isoformat() for n in range(1, dt.date.max.toordinal() + 1, 61)]
    days += [
        f"{year:04d}-{month:02d}-{day:02d}"
        for year in (1900, 2000, 2023, 2024)
        for month in range(14)
        for day in range(33)
    ]
    check_against_exact(ColumnType(Kind.DATE), [f'"{day}"' for day in (*days, *DATES)])


def test_times_against_the_exact_reader():
    moments = [f'"{day}{mark}{time}"' for day in DATES for mark in ("T", " ", "t", "") for time in TIMES]
    check_against_exact(ColumnType(Kind.TIMESTAMP), moments)
