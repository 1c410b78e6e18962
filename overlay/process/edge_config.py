"""What an edge process needs to know."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from connectors.http.rules import HttpRules
from connectors.kafka.properties import KafkaProperties
from connectors.topics import Topics
from overlay.process.compaction_policy import FLOOR_BYTES
from overlay.process.ownership import edge_group


@dataclass(frozen=True, slots=True)
class EdgeConfig:
    """Settings of one edge process.

    Args:
        kafka: the cluster.
        topics: the names under the prefix.
        http_host: where to listen for HTTP.
        http_port: 0 takes a free one.
        session_seconds: after how long without a sign of life its virtual edges move to others.
        rules: who may ask for what over HTTP, limits, and the address that is advertised.
        processes: how the processes of its stack are, if it belongs to one; told by `/health`.
        snapshot_floor: bytes of `edge-state` of a virtual edge below which no snapshot is written.
        joins_on_demand: whether edges ask for cells that subscriptions need, or refuse these.
    """

    kafka: KafkaProperties
    topics: Topics
    http_host: str = "127.0.0.1"
    http_port: int = 0
    rules: HttpRules = field(default_factory=HttpRules)
    processes: Callable[[], Sequence[Mapping[str, object]]] = tuple
    session_seconds: float = 6.0
    snapshot_floor: int = FLOOR_BYTES
    joins_on_demand: bool = True

    @property
    def group(self) -> str:
        """The consumer group of all edges of the prefix."""
        return edge_group(self.topics)
