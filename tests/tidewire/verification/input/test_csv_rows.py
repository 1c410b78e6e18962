"""Lines are read as the product reads them, by another way."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.effort import examples
from tests.tidewire.verification.two_readers import two_readers

COLUMNS = """k VARCHAR, n INTEGER, b BOOLEAN, l BIGINT, r REAL, d DOUBLE, m DECIMAL(6,2), day DATE, at TIMESTAMP,
  must VARCHAR NOT NULL, PRIMARY KEY (k, n)"""
TABLES = [
    f"CREATE TABLE t ({COLUMNS}) WITH ('format'='csv'{more})"
    for more in (
        "",
        ", 'absent'='keep'",
        ", 'absent'='error', 'delimiter'=';'",
        ", 'delimiter'='\\t'",
        ", 'delimiter'='|'",
    )
]
SMALL = "CREATE TABLE t (k VARCHAR PRIMARY KEY, a BIGINT, b VARCHAR) WITH ('format'='csv')"
GOOD = ["x", "1", "true", "-7", "0.1", "1e300", "12.5", "2026-03-01", "2026-03-01 12:00:00.5", "y"]
ODD = [
    "", " ", "NaN", "01", "1.0", "1e2", "1e40", "3.4028236e38", "1e400", "-0", "false", "True", "99999", "99999.99",
    "9999.99", "1.005", "9223372036854775808", "2026-02-30", "0001-01-01", "2026-03-01T23:59:59.123456", "é",
    "\ufeff", "null",
]  # fmt: skip
FIELDS = st.one_of(st.sampled_from(ODD), st.text(',;|"\r\nab1', max_size=5))


@st.composite
def lines(draw: st.DrawFn, delimiter: str) -> bytes:
    """A good line, some fields changed, some quoted, cut or longer."""
    fields = list(GOOD)
    for _ in range(draw(st.integers(0, 3))):
        fields[draw(st.integers(0, len(fields) - 1))] = draw(FIELDS)
    fields = fields[: draw(st.integers(0, 11))] if draw(st.booleans()) else fields
    fields += ["more"] * draw(st.sampled_from([0, 0, 0, 1, 5]))
    quoted = ['"' + f.replace('"', '""') + '"' if draw(st.booleans()) else f for f in fields]
    return (delimiter.join(quoted) + draw(st.sampled_from(["", "\n", "\r\n", "\r", "\n\n", '"', delimiter]))).encode()


KEYS = st.sampled_from([None, b'{"k":"x","n":1}', b'{"n":1.0,"k":"x"}', b'{"k":"x"}', b"1", b'{"k":"","n":1}'])


@settings(max_examples=examples(200), deadline=None)
@given(st.data(), st.sampled_from(TABLES), KEYS, st.booleans())
def test_lines_are_read_as_the_product_reads_them(
    data: st.DataObject, ddl: str, key: bytes | None, keyless: bool
) -> None:
    readers = two_readers(ddl)
    line = data.draw(st.one_of(lines(readers.table.option("delimiter") or ","), st.binary(max_size=9), st.none()))
    readers.read(key, line, keyless)


@settings(max_examples=examples(200), deadline=None)
@given(st.text(',"\r\nab1', max_size=12))
def test_quotes_and_breaks(line: str) -> None:
    two_readers(SMALL).read(None, line.encode())


@pytest.mark.parametrize(
    ("line", "values"),
    [
        (b"a,1,x", ["a", "1", "x"]),
        (b'"a,b",1,"say ""no"""\r\n', ["a,b", "1", 'say "no"']),
        (b'"",,""', ["", None, ""]),
        (b"a", ["a", None, None]),
        (b"a,1,x,y", None),
        (b'a,1,x"y', None),
        (b'"a"b', None),
        (b'"a', None),
        (b"a,\n1", None),
        (b'"a\nb"', ["a\nb", None, None]),
        (b"", None),
        (b"\xff", None),
        (b"a,01", None),
    ],
)
def test_what_lines_say(line: bytes, values: list[str | None] | None) -> None:
    row = two_readers(SMALL).read(None, line)
    assert (row and row.values) == values


def test_a_tombstone_deletes() -> None:
    row = two_readers(SMALL).read(b'"a"', None)
    assert row is not None and (row.pk, row.live) == ('["a"]', False)
