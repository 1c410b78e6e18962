"""The running answer of a filter: the bag of the rows that meet a condition, each as often as it is there.

A version of a row that DuckDB selects is in the answer as long as it holds. At each seq at which versions end or begin,
those that went and came are netted by what is shown of them; what is left is what one publication changed.

    seq 7    A 10 ends, A 12 begins            -> removed A 10, added A 12
    seq 8    A 12 ends, A 12 begins            -> nothing: what differs in them is not shown
    seq 9    A 12 ends, B 12 ends              -> removed A 12, B 12: whatever ended them, it was one record

Where only rows that come or go are told, versions of one key that end and begin at the same seq are neither.

*Cost*: O(m) for the m versions selected, and for each answer that is asked for.
"""

from __future__ import annotations

import bisect
import json
from collections import Counter
from collections.abc import Iterator
from collections.abc import Sequence as Many
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

from tidewire.verification.recompute.ranked_column import Measure
from tidewire.verification.recompute.sweep import turns_by_moment
from tidewire.verification.records.forms import Said
from tidewire.verification.records.policy import EVERY_CHANGE, Policy, Step
from tidewire.verification.records.question import Unreadable

Ranks = tuple[int, ...]
"""A row, as the ranks of what is shown of it."""
Bag = Counter[tuple[Any, ...]]
"""Rows, of JSON values or of ranks, with how often each is there."""


@dataclass(slots=True)
class BagAnswers:
    """Rows by the versions that are them: number i is there in [starts[i], ends[i]); `starts` ascend.

    `measures` are the columns shown, `key` the places of the primary key among them, where only rows that come or go
    are told. A step's `before` are the rows that went, its `after` those that came, as bags of ranks; a state is a bag
    of ranks, what is shown of it a bag of JSON values.
    """

    form: ClassVar[str] = "bag"
    measures: list[Measure]
    starts: Many[int]
    ends: Many[int]
    rows: Many[Ranks]
    key: tuple[int, ...] = ()
    policy: Policy = EVERY_CHANGE
    _told: list[Step] | None = field(default=None, repr=False)

    def at(self, seq: int) -> Bag:
        """Return the rows after the record `seq`."""
        begun = bisect.bisect_right(self.starts, seq)
        return Counter(row for row, end in zip(self.rows[:begun], self.ends[:begun], strict=True) if end > seq)

    def steps(self, after: int, until: int) -> Iterator[Step]:
        """Yield what changed in (after, until], as far as the policy tells of it."""
        if self._told is None:
            self._told = list(self._all())
        low = bisect.bisect_right(self._told, after, key=lambda step: step.seq)
        yield from self._told[low : bisect.bisect_right(self._told, until, key=lambda step: step.seq)]

    def joined(self, first: Step, second: Step) -> Step | None:
        """Return two steps, one behind the other, as one; None if they lead back to where they began."""
        gone, come = first.before + second.before, first.after + second.after
        return Step(second.seq, gone - come, come - gone) if gone != come else None

    def differ(self, one: Bag, other: Bag) -> bool:
        """A step always says that something went or came."""
        return bool(one or other)

    def amount(self, state: Any) -> Fraction | None:
        """Rows are no number: MIN CHANGE of them is refused."""
        raise Unreadable("MIN CHANGE of rows")

    def shown(self, state: Any) -> Any:
        """Return the rows as JSON values."""
        made: Bag = Counter()
        for row, count in state.items():
            made[self._shown(row)] += count
        return made

    def said(self, step: Step) -> Said:
        """Return what a delivery of the step says."""
        return self._by_key() | self._difference(step.before, step.after)

    def first(self, new: Bag) -> Said:
        """Return what a snapshot says."""
        head = {"form": self.form} | ({"snapshot": "none"} if self.policy.bare else {}) | self._by_key()
        return head | {"removed": [], "added": [] if self.policy.bare else listed(new)}

    def between(self, old: Bag, new: Bag) -> Said:
        """Return what a resync says to somebody who was told `old`."""
        return {"same": True, "removed": [], "added": []} if self.is_same(old, new) else self.anew(new)

    def anew(self, new: Bag) -> Said:
        """Return what a resync says that tells all rows."""
        head: Said = {"form": self.form, "whole": "look" if self.policy.bare else True} | self._by_key()
        return head | {"removed": [], "added": [] if self.policy.bare else listed(new)}

    def is_same(self, old: Bag, new: Bag) -> bool:
        """Whether a resync finds nothing new: of rows that go by their key, only that they are the same ones."""
        return self._keys(old) == self._keys(new) if self.key else old == new

    def last(self, old: Bag) -> Said:
        """Return what an end says: nothing of the rows."""
        return {"removed": [], "added": []}

    def size_of(self, rows: Bag) -> tuple[int, int]:
        """Return how many rows there are, and their bytes in JSON."""
        return rows.total(), sum((len(_text(self._shown(row)).encode()) + 1) * n for row, n in rows.items())

    def _all(self) -> Iterator[Step]:
        for seq, turns in turns_by_moment(self.starts, self.ends, self.rows):
            gone, come = (Counter(row for sign, row in turns if sign == side) for side in (-1, 1))
            if self.key:
                gone, come = self._without_moves(gone, come)
            if self.policy.kind == "enter":
                gone = Counter()
            if gone - come or come - gone:
                yield Step(seq, gone - come, come - gone)

    def _without_moves(self, gone: Bag, come: Bag) -> tuple[Bag, Bag]:
        """Leave out the rows of keys that are there before and afterwards."""
        stayed = self._keys(gone).keys() & self._keys(come).keys()
        gone, come = (
            Counter({row: n for row, n in side.items() if self._key_of(row) not in stayed}) for side in (gone, come)
        )
        return gone, come

    def _keys(self, rows: Bag) -> Bag:
        return Counter(self._key_of(row) for row in rows.elements())

    def _key_of(self, row: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(row[place] for place in self.key)

    def _by_key(self) -> Said:
        return {"key": list(self.key)} if self.key else {}

    def _difference(self, gone: Bag, come: Bag) -> Said:
        return {"removed": listed(self.shown(gone)), "added": listed(self.shown(come))}

    def _shown(self, row: Ranks) -> tuple[Any, ...]:
        return tuple(measure.shown[rank] for measure, rank in zip(self.measures, row, strict=True))


def _text(row: tuple[Any, ...]) -> str:
    return json.dumps(row, ensure_ascii=False, separators=(",", ":"))


def listed(rows: Bag) -> list[list[Any]]:
    """Return rows as a delivery has them, in some order."""
    return [list(row) for row in rows.elements()]
