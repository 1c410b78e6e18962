"""What each kind of data on disk is expected to do within an hour, and the topics' settings that make it show.

Kafka deletes and compacts whole segments only, and by default a segment is a day or 256 MB long. So segments are cut
every minute, and what nobody reads again is kept for ten minutes instead of seven days. What the verification reads
is kept whole: tables, deliveries, batches and the records of subscriptions.
"""

from __future__ import annotations

from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from connectors.kafka.properties import KafkaProperties
from connectors.topics import Topics

BROKER = {
    "log.segment.bytes": str(2**25),
    "log.retention.check.interval.ms": "15000",
    "log.segment.delete.delay.ms": "5000",
    "transaction.state.log.segment.bytes": str(2**22),
}
_MINUTE = {"segment.ms": "60000"}
_TEN_MINUTES = _MINUTE | {"retention.ms": "600000"}
_COMPACT = _MINUTE | {"min.cleanable.dirty.ratio": "0.1"}
_WHOLE = {"min.compaction.lag.ms": "86400000"}


def settings_of(topics: Topics) -> dict[str, dict[str, str]]:
    """Return what is set at each topic beside its defaults."""
    return {
        topics.notifications: _TEN_MINUTES,
        topics.registrations: _TEN_MINUTES,
        topics.edge_state: _MINUTE | {"segment.bytes": str(2**22)},
        topics.acks: _COMPACT,
        topics.engines: _COMPACT,
        topics.subscriptions: _WHOLE,
    }


def expectation(kind: str, topics: Topics) -> str:
    """Return what is expected of a kind: how it is bounded, or why it grows."""
    known = {
        topics.notifications: "kept for ten minutes",
        topics.registrations: "kept for ten minutes",
        topics.edge_state: "trimmed",
        topics.acks: "compacted",
        topics.engines: "compacted",
        "__consumer_offsets": "compacted",
        "__transaction_state": "compacted",
        "checkpoint": "trimmed",
        topics.catalog: "small",
        topics.dead_letters: "small",
        "__cluster_metadata": "trimmed",
        "log table": "grows: never deleted",
        "logs": "set aside at 20 MB",
        "other": "small",
    }
    return known.get(kind, "grows: kept for the verification")


def is_bounded(kind: str, topics: Topics) -> bool:
    """Whether a kind must not grow any more once the run is warm."""
    return not expectation(kind, topics).startswith("grows")


def apply_settings(kafka: KafkaProperties, topics: Topics) -> None:
    """Set them. Raises KafkaException."""
    resources = []
    for topic, settings in settings_of(topics).items():
        resource = ConfigResource(ResourceType.TOPIC, topic)
        for name, value in settings.items():
            resource.add_incremental_config(ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET))
        resources.append(resource)
    admin = AdminClient(kafka.librdkafka())
    for future in admin.incremental_alter_configs(resources).values():
        future.result(30)
