"""Which topics have several partitions, and since which batch that is known.

A row without a key is taken only from a topic of one partition. How many there are is looked up when the query is
started, and recorded with the first batch that is not planned yet: a batch that is replayed decides as it did before.
A topic that is seen to have got more partitions ends the run, and the next one knows it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from operators.control import Offsets
from streaming.checkpoint.checkpoint import SeveralFrom, Sidecar

Several = tuple[tuple[int, frozenset[str]], ...]
"""(first batch, topics with several partitions), ascending."""


def with_several(offsets: Offsets) -> set[str]:
    """Return the topics of which `offsets` name several partitions."""
    return {topic for topic, partitions in offsets.items() if len(partitions) > 1}


def record_several(sidecar: Sidecar, topics: Iterable[str], first: int) -> bool:
    """Enter `topics`, which hold from batch `first` on, into the sidecar; return whether that is news."""
    found, entries = sorted(topics), sidecar.several
    if found == (entries[-1].topics if entries else []):
        return False
    if entries and entries[-1].first == first:
        entries.pop()
    entries.append(SeveralFrom(first, found))
    return True


def several_from(entries: Sequence[SeveralFrom], batch: int) -> Several:
    """Return the entry in force at `batch` and all after it."""
    in_force = max((place for place, entry in enumerate(entries) if entry.first <= batch), default=0)
    return tuple((entry.first, frozenset(entry.topics)) for entry in entries[in_force:])


def several_at(several: Several, batch: int) -> frozenset[str]:
    """Return the topics that `batch` is to take for ones with several partitions."""
    return next((topics for first, topics in reversed(several) if first <= batch), frozenset())
