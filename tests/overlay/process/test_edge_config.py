from __future__ import annotations

import dataclasses

import pytest

from connectors.kafka.properties import KafkaProperties
from connectors.topics import Topics
from overlay.process.edge_config import EdgeConfig
from overlay.process.ownership import edge_group

KAFKA = KafkaProperties("localhost:9092")


def test_all_edges_of_a_prefix_are_one_group_and_those_of_another_are_not() -> None:
    one, same, other = (EdgeConfig(KAFKA, Topics(prefix), http_port=port) for prefix, port in
                        (("a.", 1), ("a.", 2), ("b.", 1)))  # fmt: skip
    assert one.group == same.group == edge_group(Topics("a.")) != other.group


def test_an_edge_of_which_nothing_is_said_listens_on_this_machine_alone() -> None:
    config = EdgeConfig(KAFKA, Topics())
    assert (config.http_host, config.http_port, list(config.processes())) == ("127.0.0.1", 0, [])
    assert config.joins_on_demand
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.http_port = 80  # type: ignore[misc]
