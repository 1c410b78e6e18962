"""Where silences of streams have counted in earlier epochs (`operators/silenced.py`), from the topic that keeps it."""

from __future__ import annotations

import msgspec

from connectors.topics import Topics
from operators.silenced import Silenced
from state.errors import StateError
from streaming.epoch.cluster import Cluster

_DECODER = msgspec.json.Decoder(Silenced)


def silenced(cluster: Cluster, topics: Topics, end: int) -> dict[str, tuple[Silenced, ...]]:
    """Return what stands before offset `end` of the topic `silences`, by stream.

    Raises StateError if a record there is none of those that shards write. Cost: O(records), 1 us each.
    """
    found: dict[str, list[Silenced]] = {}
    for record in cluster.read(topics.silences, 0, end) if end else ():
        if record.value is not None:
            one = _read(record.value, f"`{topics.silences}` [0] offset {record.offset}")
            found.setdefault(one.stream, []).append(one)
    return {stream: tuple(ones) for stream, ones in found.items()}


def _read(value: bytes, where: str) -> Silenced:
    try:
        return _DECODER.decode(value)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise StateError(
            f"{where} is not where a silence has counted (begins with {value[:64]!r}): {error}. "
            "Find out who else writes there, or run the version of tidewire that wrote it."
        ) from error
