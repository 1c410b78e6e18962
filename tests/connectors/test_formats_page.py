"""docs/formats.md is run line by line: what the page says of a record is what the decoder does."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

import connectors.dead_letter
from catalog.schema.format_options import UNITS
from catalog.schema.relation import Column, Relation
from catalog.types.column_type import ColumnType, Kind
from connectors.formats.csv_format import CsvFormat
from connectors.formats.debezium_format import DebeziumFormat
from connectors.json.format import JsonFormat
from connectors.json.scalar import scalar_text
from tests.connectors.relations import STOCK, one_column, records

PAGE = (Path(__file__).parents[2] / "docs" / "formats.md").read_text()


def lines(title, cells=3):
    section = PAGE.split(f"## {title}\n")[1].split("\n### ")[0].split("\n## ")[0]
    found = re.findall("^" + r"\| (.+?) " * cells + r"\|$", section, re.MULTILINE)[2:]
    assert len(found) == section.count("\n| ") - 2
    return found


def cell(text):
    assert text == "∅" or (text[0] == text[-1] == "`")
    return None if text == "∅" else text[1:-1].encode()


def one(relation, key, value):
    """Decode one record; return its change, or the code of its dead letter."""
    decoded = JsonFormat(relation).decode(records([(key, value)]))
    return decoded.dead[0].code if decoded.dead else decoded.changes


@pytest.mark.parametrize(("key", "value", "result"), lines("The record") + lines("The key"))
def test_records(key, value, result):
    found = one(STOCK, cell(key), cell(value))
    got = found if isinstance(found, str) else "row" if found.live[0] else "delete"
    assert got == result
    if not isinstance(found, str):
        assert found.keys == [b'{"symbol":"A"}']


@pytest.mark.parametrize(("type_name", "value", "result"), lines("Values"))
def test_values(type_name, value, result):
    kind, *size = re.findall(r"\w+", type_name)
    relation = one_column(Kind[kind], *map(int, size))
    found = one(relation, b"1", b'{"k":1,"v":' + cell(value) + b"}")
    if isinstance(found, str):
        assert found == result
    elif not found.valid[1, 0]:
        assert result == "NULL"
    else:
        coded = found.texts[1][0] if 1 in found.texts else int(found.codes[1, 0])
        written = scalar_text(relation.column("v").type, coded)
        assert json.loads(written) == json.loads(result)
        assert type(json.loads(written)) is type(json.loads(result))


@pytest.mark.parametrize(("absent", "value", "result"), lines("What is absent, and null"))
def test_absent_columns(absent, value, result):
    big = ColumnType(Kind.BIGINT)
    columns = (Column("k", ColumnType(Kind.INTEGER), False), Column("v", big), Column("w", big, nullable=False))
    found = one(Relation("t", columns, ("k",), "t", absent=absent), b"1", cell(value))
    if isinstance(found, str):
        assert found == result
        return
    marks = []
    for c, column in enumerate(columns):
        if found.kept is not None and found.kept[c, 0]:
            marks.append(f"{column.name} is kept")
        elif not found.valid[c, 0]:
            marks.append(f"{column.name} is NULL")
    assert "row: " + ", ".join(marks) == result


ITEM = Relation(
    "item",
    (Column("id", ColumnType(Kind.BIGINT), False), Column("doc", ColumnType(Kind.VARCHAR))),
    ("id",),
    "item",
    "debezium-json",
)
LOGICAL = {
    "Decimal": "org.apache.kafka.connect.data.Decimal",
    "VariableScaleDecimal": "io.debezium.data.VariableScaleDecimal",
    "Json": "io.debezium.data.Json",
}


@pytest.mark.parametrize(("key", "value", "result"), lines("Envelopes"))
def test_envelopes(key, value, result):
    decoded = DebeziumFormat(ITEM, keyless=True).decode(records([(cell(key), cell(value))]))
    if decoded.dead:
        assert decoded.dead[0].code == result
        return
    if decoded.ignored:
        assert result == "ignored"
        return
    changes, settling = decoded.changes, decoded.settling
    said = "upsert" if changes.live[0] else "truncate" if settling.truncates[0] else "delete"
    said += ", keeps doc" if settling.unchanged[1, 0] else ""
    said += f", was {settling.origins[0].decode()}" if settling.origins else ""
    assert said == result
    assert changes.keys == [b"" if said == "truncate" else b'{"id":1}']


def schema_of(words):
    type_, *name = words.partition(" scale ")[0].split()
    field = {"field": "v", "type": type_}
    if type_ == "struct":
        field["fields"] = []
    if name:
        field["name"] = LOGICAL.get(name[0], f"io.debezium.time.{name[0]}")
    if " scale " in words:
        field["parameters"] = {"scale": words.partition(" scale ")[2]}
    after = {"field": "after", "type": "struct", "fields": [{"field": "k", "type": "int32"}, field]}
    return json.dumps({"type": "struct", "fields": [after]})


UNIT_WORDS = {word for words in UNITS.values() for word in words}


@pytest.mark.parametrize(("type_name", "written", "value", "result"), lines("Values of a database", 4))
def test_values_of_a_database(type_name, written, value, result):
    kind, *size = re.findall(r"\w+", type_name)
    by_unit = written in UNIT_WORDS - {"string"} or (written == "string" and result == "wrong_type")
    options = (("column.v", written),) if by_unit else ()
    relation = replace(one_column(Kind[kind], *map(int, size)), format="debezium-json", options=options)
    envelope = b'{"op":"c","after":{"k":1,"v":' + cell(value) + b"}}"
    if not by_unit:
        envelope = b'{"schema":' + schema_of(written).encode() + b',"payload":' + envelope + b"}"
    decoded = DebeziumFormat(relation).decode(records([(b'{"k":1}', envelope)] * 2))
    if decoded.dead:
        assert [letter.code for letter in decoded.dead] == [result] * 2
        return
    changes = decoded.changes
    coded = changes.texts[1][1] if 1 in changes.texts else int(changes.codes[1, 1])
    assert json.loads(scalar_text(relation.column("v").type, coded)) == json.loads(result)


@pytest.mark.parametrize(("value", "result"), lines("csv", 2))
def test_csv(value, result):
    decoded = CsvFormat(STOCK, keyless=True).decode(records([(None, value[1:-1].encode())]))
    assert (decoded.dead[0].code if decoded.dead else "row") == result


def test_the_codes_are_those_of_the_module():
    module = connectors.dead_letter.__doc__.split("\n\n")[2]
    page = re.findall(r"^\| (\w+) \|", PAGE.split("## Dead letters")[1], re.MULTILINE)[1:]
    assert page == re.findall(r"^ {4}(\w+)", module, re.MULTILINE)
