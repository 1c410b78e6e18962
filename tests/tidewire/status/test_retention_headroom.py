from __future__ import annotations

import time

import pytest

from connectors.kafka.admin import Retention
from connectors.kafka.producer import Producer
from connectors.kafka.properties import KafkaProperties
from connectors.kafka.reader import Reader
from connectors.record import OutRecord
from connectors.topics import Topics
from tidewire.status.retention_headroom import Headroom, HeadroomRuler, in_words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(-5, "0 s"), (59.9, "59 s"), (60, "1 min"), (3_725, "1 h 2 min"), (86_460, "1 d"), (7 * 86_400, "7 d")],
)
def test_in_words(seconds: float, words: str) -> None:
    assert in_words(seconds) == words


@pytest.mark.broker
def test_the_oldest_unread_record_decides(kafka: KafkaProperties, topics: Topics) -> None:
    reader, hour = Reader(kafka), {"retention.ms": "3600000"}
    names = {name: topics.prefix + name for name in ("read", "unread", "old", "for-ever")}
    for name, topic in names.items():
        reader.admin.create_topic(topic, 2, hour if name != "for-ever" else {"retention.ms": "-1"})
    now = time.time()
    producer = Producer(kafka)
    for topic, age in (
        (names["unread"], 1_000),
        (names["unread"], 600),
        (names["old"], 3_000),
        (names["for-ever"], 9_999),
    ):
        producer.send(OutRecord(topic, 0, None, b"x"), timestamp=int((now - age) * 1000))
    producer.flush()
    ruler = HeadroomRuler(reader, now)
    everything = {names[name]: {"0": end, "1": 0} for name, end in (("read", 0), ("unread", 1), ("for-ever", 0))}
    assert ruler.least("engine", everything) == Headroom("engine", names["unread"], 3_000, 3_600)
    assert ruler.least("log", everything | {names["old"]: {}}) == Headroom("log", names["old"], 600, 3_600)
    assert ruler.least("edges", {names["for-ever"]: {}, "missing": {}}) is None
    assert reader.admin.retention([names["read"], "missing"]) == {names["read"]: Retention(3_600, False)}
    assert reader.admin.committed("nobody") == {}
