"""Taken, refused or held back."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.bulk import bulk_compiler
from catalog.query.compiler import Compiled, Compiler
from catalog.query.shape import Region
from catalog.schema.catalog import Catalog
from catalog.schema.relation import Column, Relation
from catalog.types.column_type import ColumnType, Kind
from overlay.delivery.ack import Refusal
from overlay.intake.admission import Admission
from tests.catalog.sample import CATALOG
from tests.catalog.streamed import CATALOG as STREAMED
from tests.effort import examples

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


COLUMNS = ["risk", "price", "volume", "ratio", "small", "wide", "exchange", "day", "open", '"Lot Size"', "nothing"]
comparisons = st.tuples(st.sampled_from(COLUMNS), st.sampled_from(["<", ">=", "= ", "= -", "> - "])).map(" ".join)
items = st.sampled_from(["MIN(price)", "COUNT(*)", 'MAX("Lot Size")', "DISTINCT sector", "MAX( price )\n"])
within = st.sampled_from(["", "", " NOTIFY LATEST", " TTL 5", " NOTIFY MIN CHANGE 0.5 TTL 5"])
constants = st.sampled_from([0, 5, -5, 2.5, -1.005, 1e30, 10**20, "x", "it's -- x", "café", "5", "-2.50", ".5", "1e3"])
others = st.sampled_from([None, True, "2026-03-01", "2026-13-01", "Ω\n\\", "/* '", "' OR 1 = 1", [], {}])
beside = st.fixed_dictionaries(
    {},
    optional={
        "notify": st.sampled_from(["LATEST", "EVERY CHANGE", "MIN CHANGE 0.5", "no"]),
        "ttl": st.sampled_from([5, 7, 0]),
        "deliver": st.sampled_from(["push", "x"]),
    },
)


def written(constant: object) -> str:
    return "'" + constant.replace("'", "''") + "'" if isinstance(constant, str) else str(constant)


def in_bulk(admission: Admission, values: list[bytes]) -> dict[int, Compiled]:
    judged, made = admission.judge_all(values), {}
    statements, records = judged.found.statements, judged.found.records
    for alike in judged.alike:
        for i, row in enumerate(alike.rows.tolist()):
            group = alike.groups[int(alike.group[i])]
            shape = alike.example.region.shape
            bounds = int(alike.lo[i]), int(alike.hi[i]), bool(alike.empty[i])
            region = Region(shape, group, *bounds, alike.terms[int(alike.term[i])])
            ttl = int(alike.ttl[i]) or None
            made[int(records[row])] = replace(alike.example, region=region, sql=statements.text(row), ttl=ttl)
    assert sorted([*made, *judged.left, *judged.waiting]) == list(range(len(values)))
    assert all(admission.judge(values[i]) is None for i in judged.waiting)
    return made


@settings(max_examples=examples(100), deadline=None)
@given(
    items, st.lists(comparisons, max_size=3), within, st.lists(beside, min_size=1, max_size=3),
    st.lists(constants | others, min_size=1, max_size=4), st.integers(0, 99),
)  # fmt: skip
def test_many_are_judged_as_each_alone(
    item: str, tests: list[str], option: str, besides: list[dict[str, object]], values: list[object], seed: int
) -> None:
    choose, records = random.Random(seed), []
    where = " WHERE " + " AND ".join(test + " ?" for test in tests) if tests else ""
    template = f"SELECT {item} FROM stock{where}{option}"
    for _ in range(16):
        params = [choose.choice(values) for _ in tests]
        asked: dict[str, object] = {"template": template, "params": params}
        if choose.random() < 0.4:
            asked = {"sql": template.replace("?", "%s") % tuple(map(written, params)) if tests else template}
        records.append(json.dumps(asked | choose.choice(besides), ensure_ascii=choose.random() < 0.5).encode())
    admission, alone = Admission(), Admission()
    admission.announce(CATALOG)
    alone.announce(Catalog(CATALOG.version, CATALOG.relations))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bulk_compiler, "FEW", 1)
        for record in records:
            admission.judge(record)
        for i, compiled in in_bulk(admission, records).items():
            assert compiled == alone.judge(records[i], final=True), records[i]


def test_all_forms_are_judged_in_bulk() -> None:
    admission = Admission()
    admission.announce(CATALOG)
    forms: list[dict[str, object]] = [
        {"sql": "SELECT MIN(price) FROM stock WHERE exchange = 'Ω' AND risk < %d TTL 5 SECONDS"},
        {"sql": 'SELECT MAX("Lot Size") FROM stock WHERE risk < %d', "notify": "LATEST", "ttl": 7},
        {"template": "SELECT MIN(price) FROM stock WHERE exchange = ? AND risk < ?", "deliver": "push"},
    ]
    records = []
    for i in range(20):
        for form in forms:
            filled = {"sql": str(form["sql"]) % i} if "sql" in form else {"params": ["it's", i]}
            records.append(json.dumps(form | filled).encode())
    assert sorted(in_bulk(admission, records)) == [i for i in range(60) if i % 3 < 2]
    admission.judge(records[2])
    made = in_bulk(admission, records)
    assert len(made) == 60 and all(made[i] == admission.judge(records[i]) for i in made)


def test_virtual_edges_share_what_is_known_of_a_catalog() -> None:
    one, other = Admission(), Admission()
    for admission in (one, other):
        admission.announce(CATALOG)
    assert one._compiler is other._compiler
    other.announce(Catalog())
    assert one._compiler is not other._compiler


def test_a_statement_that_nobody_has_foreseen_stops_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    admission, values = Admission(), [ASK] * 100
    admission.announce(Catalog(0, {"t": TABLE}))
    read = Compiler.compile

    def fails(self: Compiler, sql: str) -> Compiled:
        if "odd" in sql:
            raise AttributeError("a tree of another kind")
        return read(self, sql)

    monkeypatch.setattr(Compiler, "compile", fails)
    values[50] = b'{"sql":"SELECT MIN(k) FROM odd"}'
    judged = admission.judge_all(values)
    found = [admission.judge(values[i]) for i in judged.left]
    [refused] = [one for one in found if not isinstance(one, Compiled)]
    assert isinstance(refused, Refusal) and refused.code == "internal"
    assert "AttributeError: a tree of another kind" in refused.message
    assert sum(len(one.rows) for one in judged.alike) + len(found) == len(values)


def test_many_that_wait_for_one_table_are_known_by_the_first() -> None:
    admission, alone = Admission(), Admission()
    admission.announce(CATALOG)
    alone.announce(Catalog(CATALOG.version, CATALOG.relations))
    forms = ['{"sql":"SELECT MIN(k) FROM later WHERE k < %d"}', '{"sql": "SELECT MIN(later) FROM stock", "ttl": 1%d}']
    values = [(form % i).encode() for i in range(20) for form in forms]
    assert sorted(admission.judge_all(values).waiting) == list(range(40))
    assert all(alone.judge(value) is None for value in values)
    final = admission.judge_all(values, final=True)
    assert final.left == list(range(40)) and not final.waiting
    template = b'{"template":"SELECT MIN(k) FROM later WHERE k < ?","params":[%d]}'
    assert [admission.judge(template % i) for i in range(3)] == [None] * 3
    assert admission.judge(template % 4, final=True) == alone.judge(template % 4, final=True)
    admission.announce(Catalog(9, {"later": replace(TABLE, name="later")}))
    assert isinstance(admission.judge(template % 5), Compiled)


HOURLY = "SELECT MAX(high) FROM hourly WHERE symbol = 'a' AND hour"
AT_TEN = f"{HOURLY} = TIMESTAMP '2026-03-02 10:00:00'"


@pytest.mark.parametrize("sql", [f"{HOURLY} > TIMESTAMP '2026-03-02 10:00:00'", "SELECT COUNT(*) FROM company"])
def test_notify_final_beside_what_never_is_final_is_refused_as_within(sql: str) -> None:
    admission = Admission()
    admission.announce(STREAMED)
    within = admission.judge(json.dumps({"sql": f"{sql} NOTIFY FINAL"}).encode())
    beside = admission.judge(json.dumps({"sql": sql, "notify": "FINAL"}).encode())
    assert isinstance(within, Refusal) and within == beside


def test_notify_final_beside_many_is_for_those_that_are_final_one_day() -> None:
    admission = Admission()
    admission.announce(STREAMED)
    ends = ["2026-03-02 10:00:00", "9999-12-31 23:00:00"]
    sqls = [f"{HOURLY} = TIMESTAMP '{ends[n % 2]}'" for n in range(40)]
    found = in_bulk(admission, [json.dumps({"sql": sql, "notify": "FINAL"}).encode() for sql in sqls])
    assert all(one.notify.kind == "final" for one in found.values())
    assert {n % 2 for n in found} == {0}
