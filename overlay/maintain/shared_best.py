"""What all virtual edges of a process make alike of a batch's messages about first rows: made once, for all of them.

    records of a batch    1 2 | 3 | 4 t         t: a range without order codes, whose bounds are texts
    joined                (1 2 3)  4 t          to be applied at once: what a virtual edge does to apply one costs more
                                                than most of its messages, which few here hear
    as kernels take it    one `Record`, but of texts one for each virtual edge, which gives them labels of its own

Each virtual edge is handed the very same records by `machine/notification.py`, and by these what was made is found.
Cost: O(messages, bounds, candidates and images) for the first virtual edge, 1 us for the others.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from operator import is_
from typing import Generic, TypeVar

from operators.best_messages import BestMessages
from operators.packed import PackedBest
from operators.wire.best_pieces import joined
from overlay.maintain.list_follower import Record, stands

MOST_MESSAGES = 16_384
"""At most so many messages are joined."""
_KEPT = 8
_Made = TypeVar("_Made")


class _ByIdentity(Generic[_Made]):
    """The last things that were made, by the very objects that they were made of."""

    def __init__(self) -> None:
        self._made: deque[tuple[tuple[object, ...], _Made]] = deque(maxlen=_KEPT)

    def of(self, given: tuple[object, ...], make: Callable[[], _Made]) -> _Made:
        for known, made in list(self._made):
            if len(known) == len(given) and all(map(is_, known, given)):
                return made
        self._made.append((given, make()))
        return self._made[-1][1]


_records = _ByIdentity[Record]()
_joined = _ByIdentity[PackedBest]()


def record_of(messages: BestMessages) -> Record:
    """Return messages without texts as kernels take them."""
    return _records.of((messages,), lambda: Record(messages, stands(messages)))


def joined_runs(records: Sequence[PackedBest]) -> Iterator[PackedBest]:
    """Yield the records of a batch in order, all of whose messages are whole; neighbours of one shard as one."""
    run: list[PackedBest] = []
    for record in records:
        if run and not (_alike(run[0], record) and sum(map(len, run)) + len(record) <= MOST_MESSAGES):
            yield _run(run)
            run = []
        run.append(record)
    if run:
        yield _run(run)


def _run(run: list[PackedBest]) -> PackedBest:
    return run[0] if len(run) == 1 else _joined.of(tuple(run), lambda: joined(run))


def _alike(one: PackedBest, other: PackedBest) -> bool:
    """Whether two records may be joined."""
    mine, its = one.messages, other.messages
    return (
        (one.header.shard, one.header.topics) == (other.header.shard, other.header.topics)
        and not (mine.texts or its.texts)
        and mine.channels == its.channels
        and [*mine.images] == [*its.images]
    )
