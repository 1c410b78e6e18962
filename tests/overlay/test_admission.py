"""Taken, refused or held back."""

from __future__ import annotations

from catalog.column_type import ColumnType, Kind
from catalog.compiler import Compiled
from catalog.relation import Catalog, Column, Relation
from overlay.ack import Refusal
from overlay.admission import Admission, Held

TABLE = Relation("t", (Column("k", ColumnType(Kind.BIGINT), False),), ("k",), "t")
ASK = b'{"sql":"SELECT MIN(k) FROM t"}'


def test_nothing_is_judged_before_a_catalog_but_what_cannot_be_read() -> None:
    admission = Admission()
    assert not admission.announced and admission.judge(ASK, final=True) is None
    assert isinstance(admission.judge(b"x"), Refusal)


def test_unknown_names_may_come_and_everything_else_is_final() -> None:
    admission = Admission()
    admission.announce(Catalog())
    assert admission.judge(ASK) is None
    final = admission.judge(ASK, final=True)
    assert isinstance(final, Refusal) and final.code == "unknown_table"
    syntax = admission.judge(b'{"sql":"SELEC MIN(k) FROM t"}')
    assert isinstance(syntax, Refusal) and syntax.code in ("syntax", "unsupported")
    admission.announce(Catalog(0, {"t": TABLE}))
    assert isinstance(admission.judge(ASK), Compiled)
    template = admission.judge(b'{"template":"SELECT MIN(k) FROM t WHERE k < ?","params":[3]}')
    assert isinstance(template, Compiled) and template.region.hi == 2


def test_older_records_of_an_id_are_forgotten() -> None:
    admission = Admission()
    for version, key in enumerate([b"a", b"b", b"a", b"a"]):
        admission.held[version] = Held(version, key, ASK)
    assert [held.version for held in admission.forget(b"a", 3)] == [0, 2]
    assert list(admission.held) == [1, 3] and admission.forget(b"c", 9) == []
