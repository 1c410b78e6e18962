"""Changes of a real database while everything between it and the answers is killed: each is logged and told once.

60,000 statements, that is more than 50,000 changes, by three writers on two tables of PostgreSQL, one with a topic of
three partitions, and some dozens of subscriptions; meanwhile SIGKILL falls on the connector, the engine, its JVM, its
workers, the log query before and after a commit of its own, and the edges. A connector that was killed publishes some
changes again: they are in the topic twice, at offsets of their own, and each of these is one publication.
"""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from connectors.kafka.reader import Reader
from connectors.kafka.record import KafkaRecord
from connectors.log.publication_log import PublicationLog
from tests.stack import visits
from tests.stack.connector import Connector, Source
from tests.stack.database_writer import DatabaseWriter
from tests.stack.items import LAST, MADE, OURS, UNITS, Items, truth
from tests.stack.live_stack import PATIENCE, LiveStack, eventually
from tests.stack.postgres import Postgres
from tests.stack.stack_program import PROGRAM
from tests.stack.ways import Ways
from tidewire import cli
from tidewire.client.client import Client
from tidewire.verification.compare.report import Report
from tidewire.verification.reading import verify_kafka

pytestmark = [pytest.mark.cdc, pytest.mark.timeout(1800)]
SEED = 50
STATEMENTS = 60_000
CHANGES = 50_000
SUBSCRIPTIONS = 60
ITEM, VISIT = "shop.public.item", "shop.public.visit"
SOURCE = Source("shop", "public.item,public.visit")
WAYS = ["connector", "jvm", "logged", "edge", "connector_and_edge", "driver", "connector_twice", "unlogged", "worker"]


def questions(choose: random.Random) -> Iterator[tuple[str, str]]:
    """Yield ids and questions of every family; what concerns most rows is told at most once a batch."""
    items = ["MIN(price)", "MAX(price)", "SUM(price)", "AVG(ratio)", "SUM(f)", "COUNT(*)", "COUNT(doc)", "MAX(doc)"]
    items += ["MIN(name)", "MAX(at)", "MIN(day)", "COUNT(flag), MAX(ratio)", "DISTINCT day", "DISTINCT flag"]
    for number in range(SUBSCRIPTIONS):
        low, item = choose.randrange(200), choose.choice(items)
        if number % 3 == 0:
            yield f"every{number}", f"SELECT {item} FROM item WHERE id BETWEEN {low} AND {low + 8}"
        elif number % 3 == 1:
            where = choose.choice(
                [f"price < {low * 250}.5", "flag = true", f"name >= 'n{low}'", "ratio > 0", "id >= 0"]
            )
            form = choose.choice(["", " DELIVER PACKED"])
            yield f"latest{number}", f"SELECT {item} FROM item WHERE {where} NOTIFY LATEST{form}"
        else:
            what = choose.choice(["MIN(n)", "COUNT(*), SUM(n)", "DISTINCT note", "MAX(note)"])
            policy = choose.choice(["", "NOTIFY LATEST", "TTL 3600 SECONDS"])
            yield f"visit{number}", f"SELECT {what} FROM visit WHERE place = '{choose.choice(visits.PLACES)}' {policy}"


