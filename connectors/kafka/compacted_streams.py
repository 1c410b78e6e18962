"""Streams whose topic is compacted: Kafka deletes of it what a later record of the same key replaces.

    trades   cleanup.policy=delete            every record is there until it is old
             cleanup.policy=compact           of 'A' 10.00, 'A' 9.00, 'A' 12.00 the last alone is left, sooner or later
             cleanup.policy=compact,delete    the same

Who reads slowly, later or again has other rows than who read in time, and nothing in the topic shows it: no hole, as
where records were trimmed, and no tombstone. So MIN of the day would be 12.00, and final.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set

from catalog.schema.relation import Relation

Compacted = Callable[[list[str]], Set[str]]
"""Tells which of some topics are compacted, such as `Admin.compacted`."""


def compacted_streams(compacted: Compacted, relations: Iterable[Relation]) -> list[Relation]:
    """Return the streams among `relations` whose topics are compacted.

    *Cost*: that of asking once of all topics, where there is a stream.
    """
    streams = [relation for relation in relations if relation.stream is not None]
    found = compacted([relation.topic for relation in streams]) if streams else frozenset()
    return [relation for relation in streams if relation.topic in found]


def loss_and_remedy(stream: Relation) -> tuple[str, str]:
    """Return what is wrong with a stream whose topic is compacted, and what to do."""
    what = (
        f"the topic `{stream.topic}` of stream `{stream.name}` is compacted (cleanup.policy): Kafka deletes rows that "
        "a later record of the same key follows, and a stream is all of its rows"
    )
    set_policy = f"kafka-configs.sh --alter --entity-type topics --entity-name {stream.topic}"
    remedy = (
        f"Write `{set_policy} --add-config cleanup.policy=delete`, or declare the stream on another topic; what was "
        "deleted before is lost."
    )
    return what, remedy
