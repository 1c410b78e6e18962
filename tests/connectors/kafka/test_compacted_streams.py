"""Which streams lose rows because their topics are compacted, asked of a real broker by both clients."""

from __future__ import annotations

import pytest

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from connectors.kafka.admin import Admin
from connectors.kafka.compacted_streams import compacted_streams, loss_and_remedy
from connectors.kafka.light import LightKafka
from connectors.kafka.properties import KafkaProperties

POLICIES: dict[str, dict[str, str]] = {
    "compact-by-name": {"min.compaction.lag.ms": "5"},
    "compacted": {"cleanup.policy": "compact"},
    "both": {"cleanup.policy": "compact,delete"},
    "absent": {},
}


def streams(prefix: str) -> Catalog:
    options = "'event_time'='ts', 'lateness'='1 s'"
    texts = [f"CREATE STREAM \"{name}\" (ts TIMESTAMP) WITH ('topic'='{prefix}{name}', {options})" for name in POLICIES]
    return apply_ddl(Catalog(), "; ".join([*texts, "CREATE TABLE t (id INTEGER PRIMARY KEY)"]), 0)


def test_a_table_loses_nothing_by_it() -> None:
    catalog = streams("")
    (found,) = compacted_streams({"t", "both"}.intersection, catalog.relations.values())
    what, remedy = loss_and_remedy(found)
    assert "the topic `both` of stream `both` is compacted" in what
    assert "--entity-name both --add-config cleanup.policy=delete" in remedy


@pytest.mark.broker
def test_both_clients_find_the_same(kafka: KafkaProperties, prefix: str) -> None:
    admin, light = Admin(kafka), LightKafka(kafka.kafka_python())
    made = {prefix + name: policy for name, policy in POLICIES.items() if name != "absent"}
    for topic, policy in made.items():
        admin.create_topic(topic, config=policy)
    found = [stream.name for stream in compacted_streams(admin.compacted, streams(prefix).relations.values())]
    assert sorted(found) == ["both", "compacted"]
    names = [prefix + name for name in POLICIES]
    assert {topic for topic in names if light.is_compacted(topic)} == {prefix + name for name in found}
    assert admin.compacted([]) == set()
    light.close()
    admin.delete_topics(list(made))
