"""Lines of CSV: what another writer wrote comes back; what a field is, quoted and not; what is no line."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from catalog.schema.relation import Relation
from connectors.decoded import Decoded
from connectors.formats.csv_format import CsvFormat
from tests.connectors.relations import records
from tests.effort import examples

COLUMNS = "k VARCHAR PRIMARY KEY, v VARCHAR, n BIGINT"
TEXT = st.text(st.sampled_from(';"\n\r,aé '), max_size=6)


def table(columns: str = COLUMNS, **options: str) -> Relation:
    said = ", ".join(f"'{name}'='{value}'" for name, value in ({"format": "csv"} | options).items())
    return apply_ddl(Catalog(), f"CREATE TABLE t ({columns}) WITH ({said})", 0).relations["t"]


COMMA, SEMICOLON = table(), table(delimiter=";")
TYPED = table("k VARCHAR PRIMARY KEY, b BOOLEAN, d DOUBLE, m DECIMAL(8,2), day DATE")


def decoded(line: bytes, relation: Relation = COMMA) -> Decoded:
    return CsvFormat(relation, keyless=True).decode(records([(None, line)]))


def row(line: bytes, relation: Relation = COMMA) -> list[object]:
    """The values of a line that is a row, NULL as None."""
    changes = decoded(line, relation).changes
    assert len(changes) == 1, decoded(line, relation).dead
    values = [
        changes.texts[c][0] if c in changes.texts else int(changes.codes[c, 0]) for c in range(len(changes.valid))
    ]
    return [value if known else None for value, known in zip(values, changes.valid[:, 0].tolist(), strict=True)]


def refused(line: bytes, relation: Relation = COMMA) -> tuple[str, str]:
    (letter,) = decoded(line, relation).dead
    return letter.code, letter.message


@settings(max_examples=examples(200), deadline=None)
@given(st.tuples(TEXT, TEXT, st.integers(-(2**63), 2**63 - 1)), st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]))
def test_what_another_writer_wrote_comes_back(written: tuple[str, str, int], quoting: int) -> None:
    """Without quotes the empty text cannot be told from NULL, which the writer of quotes where needed leaves so."""
    out = io.StringIO()
    csv.writer(out, delimiter=";", quoting=quoting, lineterminator="\r\n").writerow(written)
    if quoting == csv.QUOTE_ALL:
        assert row(out.getvalue().encode(), SEMICOLON) == list(written)
    elif written[0]:
        assert row(out.getvalue().encode(), SEMICOLON) == [written[0], written[1] or None, written[2]]


@pytest.mark.parametrize(
    ("line", "values"),
    [
        (b"a,b,7", ["a", "b", 7]),
        (b'"a","He said ""no"" to it",7', ["a", 'He said "no" to it', 7]),
        (b'a,"",', ["a", "", None]),
        (b"a,,", ["a", None, None]),
        (b"a", ["a", None, None]),
        (b'a,"b\r\nc",7\r\n', ["a", "b\r\nc", 7]),
        (b"a,b,7\n", ["a", "b", 7]),
        (b'a,"b\n"', ["a", "b\n", None]),
        (b"a, b ,7", ["a", " b ", 7]),
        (b"a;b,c,7", ["a;b", "c", 7]),
        (b'a,"b",-0', ["a", "b", 0]),
    ],
)
def test_what_fields_say(line: bytes, values: list[object]) -> None:
    assert row(line) == values


def test_another_delimiter_stands_between_the_fields() -> None:
    assert row(b"a,b;c;7", SEMICOLON) == ["a,b", "c", 7]
    assert row(b"a|b.c|7", table(delimiter="|")) == ["a", "b.c", 7]


@pytest.mark.parametrize(
    ("line", "field"),
    [
        (b'a"b', 1),
        (b'a,"b', 2),
        (b'a,"b"c', 2),
        (b'a,b"', 2),
        (b"a,b\nc", 2),
        (b"a\n\n", 1),
        (b'a,b,"7""', 3),
        (b"a\rb", 1),
    ],
)
def test_a_field_that_is_half_in_quotes_is_refused(line: bytes, field: int) -> None:
    said = f"field {field} is neither in quotes nor free of quotes and line breaks"
    assert refused(line) == ("malformed_csv", said)


def test_more_fields_than_columns_are_refused() -> None:
    assert refused(b"a,b,7,") == ("malformed_csv", "expected at most 3 fields, one for each column, got 4")


def test_what_is_no_text_is_refused_with_its_place() -> None:
    assert refused(b"a,\xff") == ("invalid_utf8", "byte 2 is not UTF-8")
    assert refused("\ufeffa,b".encode()) == (
        "byte_order_mark",
        "the text begins with a byte order mark; send plain UTF-8",
    )


@pytest.mark.parametrize("number", ["1 ", "+1", "01", "1_000", "0x1", "NaN", "Infinity", ".5", "1.", "x" * 70])
def test_numbers_are_those_of_json(number: str) -> None:
    code, said = refused(f"a,,{number}".encode())
    assert code == "malformed_value"
    assert said.endswith(f"expected a number for BIGINT, got {number[:60]!r}")


def test_values_of_other_types() -> None:
    assert row(b"a,true,,12.5,2026-03-01", TYPED)[1:] == [1, None, 1250, 20513]
    assert row(b'a,"false",,"12.50",', TYPED)[1:] == [0, None, 1250, None]
    for line in (b"a,TRUE", b"a,1", b'a,""', b"a,,x", b"a,,,1.234", b"a,,,,2026-02-30"):
        assert refused(line, TYPED)[0] in ("wrong_type", "malformed_value", "out_of_scale"), line
