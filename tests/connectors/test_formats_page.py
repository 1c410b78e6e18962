"""docs/formats.md is run line by line: what the page says of a record is what the decoder does."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import connectors.dead_letter
from catalog.column_type import ColumnType, Kind
from catalog.relation import Column, Relation
from connectors.json_format import JsonFormat
from connectors.json_scalar import scalar_text
from tests.connectors.relations import STOCK, one_column, records

PAGE = (Path(__file__).parents[2] / "docs" / "formats.md").read_text()
LINE = re.compile(r"^\| (.+?) \| (.+?) \| (.+?) \|$", re.MULTILINE)


def lines(title):
    section = PAGE.split(f"### {title}\n")[1].split("\n### ")[0]
    found = LINE.findall(section)[2:]
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


def test_the_codes_are_those_of_the_module():
    module = connectors.dead_letter.__doc__.split("\n\n")[2]
    page = re.findall(r"^\| (\w+) \|", PAGE.split("### Dead letters")[1], re.MULTILINE)[1:]
    assert page == re.findall(r"^ {4}(\w+)", module, re.MULTILINE)
