"""A real database and a real connector: what Debezium publishes of PostgreSQL is what tables of ours become.

Skipped where PostgreSQL is not installed. Debezium's jars are fetched as the broker's (tests/stack/connect_jars.toml).
One worker with all sources of this module is started, killed and started again while their tables change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import pytest

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from catalog.types.column_type import ColumnType, JsonValue
from catalog.types.value import json_of_code
from connectors.formats.record_format import format_of
from connectors.kafka.failure import TopicUnknown
from connectors.kafka.properties import KafkaProperties
from connectors.kafka.reader import Reader
from connectors.kafka.record import KafkaRecord
from connectors.record import RawRecords
from connectors.topics import Topics
from shard.group import alone
from shard.group_spec import GroupSpec
from shard.pipeline import process_group
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


LATE, OLD, NEW = "moved_late", "moved_old", "moved_new"
MOVED = Source("shopmoved", r"public\\.moved_.*", True, {"publication.autocreate.mode": "all_tables"})
"""Tables that come and are renamed while it runs; each name has a topic."""
ROUTED = Source(
    "shopkept", r"public\\.kept_.*", True,
    {
        "publication.autocreate.mode": "all_tables",
        "transforms": "keep",
        "transforms.keep.type": "org.apache.kafka.connect.transforms.RegexRouter",
        "transforms.keep.regex": r"shopkept\\.public\\.kept_(old|new)",
        "transforms.keep.replacement": "shopkept.public.kept",
    },
)  # fmt: skip
"""The same, and both names have one topic."""
LARGE = 50
"""The id of a row with a large text, of which something else changes when its table has been renamed."""


@pytest.fixture(scope="module")
def database() -> Iterator[Postgres]:
    server = Postgres()
    try:
        server.start()
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="module")
def changed(database: Postgres, broker: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the changes of all cases' tables are published: a snapshot, a stream, and what came while it was dead."""
    connector = Connector(tmp_path_factory.mktemp("connect"), database, broker, [case.source() for case in CASES])
    writers = [Items(7, case.table, range(12)) for case in CASES]

    def change(many: int) -> None:
        for writer in writers:
            database.sql(";\n".join(writer.next() for _ in range(many)))

    for case in CASES:
        database.sql(MADE.format(case.table), f"ALTER TABLE {case.table} REPLICA IDENTITY {case.identity}")
    try:
        change(20)
        connector.start()
        change(60)
        connector.kill()
        change(40)
        connector.start()
        change(30)
        database.sql(*(f"INSERT INTO {case.table} VALUES (99, '{LAST}')" for case in CASES))
        yield broker
    finally:
        connector.kill()


@pytest.fixture(scope="module")
def moved(database: Postgres, broker: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[list[JsonValue]]]:
    """What the table held that was renamed while its connector ran, at that moment."""
    connector = Connector(tmp_path_factory.mktemp("moved"), database, broker, [MOVED, ROUTED])
    for table in (OLD, "kept_old"):
        large = f"INSERT INTO {table} (id, name, doc) VALUES ({LARGE}, 'x', repeat('large', 4000))"
        database.sql(MADE.format(table), *written(1, table, range(12)), large)
    try:
        connector.start()
        database.sql(MADE.format(LATE), *written(2, OLD, range(12, 19)), f"INSERT INTO {OLD} VALUES (98, '{LAST}')")
        before = truth(database, OLD)
        for old, new in ((OLD, NEW), ("kept_old", "kept_new")):
            touched = f"UPDATE {new} SET name = 'touched' WHERE id = {LARGE}"
            database.sql(f"ALTER TABLE {old} RENAME TO {new}", touched, *written(3, new, range(20, 32)))
        database.sql(*written(4, LATE, range(12)))
        database.sql(*(f"INSERT INTO {table} VALUES (99, '{LAST}')" for table in (LATE, NEW, "kept_new")))
        yield before
    finally:
        connector.kill()


def written(seed: int, table: str, ids: range) -> list[str]:
    writer = Items(seed, table, ids, truncates=0)
    return [writer.next() for _ in range(40)]


def captured(bootstrap: str, topic: str) -> RawRecords:
    """Return what a topic holds when the last row has come, as a shard takes it."""

    def read() -> list[KafkaRecord] | None:
        try:
            found = list(Reader(KafkaProperties(bootstrap)).read_to_end(topic))
        except TopicUnknown:
            return None
        return found if any(LAST.encode() in (record.value or b"") for record in found) else None

    found = eventually(read, f"the last row in {topic}", 120)
    return RawRecords(
        topic, [r.key for r in found], [r.value for r in found], np.array([r.partition for r in found], np.int32),
        np.array([r.offset for r in found], np.int64), np.array([r.timestamp for r in found], np.int64),
    )  # fmt: skip


def rows_of(ddl: str, records: RawRecords, cuts: int, dead: int = 0) -> list[list[JsonValue]]:
    """Return the rows that a shard holds after `records`, taken in so many batches; `dead` of them it has refused."""
    catalog = apply_ddl(Catalog(), ddl, 0)
    (relation,) = catalog.relations.values()
    spec = GroupSpec(0, relation.shard, catalog, Topics(), 4)
    state: bytes | None = None
    step = max(1, len(records) // cuts)
    for batch, start in enumerate(range(0, len(records), step)):
        cut = slice(start, start + step)
        part = RawRecords(
            records.topic, records.keys[cut], records.values[cut], records.partition[cut], records.offset[cut],
            records.timestamp[cut],
        )  # fmt: skip
        state = process_group(spec, batch, state, [part]).state
    opened = alone(relation, spec.group, state)
    assert opened.counters.dead == dead, [letter.message for letter in format_of(relation, True).decode(records).dead]
    rows = opened.table.stored
    return sorted(
        [shown(c.type, value) for c, value in zip(relation.columns, rows.image(i), strict=True) if not c.of]
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


def moved_topic(table: str) -> str:
    return f"{MOVED.name}.public.{table}"


def ours(table: str, topic: str) -> str:
    return OURS.format(table=table, topic=topic, options=INLINE)


def test_a_table_that_is_made_while_the_connector_runs(
    database: Postgres, broker: str, moved: list[list[JsonValue]]
) -> None:
    records = captured(broker, moved_topic(LATE))
    for cuts in (1, 7, len(records)):
        assert rows_of(ours(LATE, moved_topic(LATE)), records, cuts) == truth(database, LATE)


def test_a_renamed_table_stays_as_it_was_and_its_changes_are_in_another_topic(
    database: Postgres, broker: str, moved: list[list[JsonValue]]
) -> None:
    """What the new topic lacks is in the old one, or refused: a row is never there with a value that is not its own."""
    assert rows_of(ours(OLD, moved_topic(OLD)), captured(broker, moved_topic(OLD)), 3) == moved
    since = captured(broker, moved_topic(NEW))
    expected = [row for row in truth(database, NEW) if isinstance(row[0], int) and row[0] in {*range(20, 32), 99}]
    for cuts in (1, 7):
        assert rows_of(ours(NEW, moved_topic(NEW)), since, cuts, dead=1) == expected


def test_a_renamed_table_goes_on_where_both_names_have_one_topic(
    database: Postgres, broker: str, moved: list[list[JsonValue]]
) -> None:
    topic = "shopkept.public.kept"
    records = captured(broker, topic)
    for cuts in (1, 7, len(records)):
        assert rows_of(ours("kept", topic), records, cuts) == truth(database, "kept_new")
