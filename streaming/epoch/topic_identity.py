"""Topic identity: a topic that was deleted and created again is another topic, whatever its name says.

Spark goes on reading it from the middle, in silence, even with `failOnDataLoss` (measured). So the engine stores the
id of each topic when it first sees it and compares at start and before each progress record.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from state.errors import UserError


class TopicRecreatedError(UserError):
    """A topic is not the one that the checkpoint has read."""

    code = "topic_recreated"


class TopicDeletedError(UserError):
    """A topic that the checkpoint has read is gone while its table is declared."""

    code = "topic_deleted"


def compare_ids(known: Mapping[str, str], found: Mapping[str, str], tables: Mapping[str, str]) -> dict[str, str]:
    """Return the ids to remember from now on: those known, and those of topics that are seen for the first time.

    `tables` says which table a topic feeds; other topics are tidewire's own.

    Raises:
        TopicRecreatedError: a topic has another id than before.
    """
    for topic, number in found.items():
        if known.get(topic, number) != number:
            raise TopicRecreatedError(
                f"the topic `{topic}` was deleted and created again: its id was {known[topic]}, now it is {number}. "
                f"Going on would read it from the middle. {_remedy(topic, tables)}"
            )
    return {**known, **found}


def check_present(known: Collection[str], found: Collection[str], tables: Mapping[str, str]) -> None:
    """Raise TopicDeletedError if a topic in use has vanished (call it when it was missing twice in a row)."""
    for topic in sorted(set(known) - set(found)):
        raise TopicDeletedError(f"the topic `{topic}` was deleted while in use. {_remedy(topic, tables)}")


def _remedy(topic: str, tables: Mapping[str, str]) -> str:
    table = tables.get(topic)
    if table is None:
        return "It is one of tidewire's own: start over with another `prefix`."
    return (
        f"Either apply `DROP TABLE {table}` (and `CREATE TABLE {table} …` again, to read the topic from its "
        "beginning) and start the engine again, or start it with a new checkpoint and `--take-over`."
    )
