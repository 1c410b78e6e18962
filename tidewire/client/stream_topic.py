"""The topic of a stream that is to be declared: one that is compacted is refused, since it loses rows."""

from __future__ import annotations

from catalog.schema.relation import Relation
from connectors.kafka.compacted_streams import loss_and_remedy
from connectors.kafka.failure import KafkaFailure
from connectors.kafka.light import LightKafka
from state.errors import UserError


class CompactedTopic(UserError):
    """A new stream is declared on a topic that is compacted."""

    code = "compacted_topic"


def refuse_compacted(kafka: LightKafka, stream: Relation) -> None:
    """Raise CompactedTopic if a stream's topic is compacted.

    Nothing is said where the topic is not there, or this user may not ask: the engine warns of it when it starts.
    *Cost*: a connection, 20 ms.
    """
    try:
        compacted = kafka.is_compacted(stream.topic)
    except KafkaFailure:
        return
    if compacted:
        raise CompactedTopic("{}. {}".format(*loss_and_remedy(stream)))
