"""A real database and a real connector: what Debezium publishes of PostgreSQL is what tables of ours become.

Skipped where PostgreSQL is not installed. Debezium's jars are fetched as the broker's (tests/stack/connect_jars.toml).
"""

from __future__ import annotations

import json
import random
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from catalog.column_type import ColumnType, JsonValue
from catalog.ddl import apply_ddl
from catalog.relation import Catalog
from catalog.value import json_of_code
from connectors.kafka import KafkaProperties, KafkaRecord, Reader
from connectors.kafka_failure import TopicUnknown
from connectors.record import RawRecords
from connectors.record_format import format_of
from connectors.topics import Topics
from streaming.shard import ShardSpec, process_shard
from streaming.shard_state import ShardState
from tests.conftest import make_broker
from tests.stack.connector import Connector
from tests.stack.live_stack import LiveStack, eventually
from tests.stack.postgres import Postgres
from tidewire.client import Client
from tidewire.verification.reading import verify_kafka

pytestmark = [pytest.mark.cdc, pytest.mark.timeout(900)]

COLUMNS = """id bigint PRIMARY KEY, name text NOT NULL, doc text, price numeric(8,2), ratio double precision, f real,
  at timestamp, tz timestamptz, day date, flag boolean"""
MADE = f"CREATE TABLE {{0}} ({COLUMNS}); ALTER TABLE {{0}} ALTER doc SET STORAGE EXTERNAL"
OURS = """CREATE TABLE {table} (id BIGINT PRIMARY KEY, name VARCHAR, doc VARCHAR, price DECIMAL(8,2), ratio DOUBLE,
  f REAL, at TIMESTAMP, tz TIMESTAMP, day DATE, flag BOOLEAN)
  WITH ('topic'='{topic}', 'format'='debezium-json', {options})"""
INLINE = "'schema'='inline'"
UNITS = "'timestamp'='micros', 'column.tz'='zoned', 'date'='days', 'decimal'='base64'"
TRUTH = """SELECT json_build_array(id, name, doc, price::text, ratio, f, to_char(at, 'YYYY-MM-DD"T"HH24:MI:SS.US'),
  to_char(tz AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US'), day, flag) FROM {} ORDER BY id"""


@pytest.fixture(scope="module")
def database() -> Iterator[Postgres]:
    server = Postgres()
    try:
        server.start()
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    running = make_broker(tmp_path_factory.mktemp("broker"))
    running.start(240)
    yield running.bootstrap
    running.stop()


def random_changes(seed: int, table: str, many: int) -> list[str]:
    """Statements that change a table: every kind of change that a connector tells apart."""
    choose = random.Random(seed)
    there: set[int] = set()
    made = []
    for number in range(many):
        chance, id = choose.random(), choose.randrange(12)
        if chance < 0.03:
            made.append(f"TRUNCATE {table}")
            there.clear()
        elif chance < 0.15 and there:
            id = choose.choice(sorted(there))
            there.discard(id)
            made.append(f"DELETE FROM {table} WHERE id = {id}")
        elif chance < 0.35 and there and id not in there:
            old = choose.choice(sorted(there))
            there.symmetric_difference_update({old, id})
            made.append(f"UPDATE {table} SET id = {id} WHERE id = {old}")
        elif id in there:
            what = choose.choice(
                ["name = name || 'x'", f"price = {number}.25", "flag = NOT flag", f"doc = repeat('{number},', 2000)"]
            )
            made.append(f"UPDATE {table} SET {what} WHERE id = {id}")
        else:
            there.add(id)
            doc = choose.choice(["NULL", "''", "'short'", f"repeat('é{number}', 1500)"])
            rest = choose.choice(
                [
                    "-0.01, 0.1, 0.1, '2026-03-01 23:59:59.99999', '2026-03-01 23:59:59.5+01', '2026-03-01', true",
                    "NULL, NULL, NULL, NULL, NULL, NULL, NULL",
                    "999999.99, -1e300, 16777217, '0001-01-01', '0001-01-02 00:00:00+00', '9999-12-31', false",
                ]
            )
            made.append(f"INSERT INTO {table} VALUES ({id}, 'n{number}', {doc}, {rest})")
    return made


def captured(bootstrap: str, topic: str, many: int = 0) -> RawRecords:
    """Return what a topic holds, as a shard takes it."""

    def read() -> list[KafkaRecord] | None:
        try:
            found = list(Reader(KafkaProperties(bootstrap)).read_to_end(topic))
        except TopicUnknown:
            return None
        return found if len(found) >= many else None

    found = eventually(read, f"{many} records in {topic}", 120)
    return RawRecords(
        topic, [r.key for r in found], [r.value for r in found], np.array([r.partition for r in found], np.int32),
        np.array([r.offset for r in found], np.int64), np.array([r.timestamp for r in found], np.int64),
    )  # fmt: skip


