"""Further conditions of subscriptions that are asked the fast way: what their point in the index does not say.

    entry 7   q.venue <> 3, f.filed IS NULL        judged for each row that it is met by, and each of its partners

Only those who have some are here. They are value sets of order codes, or NULL alone (`join_form.py`).
Cost: 0.3 KB a subscription that has some; 3 us each of those that are met in a step, and 10 ns a row and condition.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from operators.timeline import SentRows
from overlay.arena.growable_column import widened
from overlay.index import join_index_kernels as kernels
from overlay.index.join_form import Further
from overlay.index.join_queries import FormRows, Step
from state.change_batch import I32, I64, Bool


class FurtherConditions:
    """The conditions of entries of one form."""

    def __init__(self) -> None:
        self._of: dict[int, tuple[Further, ...]] = {}
        self._has: Bool = np.zeros(0, np.bool_)

    def __len__(self) -> int:
        return len(self._of)

    def insert(self, entries: I64, ones: Sequence[tuple[Further, ...]]) -> None:
        """Put the conditions of entries in, which may be none."""
        new = {entry: one for entry, one in zip(entries.tolist(), ones, strict=True) if one}
        if new:
            self._has = widened(self._has, max(new) + 1)
            self._has[list(new)] = True
            self._of |= new

    def remove(self, entries: I64) -> None:
        """Forget what entries have, if anything."""
        mine = entries[entries < len(self._has)]
        mine = mine[self._has[mine]]
        self._has[mine] = False
        for entry in mine.tolist():
            del self._of[entry]

    def sift(self, step: Step, rows: FormRows, query: I64, entry: I32, start: I64, stop: I64, kind: kernels.I8) -> I64:
        """Judge hits of entries, and return `partner`, longer by the runs of those that have conditions.

        Their start, stop and kind are written anew; the kind is 0 where nothing is left.
        """
        which = np.flatnonzero((entry < len(self._has)) & (kind > 0))
        which = which[self._has[entry[which]]]
        if not len(which):
            return step.partner
        used = len(step.partner)
        partner = np.concatenate([step.partner, np.empty(int((stop[which] - start[which]).sum()), np.int64)])
        spans, conditions = self._flat(entry[which], rows.timeline.rows)
        _, *changes = rows.changes
        kernels.sift(which, spans, query, step.queries, *changes, *conditions, partner, used, start, stop, kind)
        return partner

    def _flat(self, entries: I32, rows: Sequence[SentRows]) -> tuple[I64, tuple[object, ...]]:
        """Return from where to where each entry's conditions stand, and these as `kernels.sift` takes them."""
        distinct, place = np.unique(entries, return_inverse=True)
        ones = [self._of[entry] for entry in distinct.tolist()]
        ends = np.cumsum([0, *map(len, ones)])
        conditions = [one for each in ones for one in each]
        names = [list(dict.fromkeys(one.column for one in conditions if one.position == p)) for p in (0, 1)]
        position = np.array([one.position for one in conditions], np.int64)
        column = np.array([names[one.position].index(one.column) for one in conditions], np.int64)
        null = np.array([one.values.null for one in conditions], np.bool_)
        intervals = [pair for one in conditions for pair in one.values.intervals]
        bounds = np.array(intervals, np.int64).reshape(-1, 2)
        of_condition = np.cumsum([0, *(len(one.values.intervals) for one in conditions)])
        tables = [_matrices(rows[p], names[p]) for p in (0, 1)]
        codes, known = zip(*tables, strict=True)
        spans = np.stack([ends[:-1], ends[1:]], axis=1)[place]
        return spans, (position, column, null, of_condition, bounds, codes, known)

    def check(self, entries: I64) -> None:
        """Assert that only `entries` have conditions. Cost: O(n)."""
        assert sorted(self._of) == self._has.nonzero()[0].tolist(), (self._of, self._has)
        assert set(self._of) <= set(entries.tolist()), (self._of, entries)


def _matrices(rows: SentRows, names: Sequence[str]) -> tuple[I64, Bool]:
    """Return codes and what is known of them, [columns, versions].

    Nothing is known of columns that are not told: those who compare them are ahead, and are told of another record.
    """
    shape = len(names), len(rows.born)
    codes, known = np.zeros(shape, np.int64), np.zeros(shape, np.bool_)
    for i, name in enumerate(names):
        if name in rows.columns:
            codes[i], known[i] = rows.columns[name].codes, rows.columns[name].known
    return codes, known
