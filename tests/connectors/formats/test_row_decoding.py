"""What formats of whole rows have in common, by lines of CSV: no record is lost, what is absent, what is deleted."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from connectors.formats.csv_format import CsvFormat
from tests.connectors.relations import records
from tests.effort import examples

TABLE = apply_ddl(
    Catalog(), "CREATE TABLE t (k VARCHAR PRIMARY KEY, v VARCHAR, n BIGINT) WITH ('format'='csv', 'delimiter'=';')", 0
).relations["t"]
TEXT = st.text(st.sampled_from(';"\n\r,aé '), max_size=6)


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.tuples(st.one_of(st.none(), st.just(b'"a"'), st.binary(max_size=4)), st.one_of(
    st.none(), st.binary(max_size=8), TEXT.map(str.encode)))))  # fmt: skip
def test_no_record_is_lost(pairs):
    decoded = CsvFormat(TABLE).decode(records(pairs))
    assert len(decoded.changes) + len(decoded.dead) == len(pairs)
    assert all(letter.code and letter.message for letter in decoded.dead)


def test_columns_that_were_appended_are_absent():
    keep = apply_ddl(
        Catalog(), "CREATE TABLE t (k VARCHAR PRIMARY KEY, v VARCHAR) WITH ('format'='csv', 'absent'='keep')", 0
    ).relations["t"]
    decoded = CsvFormat(keep, keyless=True).decode(records([(None, b"a"), (b'"a"', b"a,\n"), (b'"a"', None)]))
    assert decoded.changes.kept[1].tolist() == [True, False, False]
    assert decoded.changes.live.tolist() == [True, True, False]
    assert decoded.seen == {"k": 2, "v": 1}