def rows_of(ddl: str, records: RawRecords, cuts: int) -> list[list[JsonValue]]:
    """Return the rows that a shard holds after `records`, taken in so many batches."""
    catalog = apply_ddl(Catalog(), ddl, 0)
    (relation,) = catalog.relations.values()
    spec = ShardSpec(0, relation.shard, catalog, Topics(), 4)
    state: bytes | None = None
    step = max(1, len(records) // cuts)
    for batch, start in enumerate(range(0, len(records), step)):
        cut = slice(start, start + step)
        part = RawRecords(
            records.topic, records.keys[cut], records.values[cut], records.partition[cut], records.offset[cut],
            records.timestamp[cut],
        )  # fmt: skip
        state = process_shard(spec, batch, state, [part]).state
    opened = ShardState.open(relation, state)
    assert opened.counters.dead == 0, [letter.message for letter in format_of(relation, True).decode(records).dead]
    rows = opened.operator.stored
    return sorted(
        [shown(column.type, value) for column, value in zip(relation.columns, rows.image(i), strict=True)]
        for i in range(len(rows))
    )


def shown(type_: ColumnType, value: int | str | None) -> JsonValue:
    return value if value is None or isinstance(value, str) else json_of_code(type_, value)


def truth(database: Postgres, table: str) -> list[list[JsonValue]]:
    rows = [json.loads(row[0]) for row in database.sql(TRUTH.format(table))]
    for row in rows:
        for place in (6, 7):
            row[place] = row[place] and row[place].removesuffix(".000000")
        row[5] = None if row[5] is None else float(nearest_float(row[5]))
    return sorted(rows)


def nearest_float(value: float) -> float:
    return struct.unpack("<f", struct.pack("<f", value))[0]


@dataclass(frozen=True)
class Case:
    """How a connector is set, and what our table says of it."""

    name: str
    schema: bool = False
    options: str = UNITS
    identity: str = "DEFAULT"
    more: tuple[tuple[str, str], ...] = ()


CASES = [
    Case("plain"),
    Case("inline", True, INLINE, more=(("provide.transaction.metadata", "true"),)),
    Case("full", True, INLINE, "FULL", (("decimal.handling.mode", "string"), ("time.precision.mode", "connect"))),
    Case(
        "other", False, UNITS.replace("base64", "number") + ", 'placeholder'='?'",
        more=(("decimal.handling.mode", "double"), ("unavailable.value.placeholder", "?")),
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_rows_are_those_of_the_database(database: Postgres, cluster: str, tmp_path: Path, case: Case) -> None:
    table = f"item_{case.name}"
    database.sql(MADE.format(table), f"ALTER TABLE {table} REPLICA IDENTITY {case.identity}")
    changes = random_changes(7, table, 150)
    more = dict(case.more) | {"table.include.list": f"public.{table}"}
    connector = Connector(tmp_path / "c", database, cluster, f"shop{case.name}", case.schema, **more)
    topic = f"shop{case.name}.public.{table}"
    try:
        database.sql(";\n".join(changes[:20]))
        connector.start()
        database.sql(";\n".join(changes[20:80]))
        connector.kill()
        database.sql(";\n".join(changes[80:120]))
        connector.start()
        database.sql(";\n".join(changes[120:]), f"INSERT INTO {table} VALUES (99, 'last')")
        records = eventually(lambda: with_last(captured(cluster, topic)), "the last row", 120)
    finally:
        connector.kill()
    expected = truth(database, table)
    if ("time.precision.mode", "connect") in case.more:
        expected = [[*row[:6], *map(in_millis, row[6:8]), *row[8:]] for row in expected]
    for cuts in (1, 7, len(records)):
        assert rows_of(OURS.format(table=table, topic=topic, options=case.options), records, cuts) == expected


def with_last(records: RawRecords) -> RawRecords | None:
    return records if any(b'"last"' in (value or b"") for value in records.values) else None


def in_millis(at: JsonValue) -> JsonValue:
    return at[:23].ljust(26, "0").removesuffix(".000000") if isinstance(at, str) and "." in at else at


def test_a_stack_under_kills_tells_every_change_once(database: Postgres, tmp_path: Path) -> None:
    database.sql(MADE.format("live"))
    stack = LiveStack(tmp_path / "stack")
    stack.start()
    more = {"table.include.list": "public.live"}
    connector = Connector(tmp_path / "c", database, stack.kafka.bootstrap, "shoplive", False, **more)
    try:
        with Client(stack.kafka.bootstrap) as client:
            client.apply(OURS.format(table="live", topic="shoplive.public.live", options=UNITS), partitions=1)
            client.subscribe("count", "SELECT COUNT(*), MAX(price) FROM live")
            client.subscribe("doc", "SELECT MAX(doc) FROM live WHERE id < 6")
            connector.start()
            changes = random_changes(3, "live", 600)
            for part, victim in ((200, "engine"), (400, "connector"), (600, "edge-1")):
                database.sql(";\n".join(changes[part - 200 : part]))
                if victim == "connector":
                    connector.kill()
                    connector.start()
                else:
                    stack.kill(victim)
            database.sql("INSERT INTO live VALUES (99, 'last', NULL, 777777.77)")
            eventually(lambda: (a := client.answer("count")) and a.new and a.new[1] == "777777.77", "the last change")
            stack.await_all_read()
        report = verify_kafka(stack.kafka, stack.topics, 120)
        assert report.clean and report.unjudged == 0, report.faults
        assert report.dead_letters == 0
    finally:
        connector.kill()
        stack.stop()
