"""`Client`: declare, publish, subscribe and listen from Python, over nothing but Kafka.

    with Client("localhost:9092") as client:
        client.apply("CREATE TABLE stock (symbol VARCHAR PRIMARY KEY, price DECIMAL(12,2))")
        client.subscribe("cheapest", "SELECT MIN(price) FROM stock")
        client.publish("stock", [{"symbol": "ACME", "price": "10.25"}])
        for delivery in client.deliveries(["cheapest"], from_beginning=True):
            print(delivery.old, "->", delivery.new)

Everything it does can be done with any Kafka client; the topics and their records are the interface.
"""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import msgspec

from catalog.ddl.stream_statement import marked
from catalog.schema.catalog import Catalog
from catalog.schema.relation import Relation
from catalog.types.column_type import ColumnType, JsonValue, Kind
from catalog.types.value import code_of
from connectors.json.writer import encode_key, encode_row
from connectors.kafka.light import LightKafka, LightReader
from connectors.kafka.partitioner import home_partition
from connectors.kafka.properties import KafkaProperties
from connectors.kafka.record import KafkaRecord
from connectors.topics import COMPACTED, VIEW_PARTITIONS, Topics
from operators.control import Progress as EngineProgress
from operators.control import control_at
from state.errors import UserError
from tidewire.client.catalog_log import CatalogLog
from tidewire.client.delivery_stream import DeliveryStream
from tidewire.client.failures import NotAnswered
from tidewire.client.packed_deliveries import PACKED_KEY, unpack_deliveries
from tidewire.client.records import Ack, Delivery, Refused, read_ack
from tidewire.client.stream_silence import say_silence
from tidewire.client.stream_topic import refuse_compacted
from tidewire.client.subscription_record import ending_key, record_key, record_value
from tidewire.client.table_topic import partitions_of

EMBEDDED_BROKER = "127.0.0.1:19092"
_SHOWN_CHARACTERS = 80


