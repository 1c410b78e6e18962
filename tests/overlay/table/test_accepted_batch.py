"""Subscriptions that come in together are what they are one by one; what many have in common is there once."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.bulk.bulk_compiler import FEW, compile_all
from catalog.bulk.cut_statements import CutStatements
from overlay.table.accepted_batch import AcceptedBatch
from tests.catalog.sample import CATALOG, compiler
from tests.effort import examples

STOCK = CATALOG.relations["stock"]
FORMS = [
    "SELECT MIN(price) FROM stock WHERE exchange = 'x{0}' AND volume BETWEEN {1} AND {0}",
    "SELECT MIN(price) FROM stock WHERE exchange = 'x{1}' AND volume < {0} TTL {1}0",
    "SELECT COUNT(*) FROM stock WHERE symbol > 'é{0}' NOTIFY LATEST",
    "SELECT symbol FROM stock WHERE volume > {0} OR risk IS NULL",
    "SELECT symbol, price FROM stock WHERE volume > {0} ORDER BY price, symbol LIMIT 3",
]


def seen(batch: AcceptedBatch, i: int) -> dict[str, Any]:
    """Everything that is said of one subscription, whatever the places of what it shares."""
    known = {name: getattr(batch, name).get(i) for name in ("bounds", "constants", "ttl", "final_at")}
    return known | {
        "key": batch.keys[i], "version": int(batch.versions[i]), "range": (int(batch.lo[i]), int(batch.hi[i])),
        "empty": bool(batch.empty[i]), "literals": batch.literals[i], "sql": batch.sql[i],
        "shape": batch.shapes[batch.shape[i]], "group": batch.groups[batch.group[i]],
        "terms": batch.terms[batch.term[i]], "template": batch.templates[batch.template[i]],
    }  # fmt: skip


def one_by_one(statements: list[str]) -> AcceptedBatch:
    batch = AcceptedBatch([b"s%d" % i for i in range(len(statements))], range(5, 5 + len(statements)))
    for i, sql in enumerate(statements):
        batch.put_one(i, compiler().compile(sql), STOCK)
    return batch


def together(statements: list[str]) -> tuple[AcceptedBatch, int]:
    """The same, those compiled together that can be; and how many these are."""
    raw = [sql.encode() for sql in statements]
    ends = np.cumsum([len(each) for each in raw], dtype=np.int64)
    starts = ends - [len(each) for each in raw]
    cut = CutStatements.of(np.frombuffer(b"".join(raw), np.uint8), starts, ends)
    batch, many = AcceptedBatch([b"s%d" % i for i in range(len(raw))], range(5, 5 + len(raw))), set[int]()
    for alike in compile_all(compiler(), cut):
        batch.put_alike(alike.rows, alike, STOCK, cut)
        many.update(alike.rows.tolist())
    for i in sorted(set(range(len(raw))) - many):
        batch.put_one(i, compiler().compile(statements[i]), STOCK)
    return batch, len(many)


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.tuples(st.sampled_from(FORMS), st.integers(0, 3), st.integers(1, 2)), min_size=1, max_size=2))
def test_many_are_what_they_are_one_by_one(drawn: list[tuple[str, int, int]]) -> None:
    statements = [form.format((low + i) % 5, high) for form, low, high in drawn for i in range(FEW)]
    alone, (many, count) = one_by_one(statements), together(statements)
    assert count > 0
    assert len(many) == len(alone) == len(statements)
    assert [seen(many, i) for i in range(len(statements))] == [seen(alone, i) for i in range(len(statements))]


def test_what_they_have_in_common_is_there_once() -> None:
    statements = [form.format(i % 3, 1) for form in FORMS for i in range(6)]
    for batch in (one_by_one(statements), together(statements)[0]):
        assert len(set(batch.shapes)) == len(batch.shapes) == 4
        assert len(set(batch.groups)) == len(batch.groups)
        assert len(set(batch.terms)) == len(batch.terms)
        assert len(set(batch.templates)) == len(batch.templates) == len(FORMS)


def test_bounds_that_are_bytes_stand_apart_and_a_statement_is_json() -> None:
    statements = ["SELECT COUNT(*) FROM stock WHERE symbol BETWEEN 'a\"' AND 'b'", FORMS[1].format(3, 1)]
    batch = one_by_one(statements)
    assert set(batch.bounds) == {0}
    assert (int(batch.lo[0]), int(batch.hi[0]), int(batch.hi[1])) == (0, 0, 2)
    assert [json.loads(sql) for sql in batch.sql] == statements


def test_a_certainty_tells_terms_apart() -> None:
    batch = AcceptedBatch([b"a", b"b", b"c"], [1, 2, 3])
    compiled = compiler().compile("SELECT MIN(price) FROM stock")
    for i, certainty in enumerate(["", "never", ""]):
        batch.put_one(i, compiled, STOCK, certainty)
    assert batch.term.tolist() == [0, 1, 0]
