"""A real database and a real connector: what Debezium publishes of PostgreSQL is what tables of ours become.

Skipped where PostgreSQL is not installed. Debezium's jars are fetched as the broker's (tests/stack/connect_jars.toml).
One worker with all sources of this module is started, killed and started again while their tables change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

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
from tests.stack.connector import Connector, Source
from tests.stack.items import INLINE, LAST, MADE, OURS, UNITS, Items, truth
from tests.stack.live_stack import eventually
from tests.stack.postgres import Postgres

pytestmark = [pytest.mark.cdc, pytest.mark.timeout(900)]


@dataclass(frozen=True)
class Case:
    """How a connector is set, and what our table says of it."""

    name: str
    schema: bool = False
    options: str = UNITS
    identity: str = "DEFAULT"
    more: Mapping[str, str] = field(default_factory=dict)

    @property
    def table(self) -> str:
        return f"item_{self.name}"

    @property
    def topic(self) -> str:
        return f"shop{self.name}.public.{self.table}"

    def source(self) -> Source:
        return Source(f"shop{self.name}", f"public.{self.table}", self.schema, self.more)


CASES = [
    Case("plain"),
    Case("inline", True, INLINE, more={"provide.transaction.metadata": "true"}),
    Case("full", True, INLINE, "FULL", {"decimal.handling.mode": "string", "time.precision.mode": "connect"}),
    Case(
        "other", False, UNITS.replace("base64", "number") + ", 'placeholder'='?'",
        more={"decimal.handling.mode": "double", "unavailable.value.placeholder": "?"},
    ),
]  # fmt: skip


LATE, OLD, RENAMED = "odd_late", "odd_old", "odd_renamed"
ODD = Source("shopodd", r"public\\.odd_.*", True, {"publication.autocreate.mode": "all_tables"})
VALUES = """CREATE TABLE odd_values (id bigint PRIMARY KEY, price numeric(8,2), n numeric, tags text[], doc text);
  ALTER TABLE odd_values ALTER tags SET STORAGE EXTERNAL"""
OUR_VALUES = """CREATE TABLE odd_values (id BIGINT PRIMARY KEY, price DECIMAL(8,2), n DECIMAL(20,4), doc VARCHAR)
  WITH ('topic'='shopodd.public.odd_values', 'format'='debezium-json', 'schema'='inline')"""


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


@pytest.fixture(scope="module")
def changed(database: Postgres, cluster: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the changes of all cases' tables are published: a snapshot, a stream, and what came while it was dead."""
    sources = [*(case.source() for case in CASES), ODD]
    connector = Connector(tmp_path_factory.mktemp("connect"), database, cluster, sources)
    writers = {case.table: Items(7, case.table, range(12)) for case in CASES} | {OLD: Items(8, OLD, range(12))}

    def change(many: int) -> None:
        for writer in writers.values():
            database.sql(";\n".join(writer.next() for _ in range(many)))

    database.sql(MADE.format(OLD), VALUES)
    for case in CASES:
        database.sql(MADE.format(case.table), f"ALTER TABLE {case.table} REPLICA IDENTITY {case.identity}")
    try:
        change(20)
        connector.start()
        database.sql(MADE.format(LATE), f"ALTER TABLE {OLD} RENAME TO {RENAMED}", f"TRUNCATE {RENAMED}")
        del writers[OLD]
        writers |= {LATE: Items(9, LATE, range(12)), RENAMED: Items(10, RENAMED, range(12))}
        change_values(database)
        change(60)
        connector.kill()
        change(40)
        connector.start()
        change(30)
        database.sql(*(f"INSERT INTO {table} VALUES (99, '{LAST}')" for table in writers))
        yield cluster
    finally:
        connector.kill()


def change_values(database: Postgres) -> None:
    """NaN, numbers of any scale, and an array that is large and does not change."""
    database.sql(
        "INSERT INTO odd_values VALUES (1, 'NaN', 'NaN', array_fill('tag'::text, ARRAY[2000]), 'x')",
        "INSERT INTO odd_values VALUES (2, 1.5, 12.3456, ARRAY['a', NULL], NULL), (3, -0.01, -7e3, NULL, '')",
        "UPDATE odd_values SET doc = 'y' WHERE id = 1",
        "SELECT pg_logical_emit_message(true, 'prefix', 'content')",
        f"INSERT INTO odd_values VALUES (4, 0, 0, '{{}}', '{LAST}')",
    )


def captured(bootstrap: str, topic: str, last: bytes = LAST.encode()) -> RawRecords:
    """Return what a topic holds when the last row has come, as a shard takes it."""

    def read() -> list[KafkaRecord] | None:
        try:
            found = list(Reader(KafkaProperties(bootstrap)).read_to_end(topic))
        except TopicUnknown:
            return None
        return found if any(last in (record.value or b"") for record in found) else None

    found = eventually(read, f"the last row in {topic}", 120)
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
    opened = ShardState.open(relation, spec.shard, state)
    assert opened.counters.dead == 0, [letter.message for letter in format_of(relation, True).decode(records).dead]
    rows = opened.operator.stored
    return sorted(
        [shown(column.type, value) for column, value in zip(relation.columns, rows.image(i), strict=True)]
        for i in range(len(rows))
    )


def shown(type_: ColumnType, value: int | str | None) -> JsonValue:
    return value if value is None or isinstance(value, str) else json_of_code(type_, value)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_rows_are_those_of_the_database(database: Postgres, changed: str, case: Case) -> None:
    records = captured(changed, case.topic)
    expected = truth(database, case.table)
    if case.more.get("time.precision.mode") == "connect":
        expected = [[*row[:6], *map(in_millis, row[6:8]), *row[8:]] for row in expected]
    for cuts in (1, 7, len(records)):
        assert rows_of(OURS.format(table=case.table, topic=case.topic, options=case.options), records, cuts) == expected


def in_millis(at: JsonValue) -> JsonValue:
    return at[:23].ljust(26, "0").removesuffix(".000000") if isinstance(at, str) and "." in at else at


@pytest.mark.parametrize("table", [LATE, RENAMED])
def test_tables_that_the_connector_did_not_know_have_no_keys(database: Postgres, changed: str, table: str) -> None:
    topic = f"{ODD.name}.public.{table}"
    records = captured(changed, topic)
    assert set(records.keys) == {None}
    assert any(b'"op":"t"' in (value or b"") for value in records.values)
    for cuts in (1, 7, len(records)):
        found = rows_of(OURS.format(table=table, topic=topic, options=INLINE), records, cuts)
        assert found == truth(database, table)


def test_values_that_a_connector_makes_up(changed: str) -> None:
    records = captured(changed, "shopodd.public.odd_values")
    assert any(b'"tags":["__debezium_unavailable_value"]' in (value or b"") for value in records.values)
    assert rows_of(OUR_VALUES, records, 2) == [
        [1, None, None, "y"], [2, "1.50", "12.3456", None], [3, "-0.01", "-7000.0000", ""], [4, "0.00", "0.0000", LAST],
    ]  # fmt: skip


@pytest.mark.parametrize("topic", ["__debezium-heartbeat.shopinline", "shopinline.transaction", "shopinline.message"])
def test_what_is_no_change_is_ignored_and_counted(changed: str, topic: str) -> None:
    records = captured(changed, topic, b"")
    (relation,) = apply_ddl(Catalog(), OUR_VALUES, 0).relations.values()
    decoded = format_of(relation, keyless=True).decode(records)
    assert decoded.ignored == len(records) > 0 and not decoded.dead
