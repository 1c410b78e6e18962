"""The topic of a table: how many partitions it is given, and what has no certain order where it has more than one.

A key stands in one partition, so a row's own records are always in order. What Debezium publishes of other rows with it
is not: a truncate stands in one partition and empties all, and a change of a primary key is a delete of the one key and
a create of the other. Between partitions time decides, in milliseconds, and a database does more in one of them.
"""

from __future__ import annotations

from catalog.schema.relation import Relation

PARTITIONS = 4
"""Of topics whose records each say all of one row."""
_DEBEZIUM = "debezium-json"


def partitions_of(relation: Relation) -> int:
    """Return how many partitions a table's topic is created with, unless the user says."""
    return 1 if relation.format == _DEBEZIUM else PARTITIONS


def uncertain_order(relation: Relation, partitions: int) -> str | None:
    """Return what has no certain order in a topic with so many partitions, and what to do; None where all has."""
    if relation.format != _DEBEZIUM or partitions <= 1:
        return None
    return (
        f"table `{relation.name}`: its topic `{relation.topic}` has {partitions} partitions, so a truncate, or a "
        "change of a primary key, has no certain order to what happens to other rows in the same millisecond: rows may "
        "stay that the database does not have. If it is ever truncated or its keys change: DROP TABLE, delete the "
        "topic, create it with one partition, declare the table, and let the connector take a new snapshot."
    )
