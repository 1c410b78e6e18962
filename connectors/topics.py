"""The topics of one tidewire: their names under a prefix, how many partitions each has and what it keeps."""

from __future__ import annotations

from dataclasses import dataclass

from catalog.schema.internal_topics import DEFAULT_PREFIX

VIRTUAL_EDGES = 16
_DAY_MS = 86_400_000
VIEW_PARTITIONS = 4
"""Of the topic of a view, where it is created here."""
COMPACTED = {"cleanup.policy": "compact"}
_COMPACT_SOON = COMPACTED | {"segment.ms": str(_DAY_MS // 24), "min.cleanable.dirty.ratio": "0.1"}
"""For topics that are read whole: a key's older records are gone within hours."""
_DAYS = {"cleanup.policy": "delete", "retention.ms": str(7 * _DAY_MS)}
_FOR_EVER = {"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1"}


@dataclass(frozen=True, slots=True)
class TopicSpec:
    """A topic to create. `per_virtual_edge` topics have one partition a virtual edge, others one."""

    name: str
    per_virtual_edge: bool
    config: dict[str, str]


@dataclass(frozen=True, slots=True)
class Topics:
    """Names of the internal topics under `prefix`. Virtual edge = partition of the co-partitioned ones."""

    prefix: str = DEFAULT_PREFIX

    @property
    def subscriptions(self) -> str:
        """Key subscription id; value `{"sql": ...}`, or a tombstone to unsubscribe."""
        return self.prefix + "subscriptions"

    @property
    def catalog(self) -> str:
        """DDL texts; version = offset."""
        return self.prefix + "catalog"

    @property
    def acks(self) -> str:
        """Key subscription id; refused, accepted or live."""
        return self.prefix + "acks"

    @property
    def registrations(self) -> str:
        """Key shard; packed registrations and `withdraw` records."""
        return self.prefix + "registrations"

    @property
    def notifications(self) -> str:
        """Key shard; packed messages and snapshots, control records."""
        return self.prefix + "notifications"

    @property
    def deliveries(self) -> str:
        """Key subscription id; one JSON record a delivery, and `@progress`."""
        return self.prefix + "deliveries"

    @property
    def edge_state(self) -> str:
        """Key virtual edge; snapshots and deltas of what an edge holds."""
        return self.prefix + "edge-state"

    @property
    def batches(self) -> str:
        """Progress records with their offset vectors."""
        return self.prefix + "batches"

    @property
    def engines(self) -> str:
        """Claims of epochs, and the shards' cumulative counters."""
        return self.prefix + "engines"

    @property
    def silences(self) -> str:
        """Key stream, partition, offset; where silences of streams have counted. Kept for ever."""
        return self.prefix + "silences"

    @property
    def dead_letters(self) -> str:
        """Records that could not be decoded, with the reason."""
        return self.prefix + "dead-letters"

    def specs(self) -> list[TopicSpec]:
        """Return what to create, in no order that matters."""
        thirty_days = {"delete.retention.ms": str(30 * _DAY_MS)}
        return [
            TopicSpec(self.subscriptions, True, COMPACTED | thirty_days),
            TopicSpec(self.catalog, False, _FOR_EVER),
            TopicSpec(self.acks, True, COMPACTED | thirty_days),
            TopicSpec(self.registrations, True, _DAYS),
            TopicSpec(self.notifications, True, _DAYS),
            TopicSpec(self.deliveries, True, _DAYS),
            TopicSpec(self.edge_state, True, _FOR_EVER),
            TopicSpec(self.batches, False, _DAYS),
            TopicSpec(self.engines, False, _COMPACT_SOON),
            TopicSpec(self.silences, False, COMPACTED),
            TopicSpec(self.dead_letters, False, _DAYS),
        ]
