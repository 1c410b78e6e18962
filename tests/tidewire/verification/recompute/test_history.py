"""Versions of rows as intervals, and the values that are kept where a member is absent."""

import json
from typing import Any

from tests.tidewire.verification.scratch import SCRATCH
from tidewire.verification.input.declared import Declared
from tidewire.verification.input.ordering import Sequence
from tidewire.verification.input.rows import Rows
from tidewire.verification.recompute.history import FOREVER, History, build, connect, rank_columns
from tidewire.verification.records.journal import Record

DDL = "CREATE TABLE \"odd name\" (k INTEGER PRIMARY KEY, m DECIMAL(6,2), at TIMESTAMP, r REAL) WITH ('topic'='odd')"
KEEP = DDL.replace("'odd')", "'odd', 'absent'='keep')")


def history(rows: list[dict[str, Any] | int | str], ddl: str = DDL, measures: tuple[str, ...] = ("m",)) -> History:
    [table] = Declared([Record(0, 0, 0, None, ddl.encode())], scratch=SCRATCH).at(0).values()
    sequence = Sequence(1, table)
    records = []
    for offset, row in enumerate(rows):
        key = row["k"] if isinstance(row, dict) else row
        value = json.dumps(row).encode() if isinstance(row, dict) else None
        records.append(Record(0, offset, 0, json.dumps(key).encode(), value))
    sequence.add(0, table, records)
    return build(connect(), sequence, Rows(), measures)


def versions(made: History, columns: str) -> list[tuple[Any, ...]]:
    return made.database.execute(f'SELECT __from, __to, {columns} FROM "odd name" ORDER BY 1').fetchall()


def test_a_version_holds_until_the_next_of_its_row() -> None:
    made = history([{"k": 1, "m": "1.5"}, {"k": 2}, {"k": 1, "m": 2}, "bad", 2, 2, {"k": 2, "m": "1.50"}])
    rank = rank_columns(["m"])["m"]
    assert versions(made, f"k, {rank}") == [(1, 3, 1, 1), (2, 5, 2, None), (3, FOREVER, 1, 2), (7, FOREVER, 2, 1)]
    assert made.measures["m"].shown[1:] == ["1.50", "2.00"]


def test_absent_members_keep_what_was_stored_in_this_life_of_the_row() -> None:
    rows: list[Any] = [{"k": 1, "m": 1}, {"k": 1}, {"k": 1, "m": None}, {"k": 1}, {"k": 1, "m": 2}, 1, {"k": 1}]
    kept = history(rows, KEEP)
    assert [float(m) if m is not None else None for *_, m in versions(kept, "m")] == [1, 1, None, None, 2, None]
    sent = history(rows)
    assert [m is None for *_, m in versions(sent, "m")] == [False, True, True, True, False, True]


def test_a_key_that_only_the_kafka_key_says_is_the_rows_key() -> None:
    made = history(["1"], KEEP)
    assert versions(made, "k") == []
    [table] = Declared([Record(0, 0, 0, None, KEEP.encode())]).at(0).values()
    sequence = Sequence(1, table)
    sequence.add(0, table, [Record(0, 0, 0, b"1", b"{}")])
    assert versions(build(connect(), sequence, Rows(), ("k",)), "k, __rank_0") == [(1, FOREVER, 1, 1)]


def test_values_look_as_in_a_delivery() -> None:
    rows = [{"k": 1, "at": "2026-03-01 23:59:59.99999", "r": 0.1}, {"k": 2, "at": "2026-03-01T00:00:00", "r": -0.0}]
    made = history(list(rows), measures=("at", "r"))
    assert made.measures["at"].shown[1:] == ["2026-03-01T00:00:00", "2026-03-01T23:59:59.999990"]
    assert made.measures["r"].shown[1:] == [0.0, 0.10000000149011612]
