"""A scenario over the pure pipeline: one process, milliseconds a step."""

from __future__ import annotations

import datetime as dt

import msgspec

from catalog.schema.relation import Relation
from catalog.types.column_type import ColumnType, Kind
from catalog.types.value import code_of
from connectors.json.writer import encode_key, encode_row
from connectors.kafka.partitioner import home_partition
from connectors.topics import VIRTUAL_EDGES
from state.errors import UserError
from tidewire.client.delivery_reader import DeliveryReader
from tidewire.client.records import PROGRESS_KEY
from tidewire.pure_pipeline import PurePipeline
from tidewire.scenario.engine import Refusal
from tidewire.scenario.script import Json


class PureEngine:
    """`ScenarioEngine` over `PurePipeline`, of so many virtual edges."""

    def __init__(self, virtual_edges: int = VIRTUAL_EDGES) -> None:
        self._virtual_edges = virtual_edges
        self._pipeline = PurePipeline(virtual_edges)
        self._read: dict[int, int] = {}
        self._deliveries = DeliveryReader()
        self._waiting: dict[str, list[dict[str, Json]]] = {}

    def declare(self, ddl: str) -> None:
        """Apply DDL."""
        self._pipeline.apply(ddl)

    def publish(self, table: str, rows: list[dict[str, Json]]) -> None:
        """Upsert rows in order."""
        relation = self._relation(table)
        for row in rows:
            self._pipeline.append(relation.topic, encode_key(relation, row), encode_row(relation, row))
        self._pipeline.settle()

    def delete(self, table: str, keys: list[dict[str, Json]]) -> None:
        """Delete by primary key, in order."""
        relation = self._relation(table)
        for key in keys:
            self._pipeline.append(relation.topic, encode_key(relation, key), None)
        self._pipeline.settle()

    def publish_raw(self, table: str, records: list[tuple[bytes | None, bytes | None]]) -> None:
        """Write records to a table's topic, in order."""
        relation = self._relation(table)
        for key, value in records:
            self._pipeline.append(relation.topic, key, value)
        self._pipeline.settle()

    def silence(self, stream: str, upto: dt.datetime) -> None:
        """Say that a stream is silent."""
        self._pipeline.silence(self._relation(stream).name, code_of(ColumnType(Kind.TIMESTAMP), upto))
        self._pipeline.settle()

    def subscribe(self, subscription: str, sql: str) -> Refusal | None:
        """Register or replace a subscription."""
        key = subscription.encode()
        self._pipeline.append(self._pipeline.topics.subscriptions, key, msgspec.json.encode({"sql": sql}))
        self._pipeline.settle()
        self._pipeline.make_cells()
        acks = self._pipeline.logs[self._pipeline.topics.acks][home_partition(key, self._virtual_edges)]
        newest = next(msgspec.json.decode(value) for k, value in reversed(acks) if k == key and value is not None)
        return Refusal(newest["code"], newest["message"]) if newest["status"] == "refused" else None

    def unsubscribe(self, subscription: str) -> None:
        """End a subscription."""
        self._pipeline.append(self._pipeline.topics.subscriptions, subscription.encode(), None)
        self._pipeline.settle()

    def restart(self) -> None:
        """Lose everything that is in memory."""
        self._pipeline.restart()

    def deliveries(self, subscription: str) -> list[dict[str, Json]]:
        """Take the deliveries to a subscription since the last call."""
        partition = home_partition(subscription.encode(), self._virtual_edges)
        log = self._pipeline.logs[self._pipeline.topics.deliveries][partition]
        for key, value in log[self._read.get(partition, 0) :]:
            if key != PROGRESS_KEY:
                for told in self._deliveries.objects(key, value or b""):
                    self._waiting.setdefault(told["id"], []).append(told)
        self._read[partition] = len(log)
        return self._waiting.pop(subscription, [])

    def _relation(self, table: str) -> Relation:
        relation = self._pipeline.catalog.relations.get(table.lower())
        if relation is None:
            known = ", ".join(f"`{name}`" for name in self._pipeline.catalog.relations) or "none"
            raise UserError(f"no table `{table}`; the catalog has {known}")
        return relation
