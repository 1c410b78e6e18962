"""Which subscriptions to joins does a change meet? Those of all virtual edges of a process, asked once.

Problem. Sixteen virtual edges of a process get the same record of a cell, and each must find who of its own is met.
Sixteen indexes are asked sixteen times, and most of a query is the way down the tree, whoever is found there: with one
for all a change costs a quarter (20 partners, a million subscriptions).

Idea. One index holds the subscriptions of all. The first virtual edge that reaches a batch asks for everybody; the
others take what is theirs of that answer, later, when more has come and gone:

    moment    1        2         3  asked for all     4        5         6  edge B takes its own
    edge A    + a               met: a, b, c
    edge B             + b, c                         - c      + d       of what was met: b; of d it asks again

    what was met       counts if it still is in, since before it was asked: born <= moment
    what came since    was not met, so it is asked for, by itself

This is exact however the virtual edges' batches are interleaved: what a virtual edge held when it came to the batch is
either of before the moment, and was judged by its constants, or of after it.

An *entry* is a subscription's number in its form's tree, given again when it has gone; the moment at which it came
tells a later one apart, so no pair can speak for another subscription, even if a virtual edge was restored meanwhile
and gave its slots the same numbers. Forms (`overlay/index/join_form.py`) have a tree each.

Invariants (`check`): 1 a slot that is in knows its entry, and the entry its slot; 2 a tree has exactly the entries in
use; 3 no entry was born later than its virtual edge's last.
Cost: as the tree (`state/range_set_tree.py`), 30 ns a pair met for each virtual edge; 24 bytes a subscription beside
the tree's.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from overlay.arena.growable_column import widened
from state.change_batch import I32, I64, Bool
from state.range_set_tree import LEAF, Met, RangeSetTree

_NONE = -1


@dataclass(frozen=True, slots=True)
class Asked:
    """Whom queries of one form met, of all virtual edges, at a moment."""

    form: int
    moment: int
    met: Met


class RangeSetIndex:
    """Slots of virtual edges, by form. `leaf`: see the tree; in tests tiny."""

    def __init__(self, leaf: int = LEAF) -> None:
        self._leaf = leaf
        self._forms: dict[int, _Entries] = {}
        self._opened = 0
        self._homes: dict[int, I32] = {}
        self._moment = 0

    def __len__(self) -> int:
        return sum(len(entries.tree) for entries in self._forms.values())

    @property
    def nbytes(self) -> int:
        """Bytes of everything."""
        return sum(entries.nbytes for entries in self._forms.values()) + sum(
            home.nbytes for home in self._homes.values()
        )

    def open(self, attributes: int) -> int:
        """Begin a form whose subscriptions have so many ranges, and return its number."""
        self._opened += 1
        self._forms[self._opened] = _Entries(RangeSetTree(attributes, self._leaf))
        return self._opened

    def close(self, form: int) -> None:
        """Forget a form that nobody is of; its number is never given again."""
        del self._forms[form]

    def size(self, form: int) -> int:
        """How many subscriptions a form has."""
        return len(self._forms[form].tree)

    def entries(self, form: int) -> I64:
        """Return the entries of a form, ascending. Cost: O(n)."""
        return self._forms[form].used()

    def insert(self, edge: int, form: int, slots: I64, points: I64) -> I64:
        """Put slots of a virtual edge in, none of which is in, and return their entries.

        points: int64[n, 2 a], lo and hi of each attribute. Cost: see the tree.
        """
        self._moment += 1
        home = widened(self._homes.get(edge, np.zeros((0, 2), np.int32)), int(slots.max(initial=-1)) + 1, _NONE)
        self._homes[edge] = home
        entries = self._forms[form].insert(edge, slots, points, self._moment)
        home[slots, 0], home[slots, 1] = form, entries
        return entries

    def remove(self, edge: int, slots: I64) -> list[tuple[int, I64]]:
        """Take those slots of a virtual edge out that are in; return their entries, by form."""
        home = self._homes.get(edge)
        if home is None:
            return []
        slots = slots[slots < len(home)]
        forms, entries = home[slots].astype(np.int64).T
        gone = [(form, entries[forms == form]) for form in np.unique(forms).tolist() if form != _NONE]
        for form, mine in gone:
            self._forms[form].remove(edge, mine)
        home[slots] = _NONE
        return gone

    def has(self, edge: int, slots: I64) -> Bool:
        """Whether each of `slots` of a virtual edge is in."""
        home, there = self._homes.get(edge), np.zeros(len(slots), np.bool_)
        if home is not None:
            known = slots < len(home)
            there[known] = home[slots[known], 0] != _NONE
        return there

    def has_form(self, edge: int, form: int) -> bool:
        """Whether some slot of a virtual edge is of a form."""
        return self._forms[form].count[edge] > 0

    def slots(self, edge: int) -> I64:
        """Return the slots of a virtual edge that are in, ascending."""
        home = self._homes.get(edge)
        return np.zeros(0, np.int64) if home is None else (home[:, 0] != _NONE).nonzero()[0]

    def forget(self, edge: int) -> list[tuple[int, I64]]:
        """Take all slots of a virtual edge out; return their entries, by form."""
        gone = self.remove(edge, self.slots(edge))
        self._homes.pop(edge, None)
        for entries in self._forms.values():
            entries.last.pop(edge, None)
        return gone

    def ask(self, form: int, values: I64, starts: I64) -> Asked:
        """Ask for everybody of a form. `values`, `starts`: as `RangeSetTree.query` takes them."""
        return Asked(form, self._moment, self._forms[form].tree.query(values, starts))

    def mine(self, edge: int, asked: Asked) -> tuple[I64, I64]:
        """Return which of those that were met are slots of a virtual edge that still stand, and the slots."""
        entries = self._forms[asked.form]
        found = (entries.edge[asked.met.entry] == edge) & (entries.born[asked.met.entry] <= asked.moment)
        which = found.nonzero()[0]
        return which, entries.slot[asked.met.entry[which]].astype(np.int64)

    def has_later(self, edge: int, asked: Asked) -> bool:
        """Whether slots of a virtual edge came to the form since it was asked."""
        return self._forms[asked.form].last.get(edge, 0) > asked.moment

    def later(self, edge: int, asked: Asked, values: I64, starts: I64) -> tuple[Asked, I64, I64]:
        """Ask again; return that, and as `mine` who of a virtual edge is met that came since `asked`.

        Cost: that of `ask`.
        """
        again, entries = self.ask(asked.form, values, starts), self._forms[asked.form]
        entry = again.met.entry
        which = ((entries.edge[entry] == edge) & (entries.born[entry] > asked.moment)).nonzero()[0]
        return again, which, entries.slot[entry[which]].astype(np.int64)

    def check(self) -> None:
        """Check the invariants of the module's header. Raises AssertionError. Cost: O(n log n)."""
        for form, entries in self._forms.items():
            entries.check()
            for entry in entries.used().tolist():
                home = self._homes[int(entries.edge[entry])][int(entries.slot[entry])].tolist()
                assert home == [form, entry], (1, form, entry, home)
        assert sum(len(self.slots(edge)) for edge in self._homes) == len(self), (1, self._homes)


