"""Requests with attributes beside the question, one by one and in bulk."""

from __future__ import annotations

import json

from catalog.query.compiler import Compiler
from overlay.delivery.ack import Refusal
from overlay.intake.admission import Admission
from overlay.intake.attributed_request import attributed
from overlay.intake.subscription_request import Request, read_request
from tests.catalog.chosen import CATALOG


def test_attributes_go_into_the_question() -> None:
    asked = Request(sql="SELECT id FROM offer", attributes={"age": 3, "region": "n", "other": 1}, ttl=5)
    made = attributed(asked, CATALOG)
    assert made == Request(sql="SELECT id FROM offer ATTRIBUTES (age = 3, region = 'n')", ttl=5)
    template = Request(template="SELECT id FROM offer WHERE v = ?", params=[1], attributes={"age": 3, "region": "n"})
    made = attributed(template, CATALOG)
    assert made.template == "SELECT id FROM offer WHERE v = ? ATTRIBUTES (age = ?, region = ?)"
    assert made.params == [1, 3, "n"]
    assert attributed(Request(sql="x"), CATALOG) == Request(sql="x")


def test_attributes_are_scalars() -> None:
    for wrong in (b"[]", b'{"a": [1]}', b'{"a": {"b": 1}}', b"5"):
        assert isinstance(read_request(b'{"sql": "SELECT 1", "attributes": ' + wrong + b"}"), Refusal)


def test_many_are_judged_as_one_alone() -> None:
    admission = Admission()
    admission.announce(CATALOG)
    sql = "SELECT id FROM offer WHERE v > {} ATTRIBUTES (age = {}, region = 'x')"
    values = [json.dumps({"sql": sql.format(i, i % 90)}).encode() for i in range(60)]
    for i in range(60):
        who = {"age": i, "region": f"r{i}"}
        values.append(json.dumps({"sql": f"SELECT id FROM offer WHERE v > {i}", "attributes": who}).encode())
        template = {"template": "SELECT COUNT(*) FROM offer WHERE v > ?", "params": [i], "attributes": who}
        values.append(json.dumps(template).encode())
        values.append(json.dumps({"sql": "SELECT id FROM offer", "attributes": {"age": i}}).encode())
    admission.judge(values[61])
    judged = admission.judge_all(values)
    bulk = {
        int(judged.found.records[row]): alike.terms[term]
        for alike in judged.alike
        for row, term in zip(alike.rows.tolist(), alike.term.tolist(), strict=True)
    }
    assert len(bulk) >= 120
    compiler = Compiler(CATALOG)
    for i, value in enumerate(values):
        one = admission.judge(value, final=True)
        if i >= 60 and i % 3 == 2:
            assert isinstance(one, Refusal) and i not in bulk
        else:
            assert not isinstance(one, Refusal) and hasattr(one, "region")
            assert compiler.compile(one.sql).region == one.region
            assert bulk.get(i, one.region.terms) == one.region.terms
