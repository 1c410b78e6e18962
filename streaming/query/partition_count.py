"""Which topics have several partitions, those of streams how many, and since which batch that is known.

A row without a key is taken only from a topic of one partition, and a stream is complete only as far as each of its
partitions is. How many there are is looked up when the query is started, and recorded with the first batch that is not
planned yet: a batch that is replayed decides as it did before. A topic that is seen to have got more partitions ends
the run, and the next one knows it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from operators.control import Offsets
from streaming.checkpoint.checkpoint import SeveralFrom, Sidecar

Several = tuple[tuple[int, frozenset[str]], ...]
"""(first batch, topics with several partitions), ascending."""
Counts = tuple[tuple[int, Mapping[str, int]], ...]
"""(first batch, how many partitions the topics of streams have), ascending."""


def with_several(offsets: Offsets) -> set[str]:
    """Return the topics of which `offsets` name several partitions."""
    return {topic for topic, partitions in offsets.items() if len(partitions) > 1}


def record_several(sidecar: Sidecar, topics: Iterable[str], counts: Mapping[str, int], first: int) -> bool:
    """Enter `topics` and `counts`, which hold from batch `first` on, into the sidecar; return whether that is news."""
    found, entries = SeveralFrom(first, sorted(topics), dict(sorted(counts.items()))), sidecar.several
    last = entries[-1] if entries else SeveralFrom(0, [])
    if (found.topics, found.counts) == (last.topics, last.counts):
        return False
    if entries and last.first == first:
        entries.pop()
    entries.append(found)
    return True


def several_from(entries: Sequence[SeveralFrom], batch: int) -> Several:
    """Return which topics have several partitions, as of the entry in force at `batch` and of all after it."""
    return tuple((entry.first, frozenset(entry.topics)) for entry in _from(entries, batch))


def counts_from(entries: Sequence[SeveralFrom], batch: int) -> Counts:
    """Return how many partitions the topics of streams have, likewise."""
    return tuple((entry.first, entry.counts) for entry in _from(entries, batch))


def several_at(several: Several, batch: int) -> frozenset[str]:
    """Return the topics that `batch` is to take for ones with several partitions."""
    return next((topics for first, topics in reversed(several) if first <= batch), frozenset())


def counts_at(counts: Counts, batch: int) -> Mapping[str, int]:
    """Return how many partitions `batch` is to take the topics of streams to have."""
    return next((known for first, known in reversed(counts) if first <= batch), {})


def _from(entries: Sequence[SeveralFrom], batch: int) -> list[SeveralFrom]:
    in_force = max((place for place, entry in enumerate(entries) if entry.first <= batch), default=0)
    return list(entries[in_force:])
