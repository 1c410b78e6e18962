"""What Debezium publishes of PostgreSQL's ranges, as it was captured: read exactly, and judged by `verify`.

`debezium_ranges.jsonl` has what Debezium 3.6.1 wrote of two tables of PostgreSQL 15 to which the same was done: a
snapshot, inserts, updates, a changed key, a delete. `plain`: pairs of key and value without schemas, REPLICA IDENTITY
DEFAULT. `inline`: payloads of pairs whose schemas are `key_schema` and `value_schema`, REPLICA IDENTITY FULL. `row`:
what PostgreSQL held in the end.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.tidewire.verification.test_against_the_chain import EDGES, Judged
from tidewire.verification.records.journal import TopicLog
from tidewire.verification.verify import verify

CAPTURED = [json.loads(line) for line in Path(__file__).with_name("debezium_ranges.jsonl").read_text().splitlines()]
TABLE = """CREATE TABLE t (id BIGINT PRIMARY KEY, ages INT4RANGE, codes INT8RANGE, price NUMRANGE(12,3), days DATERANGE,
  valid TSRANGE) WITH ('format'='debezium-json'{})"""
REFUSED = {8, 9}
"""Rows that no column of ours can hold: `infinity`, and a year before 1."""
QUESTIONS = {
    "all": "SELECT * FROM t",
    "seven": "SELECT id FROM t WHERE codes @> 7 NOTIFY TRANSITIONS",
    "days": "SELECT id, lower(days), upper(days) FROM t WHERE days && '[2026-03-01,2026-03-04]'",
    "evening": "SELECT COUNT(*) FROM t WHERE valid @> TIMESTAMP '2026-12-24 19:00:00' OR valid = '(,)'",
    "cheap": "SELECT id FROM t WHERE price <@ '[1,2.25]' OR isempty(price)",
    "bounds": "SELECT MIN(lower(valid)), MAX(upper(codes)) FROM t",
}


def captured(form: str) -> list[tuple[bytes, bytes | None]]:
    pairs: list[Any] = [line[form] for line in CAPTURED if form in line]
    if form == "inline":
        schemas = [next(line[name] for line in CAPTURED if name in line) for name in ("key_schema", "value_schema")]
        pairs = [[_with_schema(*part) for part in zip(schemas, pair, strict=True)] for pair in pairs]
    return [(key.encode(), None if value is None else value.encode()) for key, value in pairs]


def _with_schema(schema: str, payload: str | None) -> str | None:
    return None if payload is None else f'{{"schema":{schema},"payload":{payload}}}'


@pytest.mark.parametrize(("form", "at_once"), [("plain", 1), ("inline", 6), ("plain", 20)])
def test_ranges_are_those_of_the_database(form: str, at_once: int) -> None:
    chain = Judged(virtual_edges=EDGES)
    options = ", 'schema'='inline'" if form == "inline" else ""
    chain.apply(TABLE.format(options))
    for id, sql in QUESTIONS.items():
        chain.append(chain.topics.subscriptions, id.encode(), json.dumps({"sql": sql}).encode())
    for number, (key, value) in enumerate(captured(form), 1):
        chain.append("t", key, value)
        if number % at_once == 0:
            chain.settle()
    chain.settle()
    journal = chain.journal()
    journal.relations["t"] = TopicLog.of("t", chain.log("t", 1).all(), 1)
    report = verify(journal)
    assert report.clean and report.unjudged == 0, report.faults
    assert len(chain.logs[chain.topics.dead_letters][0]) == len(REFUSED)
    rows = [line["row"] for line in CAPTURED if "row" in line and line["row"][0] not in REFUSED]
    assert held(chain) == [[*row[:3], at_scale(row[3]), *row[4:]] for row in rows]


def held(chain: Judged) -> list[list[Any]]:
    """What who asks for all rows has been told of."""
    rows: list[list[Any]] = []
    for key, value in (pair for part in chain.logs[chain.topics.deliveries].values() for pair in part):
        if key == b"all" and value is not None:
            told = json.loads(value)
            for row in told.get("removed", []):
                rows.remove(row)
            rows += told.get("added", told.get("rows", []))
    return sorted(rows)


def at_scale(text: str | None) -> str | None:
    """A range of numbers as it is written at the column's scale, which PostgreSQL's column has none of."""
    return text if text is None else re.sub(r"-?[0-9]+(\.[0-9]+)?", lambda bound: f"{Decimal(bound[0]):.3f}", text)
