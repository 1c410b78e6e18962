from __future__ import annotations

import random
import struct

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.types.column_type import ColumnType, Kind
from connectors.dead_letter import RecordFault
from connectors.json.byte_layout import ByteLayout
from connectors.json.columns import nearest_doubles, read_columns
from connectors.json.document import Number
from connectors.json.plan import Plan
from connectors.json.scalar import read_scalar
from tests.connectors.documents import FLOATS, NUMBERS
from tests.connectors.relations import STOCK, one_column
from tests.effort import examples
from tests.oracle.naive_float import hard_texts


def read(relation, values):
    return read_columns(ByteLayout.of(values), np.arange(len(values)), Plan.of_rows(relation), relation.columns, False)


def test_a_batch_of_columns():
    values = [
        b'{"symbol":"\\u00e9","risk":0.30000000000000004,"price":"1.5"}',
        b'{"symbol":"B","exchange":null,"x":1}',
        b"{}",
    ]
    columns = read(STOCK, values)
    assert columns.plain.tolist() == [True, True, False]
    assert columns.unknown.tolist() == [False, True, False]
    assert columns.texts[0].texts(columns.valid[0]) == ["é", "B", None]
    assert columns.texts[1].texts(columns.valid[1]) == [None, None, None]
    assert columns.present[1].tolist() == [False, True, False]
    assert columns.codes[2, 0] == read_scalar(ColumnType(Kind.DOUBLE), Number("0.30000000000000004"))
    assert columns.codes[3].tolist() == [150, 0, 0]


def test_doubles_are_those_of_python_with_and_without_infinite_ones():
    rng = random.Random(5)
    patterns = (struct.unpack("<d", rng.randbytes(8))[0] for _ in range(3_000))
    texts = [repr(value) for value in patterns if value - value == 0] + [
        text + "0" * 30 for text in FLOATS if "." in text and "e" not in text
    ]
    assert nearest_doubles(ByteLayout.of(texts, text=True)).tolist() == [float(text) for text in texts]
    assert nearest_doubles(ByteLayout.of([*texts, "1e400"], text=True)).tolist()[-1] == float("inf")
    assert nearest_doubles(ByteLayout.of(["1e-400", "-1e-400"], text=True)).tolist() == [0.0, 0.0]
    # Python takes underscores, Arrow does not: whatever a version of Arrow refuses, Python reads
    assert nearest_doubles(ByteLayout.of(["1_0", "0.1", "1e400"], text=True)).tolist() == [10.0, 0.1, float("inf")]


def check(column_type, numbers):
    relation = one_column(column_type.kind, column_type.precision, column_type.scale)
    columns = read(relation, [f'{{"k":1,"v":{number}}}'.encode() for number in numbers])
    texts = columns.texts[1].texts(columns.valid[1]) if 1 in columns.texts else columns.codes[1].tolist()
    for i, number in enumerate(numbers):
        try:
            expected = read_scalar(column_type, Number(number))
        except RecordFault:
            assert not columns.plain[i], number
        else:
            assert columns.plain[i] and texts[i] == expected, number


def test_floats_and_wide_decimals_of_a_column():
    rng = random.Random(6)
    for column_type in (ColumnType(Kind.DOUBLE), ColumnType(Kind.REAL), ColumnType(Kind.DECIMAL, 38, 4)):
        check(column_type, NUMBERS)
    floats = [struct.unpack(">f", rng.randrange(0x7F7FFFFF).to_bytes(4, "big"))[0] for _ in range(500)]
    middles = [(value + float(np.nextafter(np.float32(value), np.float32(0)))) / 2 for value in floats]
    check(ColumnType(Kind.REAL), [*map(repr, floats), *map(repr, middles), *(f"{value:.60e}" for value in middles)])


@given(st.lists(hard_texts() | hard_texts(small=True), min_size=1, max_size=8))
@settings(deadline=None, max_examples=examples(200))
def test_floats_that_are_hard_to_round(numbers):
    check(ColumnType(Kind.REAL), numbers)
    check(ColumnType(Kind.DOUBLE), numbers)