class Run(Ways):
    """The database, the connector, the stack, and the ways in which they are hurt."""

    def __init__(self, folder: Path, database: Postgres, stack: LiveStack) -> None:
        super().__init__(stack, random.Random(SEED))
        self.database = database
        self.connector = Connector(folder / "connect", database, stack.kafka.bootstrap, [SOURCE])
        ids = range(200)
        self.writers = [
            DatabaseWriter(database, Items(1, "item", ids[:100], 0.0002, 3_000), "item WHERE id < 100", 150, 1),
            DatabaseWriter(database, Items(2, "item", ids[100:], 0.0002, 3_000), "item WHERE id >= 100", 150, 2),
            DatabaseWriter(database, visits.Visits(3), "visit", 100, 3),
        ]
        self.shares = [int(STATEMENTS * share) for share in (0.4, 0.4, 0.2)]

    def begin(self) -> None:
        """Declare, ask and begin to write: the first rows come by the snapshot."""
        self.database.sql(MADE.format("item"), visits.MADE)
        with Client(self.stack.settings.address) as client:
            client.apply(OURS.format(table="item", topic=ITEM, options=UNITS), timeout=240, partitions=1)
            client.apply(visits.OURS.format(topic=VISIT), timeout=240, partitions=3)
            acks = client.subscribe_all(dict(questions(self.choose)) | self.ends(), timeout=240)
        assert {ack.status for ack in acks.values()} == {"live"}, acks
        for writer in self.writers:
            writer.start()
            writer.allowed = 300
        self.connector.start()

    def ends(self) -> dict[str, str]:
        """Questions whose answers say that everything has come."""
        return {
            "item-end": f"SELECT COUNT(*) FROM item WHERE name = '{LAST}'",
            "visit-end": f"SELECT COUNT(*) FROM visit WHERE place = '{LAST}'",
        }

    def logged(self) -> None:
        self.die("logged")

    def unlogged(self) -> None:
        self.die("unlogged")

    def connector_twice(self) -> None:
        self.connector_dies()
        time.sleep(self.choose.uniform(0, 3))
        self.connector_dies()

    def connector_and_edge(self) -> None:
        self.connector.kill()
        self.edge()
        self.connector.start()

    def connector_dies(self) -> None:
        self.connector.kill()
        self.connector.start()

    def die(self, point: str) -> None:
        """The engine dies, with its log's query before or after a commit that Spark has not heard of."""
        before = self.stack.child("engine")["pid"]
        folder = self.stack.directory.path
        (folder / f"die-{point}").touch()
        eventually((folder / f"died-{point}").exists, f"a commit of the log, {point}")
        self.stack.await_restart("engine", before)
        self.stack.kills += 1

    def hurt(self) -> None:
        """Let part after part of the statements flow, with one way to hurt within each."""
        for number, way in enumerate(WAYS):
            self.flow((number + self.choose.uniform(0.2, 0.8)) / len(WAYS))
            for writer, share in zip(self.writers, self.shares, strict=True):
                writer.allowed = share * (number + 1) // len(WAYS)
            began = time.monotonic()
            getattr(self, "connector_dies" if way == "connector" else way)()
            self.stack.await_ready("broker", "engine", "edge-0", "edge-1")
            print(f"{way}: {time.monotonic() - began:.1f} s, {[w.sent for w in self.writers]} sent", flush=True)

    def flow(self, part: float) -> None:
        """Return when so much of everything has been written."""
        for writer, share in zip(self.writers, self.shares, strict=True):
            writer.await_sent(int(share * part))

    def end(self) -> Report:
        """Write what is left, wait until it was heard everywhere, and judge."""
        self.flow(1)
        for writer in self.writers:
            writer.finish()
        self.database.sql(
            f"INSERT INTO item VALUES (999, '{LAST}')", *(f"INSERT INTO visit VALUES ('{LAST}', {i})" for i in range(9))
        )
        with Client(self.stack.settings.address) as client:
            for id, many in (("item-end", 1), ("visit-end", 9)):
                eventually(lambda id=id, many=many: (a := client.answer(id)) and a.new == many, f"all that {id} counts")
        self.connector.kill()
        self.stack.await_all_read()
        return verify_kafka(self.stack.kafka, self.stack.topics, PATIENCE)


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    database = Postgres()
    stack = LiveStack(tmp_path / "data", PROGRAM, log_seconds=2)
    try:
        database.start()
        stack.start()
        hurt = Run(tmp_path, database, stack)
        yield hurt
        hurt.connector.kill()
    finally:
        stack.stop()
        database.stop()


def test_every_change_is_logged_once_and_told_right(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    run.begin()
    run.hurt()
    report = run.end()
    print(report)
    assert report.clean and report.unjudged == 0, (report, report.faults)
    assert report.subscriptions == SUBSCRIPTIONS + 2 and report.right > 5_000
    assert report.dead_letters == 0
    assert run.stack.kills + run.connector.kills >= 10
    published = published_records(run.stack)
    assert sum(record.value is not None for record in published) >= CHANGES
    log = eventually(lambda: whole_log(run.stack, len(published)), "the log")
    assert Counter(logged_places(log)) == {(r.topic, r.partition, r.offset): 1 for r in published}
    assert log.size.rows == len(published) and log.newest.mark.gaps == []
    for table, expected in (("item", truth(run.database, "item")), ("visit", visits.truth(run.database))):
        for at in ([], ["--at", str(log.newest.version)]):
            assert rows_of(run.stack, capsys, table, *at) == expected, (table, at)


def published_records(stack: LiveStack) -> list[KafkaRecord]:
    """Return the records of both topics, of all partitions."""
    reader = Reader(stack.kafka)
    return [record for topic in (ITEM, VISIT) for record in reader.read_to_end(topic)]


def whole_log(stack: LiveStack, many: int) -> PublicationLog | None:
    log = PublicationLog(stack.settings.log_location)
    return log if log.size.rows >= many else None


def logged_places(log: PublicationLog) -> Iterator[tuple[str, int, int]]:
    for chunk in log.read({}, log.newest.cut):
        columns = [chunk.table.column(name).to_pylist() for name in ("topic", "partition", "offset")]
        yield from zip(*columns, strict=True)


def rows_of(stack: LiveStack, capsys: pytest.CaptureFixture[str], table: str, *at: str) -> list[list[Any]]:
    """Return what `tidewire rows` prints."""
    where = ["--data-dir", str(stack.settings.data_dir), "--bootstrap", stack.settings.address]
    capsys.readouterr()
    assert cli.run(["rows", table, *at, *where, "--json"]) == 0
    return sorted(list(json.loads(line).values()) for line in capsys.readouterr().out.splitlines())
