from __future__ import annotations

import json
from decimal import Decimal

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from connectors.json.format import JsonFormat
from connectors.json.writer import encode_key, encode_row
from connectors.record import RawRecords
from operators.stored_rows import stored_rows
from shard.tables import Table
from tests.effort import examples
from tests.operators.watched import dumped, reopened

RELATION = apply_ddl(
    Catalog(),
    "CREATE TABLE t (k VARCHAR, n BIGINT, b BOOLEAN, d DOUBLE, p DECIMAL(5,2), w DECIMAL(30,2), at TIMESTAMP, "
    "day DATE, s VARCHAR, PRIMARY KEY (k, n))",
    0,
).relations["t"]


def held(rows: list[dict[str, object] | tuple[str, int]]) -> list[dict[str, object]]:
    """Apply upserts (rows) and deletes (keys) in order, and list what is there."""
    operator = Table(RELATION)
    keys = [encode_key(RELATION, r if isinstance(r, dict) else {"k": r[0], "n": r[1]}) for r in rows]
    values = [encode_row(RELATION, r) if isinstance(r, dict) else None for r in rows]
    numbers = np.arange(len(rows))
    records = RawRecords("t", keys, values, np.zeros(len(rows), np.int32), numbers, numbers)
    operator.apply(JsonFormat(RELATION, False).decode(records).changes)
    return list(stored_rows(RELATION, reopened(RELATION, dumped(operator)).stored))


def test_types_are_intact() -> None:
    row = {
        "k": "ä", "n": 2**62 + 1, "b": False, "d": 0.1, "p": "1.50", "w": "12345678901234567890123.45",
        "at": "2026-03-01T09:30:00.000001", "day": "2026-03-01", "s": None,
    }  # fmt: skip
    assert held([row]) == [row]
    assert json.dumps(held([row])[0])


def test_rows_without_values() -> None:
    assert held([]) == []
    assert held([{"k": "a", "n": 1}]) == [
        {**dict.fromkeys(column.name for column in RELATION.columns), "k": "a", "n": 1}
    ]


KEY = st.tuples(st.sampled_from("abc"), st.integers(0, 1))
ROW = st.tuples(KEY, st.none() | st.sampled_from(["x", "y"]), st.none() | st.decimals(-9, 9, places=2))


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(KEY | ROW, max_size=12))
def test_against_a_dictionary(changes: list[object]) -> None:
    expected: dict[tuple[str, int], tuple[object, object]] = {}
    rows: list[dict[str, object] | tuple[str, int]] = []
    for change in changes:
        match change:
            case ((str(k), int(n)), s, p):
                expected[k, n] = (s, None if p is None else str(Decimal(str(p)) + 0 if p else Decimal("0.00")))
                rows.append({"k": k, "n": n, "s": s, "p": p})
            case (str(k), int(n)):
                expected.pop((k, n), None)
                rows.append((k, n))
    found = {(row["k"], row["n"]): (row["s"], row["p"]) for row in held(rows)}
    assert found == {key: (s, None if p is None else f"{Decimal(str(p)):.2f}") for key, (s, p) in expected.items()}
