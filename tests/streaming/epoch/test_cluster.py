"""What the engine asks of Kafka is what those have who answer it."""

from __future__ import annotations

import inspect

import pytest

from streaming.epoch.cluster import Cluster
from streaming.epoch.kafka_cluster import KafkaCluster

METHODS = sorted(name for name, value in vars(Cluster).items() if inspect.isfunction(value) and name[0] != "_")


@pytest.mark.parametrize("method", METHODS)
def test_kafka_is_asked_as_the_engine_asks(method: str) -> None:
    wanted, found = (inspect.signature(getattr(kind, method)) for kind in (Cluster, KafkaCluster))
    assert [(p.name, p.kind, p.default) for p in found.parameters.values()] == [
        (p.name, p.kind, p.default) for p in wanted.parameters.values()
    ]
    assert found.return_annotation == wanted.return_annotation