class Client:
    """A connection to one tidewire: a Kafka address and a prefix. Use it from one thread, close it at the end."""

    def __init__(self, bootstrap: str = EMBEDDED_BROKER, prefix: str = "tw.", **kafka: object) -> None:
        """Take client properties in Kafka's own names, e.g. `**{"security.protocol": "SASL_SSL", ...}`."""
        self.topics = Topics(prefix)
        properties = {name: str(value) for name, value in kafka.items()}
        self._kafka = LightKafka(KafkaProperties(bootstrap, properties).kafka_python())
        self._catalog = CatalogLog(self._kafka, self.topics)

    def apply(
        self, ddl: str, timeout: float = 60.0, *, create_topics: bool = True, partitions: int | None = None
    ) -> int:
        """Declare or drop tables and joins; return the catalog's version once the engine has announced it.

        The text is checked against the catalog in force before it is written. Missing topics of its tables and views
        are created unless `create_topics` is False, with `partitions` partitions: 4 by default, and one where Debezium
        writes (`client/table_topic.py`); those of views are compacted. With a `timeout` of 0 nobody is waited for. A
        text that changes nothing is not written.

        Raises CatalogError, and CompactedTopic of a new stream (nothing was written), and NotAnswered (written, but no
        engine has announced it).
        """
        before, after = self._catalog.check(ddl)
        for relation in after.relations.values():
            if relation.stream is not None and relation.name not in before.relations:
                refuse_compacted(self._kafka, relation)
        if create_topics:
            for relation in after.relations.values():
                if before.relations.get(relation.name) != relation:
                    self._kafka.create_topic(relation.topic, partitions or partitions_of(relation))
            for view in after.views.values():
                if view.topic and before.views.get(view.name) != view:
                    self._kafka.create_topic(view.topic, partitions or VIEW_PARTITIONS, COMPACTED)
        same = replace(after, version=before.version) == before
        version = before.version if same else self._catalog.append(marked(ddl))
        if timeout > 0:
            self._await_version(version, timeout)
        return version

    def publish(self, table: str, rows: Iterable[Mapping[str, object]]) -> int:
        """Upsert `rows` of `table` in order and return how many, once the broker has them.

        Values as Python's own types or as the JSON of the record format. Cost: 13,000 rows/s; the command
        `tidewire publish` is ten times as fast.

        Raises UserError, naming row and column, before anything is written; NotAllWritten when the broker has
        refused a row or acknowledged none for 60 s: `rows[failure.written:]` are to be published again.
        """
        relation = self.relation(table)
        records = [(encode_key(relation, row), encode_row(relation, row)) for row in rows]
        return len(self._kafka.send(relation.topic, records))

    def delete(self, table: str, keys: Iterable[object]) -> int:
        """Delete rows of `table` by primary key: an object, or the bare value where the key is one column.

        Returns and raises as `publish` does.
        """
        relation = self.relation(table)
        records = [(encode_key(relation, key_of(relation, key)), None) for key in keys]
        return len(self._kafka.send(relation.topic, records))

    def silence(self, stream: str, upto: dt.datetime, timeout: float = 60.0) -> dict[int, int]:
        """Say that no more rows of `stream` from before `upto`, a time without a zone, will come.

        Windows close by it as by a row of that time. Returns by partition behind which offset. Raises NoStream, and
        NotAnswered when no engine has taken all that the topic holds within `timeout` seconds: then nothing was said.
        """
        when = code_of(ColumnType(Kind.TIMESTAMP), upto)
        return say_silence(self._kafka, self.topics, self.relation(stream), when, timeout)

    def subscribe(
        self,
        id: str,
        sql: str | None = None,
        *,
        template: str | None = None,
        params: Sequence[JsonValue] = (),
        notify: str | None = None,
        ttl: int | None = None,
        deliver: str | None = None,
        attributes: Mapping[str, JsonValue] | None = None,
        timeout: float = 60.0,
    ) -> Ack:
        """Register a query, or replace the one of `id`; return the acknowledgement once its answer is live.

        `notify` is a policy, such as "LATEST" or "MIN CHANGE 5 %"; after `ttl` seconds the subscription ends;
        `deliver` is "records", "packed" (many deliveries in one record: cheaper where many come) or "push" (none:
        an edge tells it over HTTP). `attributes` are what the subscriber is, to a table with an audience; they
        may stand in the SQL as well.
        Raises Refused, and NotAnswered when no edge and engine have made it live within `timeout` seconds.
        """
        value = subscription_value(
            sql, template, params, notify=notify, ttl=ttl, deliver=deliver, attributes=attributes
        )
        acks = self.subscribe_all({id: value}, timeout)
        if acks[id].status == "refused":
            raise Refused(acks[id])
        return acks[id]

    def subscribe_all(self, queries: Mapping[str, str | bytes], timeout: float = 60.0) -> dict[str, Ack]:
        """Register many queries at once; return each one's last word, `live` or `refused`."""
        values = {id: query if isinstance(query, bytes) else subscription_value(query) for id, query in queries.items()}
        records = [(record_key(id), value) for id, value in values.items()]
        reader = self._kafka.reader()
        try:
            reader.assign(self.topics.acks, at_end=True)
            written = self._kafka.send(self.topics.subscriptions, records)
            return _final_acks(reader, dict(zip(values, written, strict=True)), timeout)
        finally:
            reader.close()

    def unsubscribe(self, id: str) -> None:
        """Ask that the subscription ends, and return once the broker has it; its last delivery is `ended`.

        What does not exist is no error, so that it can be called again: `DELETE` at an edge answers 404, and the
        command `tidewire unsubscribe` fails. Raises UserError where nothing can be called `id`, and NotAllWritten.
        """
        self._kafka.send(self.topics.subscriptions, [(ending_key(id), None)])

    def deliveries(
        self,
        ids: Iterable[str] | None = None,
        *,
        follow: bool = True,
        from_beginning: bool = False,
        progress: bool = False,
    ) -> DeliveryStream:
        """Iterate over deliveries, of `ids` or of all, that are committed from this call on.

        With `from_beginning`, over all that Kafka still has; without `follow`, only up to now. With
        `progress`, `Progress` records come too: after one, silence up to its position means "no change".
        Raises UserError where nothing can be called as one of `ids` says.
        """
        keys = None if ids is None else {record_key(id) for id in ids}
        return DeliveryStream(
            self._kafka.reader(), self.topics, keys, follow=follow, from_beginning=from_beginning, progress=progress
        )

    def answer(self, id: str) -> Delivery | None:
        """Return the newest delivery of `id`, whose `new` is its answer; None if there is none.

        Of a set, bag or list it says what changed last: `HeldAnswer` puts all of it together from `deliveries`.

        Cost: reads one partition of `deliveries` backwards up to it; an edge answers `GET /subscriptions/{id}` at once.
        """
        newest = self._newest(id)
        if newest is None or "part" not in newest:
            return None if newest is None else msgspec.convert(newest, Delivery)
        with self.deliveries([id], follow=False, from_beginning=True) as stream:
            return next((found for found in reversed(list(stream)) if isinstance(found, Delivery)), None)

    def _newest(self, id: str) -> dict[str, object] | None:
        """Return the last object among the deliveries of `id`, which may be the last part of one."""
        key, reader = record_key(id), self._kafka.reader()
        try:
            partitions = reader.partitions(self.topics.deliveries)
            if not partitions:
                return None
            reader.assign(self.topics.deliveries, [home_partition(key, len(partitions))])
            found = reader.newest(lambda record: bool(_said_to(key, record)))
        finally:
            reader.close()
        return None if found is None else _said_to(key, found)[-1]

    def read(self, topic: str) -> Iterator[KafkaRecord]:
        """Yield the committed records that `topic` holds now; those of a partition in order."""
        reader = self._kafka.reader()
        try:
            reader.assign(topic)
            yield from reader.to_end()
        finally:
            reader.close()

    def catalog(self) -> Catalog:
        """Return the catalog as declared now, whether or not an engine has announced it."""
        return self._catalog.read()

    def relation(self, table: str) -> Relation:
        """Return the declaration of `table`. Raises UserError."""
        return self._catalog.relation(table)

    def close(self) -> None:
        """Flush and leave the broker."""
        self._kafka.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _await_version(self, version: int, timeout: float) -> None:
        """Wait until an engine has announced the catalog. Cost: reads the end of `batches`, however long that is."""
        reader = self._kafka.reader()
        try:
            reader.assign(self.topics.batches)
            until = time.monotonic() + timeout
            newest = reader.newest(lambda record: _announced(record) is not None)
            records = [] if newest is None else [newest]
            while not any(version <= catalog for catalog in map(_announced, records) if catalog is not None):
                if time.monotonic() >= until:
                    raise NotAnswered(
                        f"catalog version {version} is written, but no engine has announced it within {timeout:g} s. "
                        f"Start `tidewire engine` (or `tidewire up`), or wait longer with a timeout."
                    )
                records = reader.poll()
        finally:
            reader.close()


