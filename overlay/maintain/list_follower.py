"""Pairs of a message and a list that hears it, applied many at a time: kernels move numbers of rows within lists.

    images that the lists may need   encoded once for each projection that hears       a b c d     as bytes
    rows                             found by their bytes; others are new, -2 - i      7 3 -2 -3   numbers
    kernel                           pair by pair (`maintain/list_kernels.py`)         list 3 9 -> -2 3
    numbers                          new rows that stand in a list now are entered     list 5 3

Equal bytes are the same row wherever they stand: in the record twice, in other lists, in a record before.
Cost: 0.1 us a pair, and 1 us for each different image that a projection may need of a message.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from operators.best_messages import BestMessages
from operators.reply import encode_rows
from overlay.answers.list_table import ListTable
from overlay.maintain import list_kernels as kernels
from overlay.maintain.list_kernels import BOUND_HIGH, BOUND_LOW, CAND_LOW, NONE, PLACE, ROW
from state.change_batch import I64
from state.distinct_numbers import distinct_numbers
from state.order_code import INT64_MAX, INT64_MIN

MOST_PROJECTIONS = 64
"""So many are taken at a time: a column of references has an entry for each of them and each image."""


class Pairs(NamedTuple):
    """Messages and the slots of lists that hear them, in causal order.

    lo, hi: the range of each, to compare with the x of rows.  place: of the row in its list.
    """

    message: I64
    slot: I64
    lo: I64
    hi: I64
    place: I64

    def of(self, which: Any) -> Pairs:
        """Return some of them."""
        return Pairs(*(np.ascontiguousarray(column[which]) for column in self))


class Moves(NamedTuple):
    """What pairs did to their lists: place and number of the row that was taken out, and of that put in; -1: none.

    Places of rows taken out are those of the list before, of rows put in those of the list afterwards.
    """

    out: I64
    put: I64

    @property
    def alike(self) -> Any:
        """bool[pairs]: the list is what it was."""
        return (self.out == self.put).all(axis=0)


class Record:
    """The messages of one record, as the kernels take them. `xs`: as there. It is never changed."""

    def __init__(self, messages: BestMessages, xs: I64) -> None:
        self.messages = messages
        self.xs = xs
        self.heads = np.stack([messages.kind, messages.base, messages.lefts, messages.old, messages.new])
        self.bounds = np.append(0, np.cumsum(messages.lefts + messages.rights))
        self.cands = np.append(0, np.cumsum(messages.cands))
        self.cand = np.array(messages.cand, np.int64)
        self.image_count = messages.image_count
        self._narrowed: tuple[tuple[int, ...], list[I64]] | None = None

    def rectangles(self, limits: tuple[int, ...], bounds: list[I64]) -> list[I64]:
        """Return rectangles as they are for lists of at most so many rows, by channel.

        bounds: those of the messages: their own, for which it is worked out once, or labels.
        """
        if bounds[0] is not self.messages.lo_min:
            return self._rectangles(limits, bounds)
        if self._narrowed is None or self._narrowed[0] != limits:
            self._narrowed = limits, self._rectangles(limits, bounds)
        return self._narrowed[1]

    def _rectangles(self, limits: tuple[int, ...], bounds: list[I64]) -> list[I64]:
        messages, xs, first = self.messages, self.xs, self.bounds
        lo_min, lo_max, hi_min, hi_max = (column.copy() for column in bounds)
        need = np.array(limits, np.int64)[messages.channel] - messages.base
        far = np.flatnonzero((need > 0) & (need <= messages.lefts))
        beyond = xs[BOUND_LOW, first[far] + need[far] - 1]
        lo_min[far] = np.maximum(lo_min[far], np.where(beyond == INT64_MAX, beyond, beyond + 1))
        far = np.flatnonzero((need > 0) & (need <= messages.rights))
        beyond = xs[BOUND_HIGH, first[far] + messages.lefts[far] + need[far] - 1]
        hi_max[far] = np.minimum(hi_max[far], np.where(beyond == INT64_MIN, beyond, beyond - 1))
        none = need <= 0
        lo_min[none], lo_max[none] = INT64_MAX, INT64_MIN
        return [lo_min, lo_max, hi_min, hi_max]

    def places(self, message: I64, lo: I64, hi: I64) -> I64:
        """Return how many rows of each range are better than what its message is about."""
        place = np.empty(len(message), np.int64)
        kernels.places(message, lo, hi, self.heads, self.bounds, self.xs, place)
        return place

    def encoded(self, names: Sequence[str], which: I64) -> list[bytes]:
        """Return some images in some columns, as bytes. Cost: 0.3 us each."""
        return encode_rows(zip(*(self.messages.images[name].some(which) for name in names), strict=True))


def stands(messages: BestMessages) -> I64:
    """Return where the rows that messages name stand, as `xs`: as they are compared with lo, and with hi."""
    xs = np.zeros((4, max(len(messages.bounds), len(messages.cand_x))), np.int64)
    xs[:CAND_LOW, : len(messages.bounds)], xs[CAND_LOW:, : len(messages.cand_x)] = messages.bounds, messages.cand_x
    return xs


class ListFollower:
    """Lets lists follow messages."""

    def __init__(self, lists: ListTable) -> None:
        self._lists = lists

    def follow(self, record: Record, pairs: Pairs) -> Moves:
        """Apply pairs of at most `MOST_PROJECTIONS` projections, and return what they did.

        Rows that were put in are counted once more, and the caller counts down those that were taken out (`leave`),
        once it needs them no more. Raises ValueError where a list is not what its message is about.
        """
        lists = self._lists
        projections, shown = distinct_numbers(lists.projection[pairs.slot].astype(np.int64))
        refs, new = self._refs(record, pairs, projections.tolist(), shown)
        moves = Moves(np.full((2, len(shown)), NONE), np.full((2, len(shown)), NONE))
        wrong = kernels.follow(
            *pairs, shown, record.heads, record.cands, record.xs, record.cand, refs, lists.first, lists.count,
            lists.room, lists.cells, *moves,
        )  # fmt: skip
        if wrong >= 0:
            slot, place = int(pairs.slot[wrong]), int(pairs.place[wrong])
            raise ValueError(f"a list of {lists.count[slot]} rows does not have at place {place} what leaves it")
        self._enter(pairs.slot, moves, new)
        return moves

    def leave(self, moves: Moves) -> None:
        """Count down the rows that were taken out."""
        self._lists.rows.leave(moves.out[ROW][moves.out[PLACE] >= 0])

    def _refs(
        self, record: Record, pairs: Pairs, projections: list[int], shown: I64
    ) -> tuple[I64, list[tuple[int, bytes]]]:
        """Return the row of each image that may be needed, by projection, and those that are in no list."""
        lists, new = self._lists, list[tuple[int, bytes]]()
        refs = np.full((len(projections), record.image_count), NONE, np.int64)
        named = np.zeros(refs.shape, np.bool_)
        kernels.name_images(
            *pairs, shown, record.heads, record.cands, record.xs, record.cand, lists.room, named,
        )  # fmt: skip
        for i, projection in enumerate(projections):
            which = named[i].nonzero()[0]
            images = record.encoded(lists.rows.projections.value(projection).images, which)
            places: dict[bytes, int] = {}
            place = [places.setdefault(image, len(places)) for image in images]
            distinct = list(places)
            numbers = lists.rows.find(projection, distinct)
            missing = (numbers < 0).nonzero()[0]
            numbers[missing] = -2 - len(new) - np.arange(len(missing))
            new += [(projection, distinct[at]) for at in missing.tolist()]
            refs[i, which] = numbers[place]
        return refs, new

    def _enter(self, slots: I64, moves: Moves, new: list[tuple[int, bytes]]) -> None:
        """Count the rows that were put in, and give the new ones among them numbers."""
        lists, came = self._lists, moves.put[ROW]
        lists.rows.more(came[came >= 0])
        fresh = (came < NONE).nonzero()[0]
        if not len(fresh):
            return
        number = np.full(len(new), NONE, np.int64)
        used, place = distinct_numbers(-2 - came[fresh], len(new))
        times = np.bincount(place)
        by_projection: dict[int, list[int]] = {}
        for i, row in enumerate(used.tolist()):
            by_projection.setdefault(new[row][0], []).append(i)
        for projection, which in by_projection.items():
            images = [new[row][1] for row in used[which].tolist()]
            many = np.repeat(np.arange(len(which)), times[which])
            entered = lists.rows.enter(projection, images, many)
            number[used[which]] = entered[np.cumsum(times[which]) - 1]
        for rows in (moves.put[ROW], moves.out[ROW]):
            mine = rows < NONE
            rows[mine] = number[-2 - rows[mine]]
        kernels.number_new(slots[fresh], number, lists.first, lists.count, lists.cells)
