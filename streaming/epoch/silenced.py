"""Where silences of streams have counted in earlier epochs (`operators/silenced.py`), from the topic that keeps it."""

from __future__ import annotations

from connectors.topics import Topics
from operators.silenced import Silenced, by_stream
from streaming.epoch.cluster import Cluster


def silenced(cluster: Cluster, topics: Topics, end: int) -> dict[str, tuple[Silenced, ...]]:
    """Return what stands before offset `end` of the topic `silences`, by stream.

    Raises StateError if a record there is none of those that shards write. Cost: O(records), 1 us each.
    """
    records = cluster.read(topics.silences, 0, end) if end else ()
    return by_stream((f"`{topics.silences}` [0] offset {record.offset}", record.value) for record in records)