def _announced(record: KafkaRecord) -> int | None:
    """Return the catalog version that a record of `batches` announces, None if it is no progress.

    Raises ControlError for a record that no engine wrote, or a newer one.
    """
    progress = control_at(record.topic, record.partition, record.offset, record.value)
    return progress.catalog if isinstance(progress, EngineProgress) else None


def subscription_value(
    sql: str | None = None,
    template: str | None = None,
    params: Sequence[JsonValue] = (),
    *,
    notify: str | None = None,
    ttl: int | None = None,
    deliver: str | None = None,
    attributes: Mapping[str, JsonValue] | None = None,
) -> bytes:
    """Return the record value of a subscription given as SQL, or as a template with its parameters.

    Raises UserError for what JSON cannot say.
    """
    if (sql is None) == (template is None):
        raise UserError("a subscription is either SQL or a template with parameters; give exactly one of them")
    said = {"notify": notify, "ttl": ttl, "deliver": deliver, "attributes": attributes and dict(attributes)}
    asked: dict[str, object] = {"sql": sql} if sql is not None else {"template": template, "params": list(params)}
    return record_value(asked | {name: value for name, value in said.items() if value is not None})


def _said_to(key: bytes, record: KafkaRecord) -> list[dict[str, object]]:
    """Return what a record of `deliveries` says to the subscription with this key, parts as they are."""
    if record.value is None or record.key not in (key, PACKED_KEY):
        return []
    if record.key == key:
        return [msgspec.json.decode(record.value)]
    return [found for found in unpack_deliveries(record.value) if found["id"].encode() == key]


def key_of(relation: Relation, key: object) -> Mapping[str, object]:
    """Return the key as an object of the primary key's columns.

    Raises UserError for a bare value of many columns, and of a stream, of which nothing is deleted.
    """
    if relation.stream is not None:
        raise UserError(f"`{relation.name}` is a stream: its rows have no key, and none is deleted.")
    if isinstance(key, Mapping):
        return key
    if len(relation.key) != 1:
        columns = ", ".join(relation.key)
        got = repr(key)[:_SHOWN_CHARACTERS]
        raise UserError(f"a key of table `{relation.name}` has the columns {columns}; got {got}. Give an object.")
    return {relation.key[0]: key}


def _final_acks(reader: LightReader, written: dict[str, tuple[int, int]], timeout: float) -> dict[str, Ack]:
    """Wait for the last word on each record; its ack stands in the partition where it was written itself."""
    until, found, seen = time.monotonic() + timeout, dict[str, Ack](), 0
    while time.monotonic() < until and len(found) < len(written):
        for record in reader.poll():
            ack = read_ack(record.value) if record.value is not None else None
            if ack is not None and written.get(ack.id) == (record.partition, ack.version):
                seen += 1
                if ack.status != "accepted":
                    found[ack.id] = ack
    if len(found) < len(written):
        raise NotAnswered(_unanswered([id for id in written if id not in found], seen > len(found), timeout))
    return found


def _unanswered(waiting: Sequence[str], accepted: bool, timeout: float) -> str:
    who = "an edge accepted, but no engine has answered" if accepted else "no edge has answered"
    return (
        f"{len(waiting)} subscription(s), `{waiting[0]}` first, are not live after {timeout:g} s: {who}. "
        "They stay registered; see `tidewire status` for what is running."
    )
