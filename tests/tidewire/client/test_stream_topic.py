from __future__ import annotations

from typing import cast

import pytest

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from connectors.kafka.failure import KafkaFailure
from connectors.kafka.light import LightKafka
from tidewire.client.stream_topic import CompactedTopic, refuse_compacted

STREAM = apply_ddl(
    Catalog(), "CREATE STREAM s (ts TIMESTAMP) WITH ('topic'='trades', 'event_time'='ts', 'lateness'='1 s')", 0
).relations["s"]


class Policies:
    """A client that is answered so."""

    def __init__(self, answer: bool | KafkaFailure) -> None:
        self.answer = answer

    def is_compacted(self, topic: str) -> bool:
        assert topic == "trades"
        if isinstance(self.answer, KafkaFailure):
            raise self.answer
        return self.answer


def test_a_compacted_topic_is_refused_with_what_to_do() -> None:
    with pytest.raises(CompactedTopic, match=r"`trades` of stream `s` is compacted .* cleanup.policy=delete"):
        refuse_compacted(cast(LightKafka, Policies(True)), STREAM)


@pytest.mark.parametrize("answer", [False, KafkaFailure("not allowed to ask")])
def test_any_other_is_taken(answer: bool | KafkaFailure) -> None:
    refuse_compacted(cast(LightKafka, Policies(answer)), STREAM)
