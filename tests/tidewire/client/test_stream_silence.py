"""Silences of a stream: said of each partition, once a batch has reached what the topic held; else nothing is said."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

import pytest

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from connectors.kafka.light import LightKafka
from connectors.kafka.record import KafkaRecord
from connectors.topics import Topics
from operators.control import EpochBegins, Progress, Silence, decode_control, encode_control
from tidewire.client.failures import NotAnswered
from tidewire.client.stream_silence import NoStream, say_silence

TOPICS = Topics()
CATALOG = apply_ddl(
    Catalog(),
    "CREATE STREAM s (ts TIMESTAMP) WITH ('topic'='trades', 'event_time'='ts', 'lateness'='1 s');"
    "CREATE TABLE t (k BIGINT PRIMARY KEY)",
    4,
)
S = CATALOG.relations["s"]
Ends = dict[str, int]


def batch(ends: Ends | None, epoch: int = 3, topic: str = "trades") -> bytes:
    return encode_control(Progress(epoch, 8, 0, "", end={} if ends is None else {topic: ends}))


class Kafka:
    """A topic of two partitions, and what stands in `batches`: before the call, and what comes poll by poll."""

    def __init__(self, before: Sequence[bytes], polls: Sequence[Sequence[bytes]] = ()) -> None:
        self.before, self.polls = self._records(before), [self._records(each) for each in polls]
        self.sent: list[tuple[str, list[tuple[bytes, bytes]]]] = []
        self.open = 0
        self.assigned = ""

    def _records(self, values: Sequence[bytes]) -> list[KafkaRecord]:
        return [KafkaRecord(TOPICS.batches, 0, i, 0, b"", value) for i, value in enumerate(values)]

    def reader(self) -> Kafka:
        self.open += 1
        return self

    def close(self) -> None:
        self.open -= 1

    def assign(self, topic: str) -> None:
        self.assigned = topic

    def end_offsets(self) -> dict[tuple[str, int], int]:
        assert self.assigned == "trades"
        return {("trades", 1): 7, ("trades", 0): 5}

    def newest(self, wanted: Callable[[KafkaRecord], bool]) -> KafkaRecord | None:
        assert self.assigned == TOPICS.batches
        return next((record for record in reversed(self.before) if wanted(record)), None)

    def poll(self) -> list[KafkaRecord]:
        return self.polls.pop(0) if self.polls else []

    def send(self, topic: str, records: list[tuple[bytes, bytes]]) -> None:
        self.sent.append((topic, records))


def said(kafka: Kafka, upto: int = 99, timeout: float = 0.05) -> list[Silence]:
    ends = say_silence(cast(LightKafka, kafka), TOPICS, S, upto, timeout)
    assert ends == {0: 5, 1: 7}
    ((topic, records),) = kafka.sent
    assert topic == TOPICS.registrations
    assert {key for key, _ in records} == {S.shard.encode()}
    silences = [decode_control(value) for _, value in records]
    return [each for each in silences if isinstance(each, Silence)]


@pytest.mark.parametrize(
    "kafka",
    [
        Kafka([batch({"0": 5, "1": 7})]),
        Kafka([batch({"0": 9, "1": 8})]),
        Kafka([batch({"0": 5, "1": 7}), batch(None), encode_control(EpochBegins(4, 0))]),
        Kafka([], [[], [batch({"0": 5, "1": 7})]]),
        Kafka([batch({"0": 4, "1": 7})], [[batch(None), batch({"0": 5, "1": 7})]]),
    ],
)
def test_it_is_said_of_each_partition_behind_what_it_held(kafka: Kafka) -> None:
    assert said(kafka, timeout=5) == [Silence("s", 0, 5, 99, epoch=3, born=4), Silence("s", 1, 7, 99, epoch=3, born=4)]
    assert kafka.open == 0


def test_the_epoch_is_that_of_the_batch_that_reached_the_end() -> None:
    kafka = Kafka([batch({"0": 4, "1": 7}, 3)], [[batch({"0": 5, "1": 7}, 6)]])
    assert {each.epoch for each in said(kafka, timeout=5)} == {6}


@pytest.mark.parametrize(
    "before",
    [
        [],
        [batch({"0": 4, "1": 7})],
        [batch({"0": 5})],
        [batch({"0": 5, "1": 7}, topic="other")],
        [batch({"0": 5, "1": 7}), batch({"0": 1, "1": 7})],
    ],
)
def test_where_no_engine_has_come_so_far_nothing_is_said(before: list[bytes]) -> None:
    """The newest batch counts: one of before may be of another topic of that name."""
    kafka = Kafka(before)
    with pytest.raises(
        NotAnswered, match=r"no engine has taken all that `trades` holds within 0\.05 s, so nothing was said"
    ):
        said(kafka)
    assert (kafka.sent, kafka.open) == ([], 0)


def test_only_a_stream_is_silent() -> None:
    kafka = Kafka([batch({"0": 5, "1": 7})])
    with pytest.raises(NoStream, match="`t` is no stream: expected one that CREATE STREAM declares") as caught:
        say_silence(cast(LightKafka, kafka), TOPICS, CATALOG.relations["t"], 99, 1)
    assert (caught.value.code, kafka.sent, kafka.open) == ("no_stream", [], 0)
