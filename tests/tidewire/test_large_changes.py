"""A change of more rows than may be told at once: a live bag is told all of it, in parts, and goes on."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from operators.answer_quota import AnswerQuota
from shard.bounds import Bounds
from tests.tidewire.test_chain_interrupted import journal
from tidewire.client.delivery_reader import DeliveryReader
from tidewire.client.held_answer import HeldAnswer
from tidewire.client.records import Delivery
from tidewire.pure_pipeline import PurePipeline
from tidewire.verification.compare.quota import RowQuota
from tidewire.verification.verify import verify

DDL = "CREATE TABLE doc (id BIGINT PRIMARY KEY, body VARCHAR) WITH ('format'='debezium-json')"
ROWS, MOST = 120, 10
LONG = 20_000


class Source:
    """A chain whose table Debezium feeds; `write` makes one record, `settle` lets it be told."""

    def __init__(self) -> None:
        self.chain = PurePipeline(1, bounds=Bounds(whole=AnswerQuota(rows=MOST)))
        self.chain.apply(DDL)
        self._lsn = 0

    def write(self, op: str, id: int | None, before: Any, after: Any) -> None:
        self._lsn += 1
        record = {"op": op, "before": before, "after": after, "source": {"lsn": self._lsn}}
        key = None if id is None else msgspec.json.encode({"id": id})
        self.chain.append("doc", key, msgspec.json.encode(record))

    def fill(self) -> None:
        for id in range(ROWS):
            self.write("c", id, None, {"id": id, "body": chr(97 + id % 26) * LONG})
        self.chain.settle()

    def ask(self, name: str, sql: str) -> None:
        self.chain.append(self.chain.topics.subscriptions, name.encode(), msgspec.json.encode({"sql": sql}))
        self.chain.settle()

    def told(self, name: str) -> list[Delivery]:
        reader = DeliveryReader()
        log = self.chain.logs[self.chain.topics.deliveries][0]
        found = [one for key, value in log for one in reader.read(key, value or b"")]
        return [one for one in found if isinstance(one, Delivery) and one.id == name]


@pytest.mark.parametrize("end", ["", " NOTIFY LATEST", " NOTIFY TRANSITIONS", " DELIVER PACKED"])
def test_a_live_bag_is_told_of_any_number_of_rows(end: str) -> None:
    source, names = Source(), ("all", "some")
    source.ask("all", f"SELECT id, body FROM doc{end}")
    source.ask("some", f"SELECT id, body FROM doc WHERE id <> 3 OR body IS NULL{end}")
    source.fill()
    source.write("t", None, None, None)
    source.chain.settle()
    for name in names:
        *_, gone = source.told(name)
        held = HeldAnswer()
        assert [held.take(one) for one in source.told(name)] == [True] * len(source.told(name))
        assert (gone.kind, gone.added, len(gone.removed or ())) == ("change", [], ROWS - (name == "some"))
        assert held.whole and not held.rows
    log = source.chain.logs[source.chain.topics.deliveries][0]
    assert any(b'"part":' in (value or b"") for _, value in log) or end == " DELIVER PACKED"
    assert max(len(value or b"") for _, value in log) < 1_000_000
    source.fill()
    source.ask("late", "SELECT id FROM doc")
    acks = [msgspec.json.decode(value) for _, value in source.chain.logs[source.chain.topics.acks][0] if value]
    assert acks[-1]["id"] == "late" and acks[-1]["code"] == "quota", "a whole is bounded, as it was"
    report = verify(journal(source.chain, "doc"), quota=RowQuota(rows=MOST))
    assert report.clean and report.unjudged == 0, report.faults
