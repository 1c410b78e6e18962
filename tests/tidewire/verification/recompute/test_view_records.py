"""What a view's topic must say: how rows were before and behind each record of the input."""

from __future__ import annotations

import datetime as dt
import json
import random
from decimal import Decimal
from typing import Any

import pytest

from tests.effort import examples
from tests.tidewire.verification.recompute.drawn_versions import MOMENTS, drawn_versions, held
from tests.tidewire.verification.scratch import SCRATCH
from tidewire.verification.input.column import Column
from tidewire.verification.input.declared import Declared, Table
from tidewire.verification.input.declared_views import View
from tidewire.verification.recompute.history import FOREVER
from tidewire.verification.recompute.version import Version
from tidewire.verification.recompute.view_records import Change, ViewRecords, key_text, written_value
from tidewire.verification.records.journal import Record

ID, G, PRICE = Column("id", "INTEGER", False), Column("g", "VARCHAR", True), Column("price", "DECIMAL(6,2)", True)


def view(*columns: Column, key: tuple[str, ...]) -> View:
    return View("low", columns, key, (), (), (), "", 3)


def table(ddl: str) -> Table:
    return next(iter(Declared([Record(0, 0, 0, None, ddl.encode())], scratch=SCRATCH).at(0).values()))


def test_each_change_of_each_key() -> None:
    choose = random.Random(11)
    of = view(ID, G, PRICE, key=("id",))
    for _ in range(examples(800)):
        versions = drawn_versions(choose, [["u", None], [Decimal("5.0"), Decimal("4.25"), None]])
        records = ViewRecords(of, None, versions)
        expected = []
        states = [{one.key[0]: shown(one.row) for one in held(versions, seq)} for seq in MOMENTS]
        for seq in MOMENTS[1:]:
            before, now = states[seq - 1], states[seq]
            expected += [
                Change(seq, f'{{"id": {id}}}', now.get(id)) for id in range(4) if before.get(id) != now.get(id)
            ]
        assert records.changes("low/0") == sorted(expected, key=lambda change: change[:2])
        for seq in MOMENTS:
            assert records.at("low/0", seq) == {f'{{"id": {id}}}': row for id, row in states[seq].items()}


def shown(row: tuple[Any, ...]) -> dict[str, Any]:
    return {"id": row[0], "g": row[1], "price": None if row[2] is None else f"{row[2]:.2f}"}


def test_what_is_there_before_any_record_is_no_change() -> None:
    records = ViewRecords(view(ID, key=()), None, [Version(0, 4, (), (0,)), Version(4, FOREVER, (), (1,))])
    assert records.changes("low/0") == [Change(4, "{}", {"id": 1})]
    assert records.at("low/0", 0) == {"{}": {"id": 0}} and records.shards == ["low/0"]


def test_rows_are_in_the_bucket_of_the_table() -> None:
    of = table("CREATE TABLE t (id INTEGER, day DATE, PRIMARY KEY (id, day)) WITH ('buckets'='4', 'bucket.by'='id')")
    rows = [(id, dt.date(2026, 3, 1)) for id in range(30)]
    records = ViewRecords(
        view(ID, Column("day", "DATE", False), key=("id", "day")), of, [Version(1, 2, row, row) for row in rows]
    )
    assert records.shards == ["low/0", "low/1", "low/2", "low/3"]
    found = {shard: {change.row["id"] for change in records.changes(shard) if change.row} for shard in records.shards}
    assert sum(map(len, found.values())) == 30 and set().union(*found.values()) == set(range(30))
    assert records.changes("low/9") == [] and records.at("low/9", 1) == {}


def test_a_key_has_one_text_whatever_its_order() -> None:
    assert key_text({"b": 1, "a": None}) == key_text({"a": None, "b": 1}) != key_text({"a": None, "b": "1"})
    records = ViewRecords(view(G, ID, key=("id", "g")), None, [])
    assert records.key_of({"g": "u", "id": 7}) == json.dumps({"g": "u", "id": 7})


@pytest.mark.parametrize(
    ("type", "value", "written"),
    [
        ("DECIMAL(6,2)", Decimal("1.5"), "1.50"), ("DECIMAL(38,0)", 7, "7"),
        ("DECIMAL(38,3)", Decimal("-1E+2"), "-100.000"),
        ("DOUBLE", 1, 1.0), ("FLOAT", -0.0, 0.0), ("HUGEINT", 2**80, 2**80), ("BOOLEAN", True, True),
        ("VARCHAR", "1", "1"),
        ("DATE", dt.date(2026, 3, 1), "2026-03-01"), ("TIMESTAMP", dt.datetime(2026, 3, 1), "2026-03-01T00:00:00"),
        ("TIMESTAMP", dt.datetime(2026, 3, 1, 0, 0, 0, 500), "2026-03-01T00:00:00.000500"),
        ("DECIMAL(6,2)", None, None),
    ],
)  # fmt: skip
def test_how_values_are_written(type: str, value: Any, written: Any) -> None:
    made = written_value(Column("c", type, True), value)
    assert json.dumps(made) == json.dumps(written)