class _Entries:
    """The entries of one form.

    edge, slot, born: by entry; the edge of one that is free is -1.  last: when the last entry of each edge came.
    count: how many each edge has.
    """

    def __init__(self, tree: RangeSetTree) -> None:
        self.tree = tree
        self.edge: I32 = np.zeros(0, np.int32)
        self.slot: I32 = np.zeros(0, np.int32)
        self.born: I64 = np.zeros(0, np.int64)
        self.last: dict[int, int] = {}
        self.count: Counter[int] = Counter()
        self._free: list[int] = []
        self._size = 0

    @property
    def nbytes(self) -> int:
        return self.tree.nbytes + self.edge.nbytes + self.slot.nbytes + self.born.nbytes

    def insert(self, edge: int, slots: I64, points: I64, moment: int) -> I64:
        entries = self._take(len(slots))
        self.edge[entries], self.slot[entries], self.born[entries] = edge, slots, moment
        self.last[edge] = moment
        self.count[edge] += len(slots)
        self.tree.insert(entries, points)
        return entries

    def remove(self, edge: int, entries: I64) -> None:
        self.tree.remove(entries)
        self.count[edge] -= len(entries)
        self.edge[entries] = _NONE
        self._free += entries.tolist()

    def used(self) -> I64:
        return (self.edge[: self._size] != _NONE).nonzero()[0]

    def _take(self, count: int) -> I64:
        reused = [self._free.pop() for _ in range(min(count, len(self._free)))]
        fresh = range(self._size, self._size + count - len(reused))
        self._size += len(fresh)
        self.edge = widened(self.edge, self._size, _NONE)
        self.slot, self.born = widened(self.slot, self._size), widened(self.born, self._size)
        return np.array([*reused, *fresh], np.int64)

    def check(self) -> None:
        self.tree.check()
        used = self.used()
        assert len(used) == len(self.tree) and self.tree.has(used).all(), (2, used)
        assert sorted([*used.tolist(), *self._free]) == list(range(self._size)), (2, used, self._free)
        assert +self.count == Counter(self.edge[used].tolist()), (2, self.count)
        for entry in used.tolist():
            assert self.born[entry] <= self.last[int(self.edge[entry])], (3, entry)
