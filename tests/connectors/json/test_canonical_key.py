from __future__ import annotations

import pytest

from catalog.schema.relation import Column, Relation
from catalog.types.column_type import ColumnType, Kind
from connectors.dead_letter import RecordFault
from connectors.json.canonical_key import CanonicalKey
from tests.connectors.relations import STOCK, key_of

FLIGHT = Relation(
    "flight",
    (
        Column("day", ColumnType(Kind.DATE), False),
        Column("delay", ColumnType(Kind.INTEGER)),
        Column("origin", ColumnType(Kind.VARCHAR), False),
        Column("fare", ColumnType(Kind.DECIMAL, 9, 2), False),
    ),
    ("origin", "fare", "day"),
    "flight",
)


def spelled_again(relation, data):
    key = CanonicalKey(relation)
    return key.write(key.read(data))


def test_columns_stand_in_ddl_order_without_blanks():
    expected = '{"day":"2013-01-01","origin":"É\\"","fare":"10.50"}'.encode()
    assert spelled_again(FLIGHT, b' {"fare": 10.5, "origin":"\\u00c9\\"" , "day":"2013-01-01"}') == expected
    assert spelled_again(FLIGHT, expected) == expected


@pytest.mark.parametrize(
    ("kind", "spellings", "canonical"),
    [
        (Kind.BOOLEAN, ["true", ' {"v":true}'], "true"),
        (Kind.BIGINT, ["-0", '{"v":0}', "0 "], "0"),
        (Kind.DOUBLE, ["1e16", "10000000000000000", "1e+16"], "1e+16"),
        (Kind.DOUBLE, ["-0.0", "0", "-1e-999"], "0.0"),
        (Kind.REAL, ["0.1", "0.10000000149011612"], "0.10000000149011612"),
        (Kind.TIMESTAMP, ['"2026-03-01 09:00:00.5"', '"2026-03-01T09:00:00.500000"'], '"2026-03-01T09:00:00.500000"'),
        (Kind.VARCHAR, ['"\\u0041\\/\\u001F\\u0009"', '{"v":"A/\\u001f\\t"}'], '"A/\\u001f\\t"'),
    ],
)
def test_equal_values_have_one_spelling(kind, spellings, canonical):
    for spelling in spellings:
        assert spelled_again(key_of(kind), spelling.encode()) == f'{{"v":{canonical}}}'.encode()


@pytest.mark.parametrize(
    ("relation", "data", "words"),
    [
        (STOCK, b"AAPL", "not a JSON text"),
        (STOCK, b"\xff", "not UTF-8"),
        (STOCK, b"5", "column `symbol`: expected a string for VARCHAR, got the number 5"),
        (STOCK, b"null", "column `symbol`: expected a string for VARCHAR, got null"),
        (STOCK, b"{}", "got no such member"),
        (STOCK, b'{"SYMBOL":"A"}', "`SYMBOL` is there, but names are told by case"),
        (STOCK, b'{"symbol":"A","x":1}', 'got another member the string "x"'),
        (FLIGHT, b'"JFK"', "expected a JSON object of `day`, `origin`, `fare`, got the string"),
        (FLIGHT, b'{"day":"2013-01-01","origin":"JFK"}', "column `fare`"),
        (FLIGHT, b'{"day":"2013-01-01","origin":"JFK","fare":1.234}', "beyond the scale 2"),
    ],
)
def test_refusals_name_the_key_and_what_was_expected(relation, data, words):
    with pytest.raises(RecordFault) as fault:
        CanonicalKey(relation).read(data)
    assert fault.value.code == "malformed_key"
    assert fault.value.message.startswith("the Kafka key: ")
    assert words in fault.value.message
