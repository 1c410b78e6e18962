"""Range MIN and MAX: a tree over the slots runs through the changes (state/a2b_tree.py).

Source: Interface paper, 2.4 (S-CN) and 3.1.
Cost: O(n) to build the tree, per change what a2b_tree says; O(log n) and 0.3 us to answer a region.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from operators.answer import Extremum, Part
from operators.batch_view import BatchView, Places
from operators.channel_binding import ChannelBinding
from operators.channel_kind import RangeKind, its_own_ordering, of_a_column
from operators.delta import Delta
from state.a2b_tree import FIELDS, A2BTree
from state.change_batch import I64, Bool
from state.minima import ABSENT
from state.order_code import restore_top, spare_top
from state.ordering import Layout
from state.row_store import Replay


@dataclass(slots=True)
class Measured:
    """A measure as a tree wants it: y a version, ABSENT where NULL or without a slot; and how to get codes back."""

    y: I64
    maximum: bool
    gap: int | None

    @classmethod
    def of(cls, view: BatchView, bound: ChannelBinding) -> Measured:
        """Return the measure of `bound`. Cost: O(n)."""
        replay, column, maximum = view.replay, bound.column, bound.channel.kind == "max"
        there = replay.valid[column] & (view.layout(bound.order).slot >= 0)
        codes = ~replay.codes[column] if maximum else replay.codes[column]
        y, gap = spare_top(codes, there)
        return cls(np.where(there, y, ABSENT), maximum, gap)

    def codes(self, y: I64) -> tuple[I64, Bool]:
        """Return the order codes of results, 0 where there is none, and where there is one."""
        there = y != ABSENT
        codes = restore_top(y, self.gap)
        return np.where(there, ~codes if self.maximum else codes, 0), there


def run_tree(layout: Layout, y: I64, replay: Replay) -> I64:
    """Run the changes of slot or y through a tree; return messages, int64[a2b_tree.FIELDS, k].

    `y` is a version's, ABSENT where it is not in the tree; a version that has one has a slot.
    """
    slot = np.where(y != ABSENT, layout.slot, -1)
    y, slot = np.append(y, ABSENT), np.append(slot, -1)
    slot_old, slot_new = slot[replay.before], slot[replay.after]
    y_old, y_new = y[replay.before], y[replay.after]
    cause = np.flatnonzero((slot_old != slot_new) | (y_old != y_new))
    if not len(cause):
        return np.empty((FIELDS, 0), np.int64)
    leaves = np.where(layout.version < replay.rows, y[layout.version], ABSENT)
    tree = A2BTree(layout, leaves)
    return tree.replay(cause, slot_old[cause], y_old[cause], slot_new[cause], y_new[cause])


def find(view: BatchView, bound: ChannelBinding) -> Iterator[Delta]:
    """Yield the messages of the view's changes."""
    measured = Measured.of(view, bound)
    found = run_tree(view.layout(bound.order), measured.y, view.replay)
    new, there = measured.codes(found[2])
    nothing, never = np.zeros(len(new), np.int64), np.zeros(len(new), np.bool_)
    yield Delta(bound.order, found[0], found[1], nothing, nothing, never, new, there, found[3:])


def tree_of(view: BatchView, bound: ChannelBinding) -> tuple[A2BTree, Measured]:
    """Return the tree of the stored rows; `view` must be still."""
    measured, layout = Measured.of(view, bound), view.layout(bound.order)
    return A2BTree(layout, measured.y[layout.version]), measured


def answers(view: BatchView, bound: ChannelBinding, places: Places) -> tuple[I64, Bool]:
    """Return the extremum of each place as code or dictionary number, and where there is one."""
    tree, measured = tree_of(view, bound)
    group = view.seek(bound.order, places.groups)[places.group]
    return measured.codes(tree.answers(group, places.lo, places.hi))


def parts(view: BatchView, bound: ChannelBinding, places: Places) -> list[Part]:
    """Return what `answers` returns as parts. Cost: 0.5 us each."""
    new, there = answers(view, bound, places)
    values: list[int | str | None] = [None] * len(new)
    where = np.flatnonzero(there)
    found = new[where].tolist() if not bound.text else view.rows.texts_of(bound.column or 0, new[where])
    for i, value in zip(where.tolist(), found, strict=True):
        values[i] = value
    return [Extremum(value) for value in values]


KIND = RangeKind(
    lacks=of_a_column,
    orderings=its_own_ordering,
    measured=True,
    find=find,
    nothing=Extremum(),
    parts=parts,
    codes=answers,
)
