"""What is found to be a statement is what reading its record says, with the options beside it."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.intake.found_statements import FoundStatements, find_statements
from overlay.intake.subscription_request import Request, read_request
from tests.effort import examples
from tests.overlay import odd_records

fields = st.fixed_dictionaries(
    {"sql": st.text("SELECT 1'a\"\\\n\x7fé", max_size=8)},
    optional={
        "notify": st.sampled_from(["LATEST", "min change 5 %", "EVERY CHANGE", "no"]),
        "ttl": st.sampled_from([1, 60, 0, -1]),
        "deliver": st.sampled_from(["push", "records", "x"]),
        "other": st.just(1),
    },
)
values = st.one_of(
    st.text("SELECT 1'a\"\\\n\x7fé", max_size=8).map(lambda text: b'{"sql":"%s"}' % text.encode()),
    st.text("ab 1'", max_size=8).map(lambda text: b'{"sql": "%s"}' % text.encode()),
    st.tuples(fields, st.booleans()).map(lambda t: json.dumps(t[0], ensure_ascii=t[1]).encode()),
    st.lists(st.sampled_from(["a", "?"]), max_size=3).map(
        lambda params: json.dumps({"template": "T ?", "params": params}).encode()
    ),
    st.sampled_from([b"", b"{", b'{"sql":"', b'{"sql":"}', b'{"sql":""}', b'{"sql":"S","ttl":5}', b'{"SQL":"S"}']),
    st.sampled_from([b'{"sql":"%s"}' % (b"x" * 1_100), b'{"sql" :"S"}', b'{"sql":"S"} ', b'{"sql":  "S"}']),
    st.binary(max_size=12),
)


def sql_of(template: str, params: object) -> str | None:
    return None if params == ["a"] else f"{template} {params}"


def said(found: FoundStatements, i: int) -> Request:
    beside = found.options[int(found.beside[i])]
    assert beside == Request(notify=beside.notify, deliver=beside.deliver)
    ttl = int(found.ttl[i]) or None
    return Request(sql=found.statements.text(i), notify=beside.notify, ttl=ttl, deliver=beside.deliver)


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.one_of(values, odd_records.records), max_size=8))
def test_what_is_found_is_all_that_can_be_read(values: list[bytes]) -> None:
    found = find_statements(values, sql_of)
    made = {int(record): said(found, i) for i, record in enumerate(found.records.tolist())}
    assert len(made) == len(found.statements)
    for i, value in enumerate(values):
        request = read_request(value)
        if isinstance(request, Request) and request.template is not None:
            sql = sql_of(request.template, request.params)
            request = None if sql is None else Request(sql=sql)
        wanted = request if isinstance(request, Request) and len(value) <= 1_024 else None
        assert made.get(i) == wanted, value


def test_a_template_nobody_knows_is_left() -> None:
    assert not len(find_statements([b'{"template":"T ?","params":[1]}']).statements)
