"""The running answer of a best-k: the first rows in an order, as a list.

DuckDB gives each version of the range a place among all of them; a list of those that hold is kept in that order, and
its first `limit` rows are looked at whenever versions end or begin.

    place      1 A 9.75    2 B 9.50    3 A 9.25         limit 1
    seq 3      2 begins                                 B 9.50
    seq 5      3 begins                                 B 9.50      nothing new
    seq 8      3 ends, 1 begins                         A 9.75

*Cost*: O(m log m) comparisons for m versions; each state holds `limit` rows.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from collections.abc import Sequence as Many
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from fractions import Fraction
from typing import Any, ClassVar

from tidewire.verification.recompute.ranked_column import Measure
from tidewire.verification.recompute.sweep import turns_by_moment
from tidewire.verification.records.forms import Said
from tidewire.verification.records.policy import Step
from tidewire.verification.records.question import Unreadable

Rows = tuple[tuple[Any, ...], ...]
"""Rows in order, of JSON values or of ranks."""


@dataclass(slots=True)
class ListAnswers:
    """`states[i]` is the list from `seqs[i]` on, as ranks of the columns shown (`measures`); before, it is empty."""

    form: ClassVar[str] = "list"
    measures: list[Measure]
    seqs: list[int] = field(default_factory=list)
    states: list[Rows] = field(default_factory=list)

    def at(self, seq: int) -> Rows:
        """Return the list after the record `seq`."""
        place = bisect.bisect_right(self.seqs, seq)
        return self.states[place - 1] if place else ()

    def steps(self, after: int, until: int) -> Iterator[Step]:
        """Yield the changes in (after, until]."""
        for i in range(bisect.bisect_right(self.seqs, after), bisect.bisect_right(self.seqs, until)):
            yield Step(self.seqs[i], self.states[i - 1] if i else (), self.states[i])

    def joined(self, first: Step, second: Step) -> Step | None:
        """Return two steps, one behind the other, as one; None if they lead back to where they began."""
        return None if first.before == second.after else Step(second.seq, first.before, second.after)

    def differ(self, one: Rows, other: Rows) -> bool:
        """Whether two lists are shown otherwise."""
        return one != other

    def amount(self, state: Any) -> Fraction | None:
        """Rows are no number: MIN CHANGE of them is refused."""
        raise Unreadable("MIN CHANGE of rows")

    def shown(self, state: Any) -> Any:
        """Return a list as JSON values."""
        return tuple(
            tuple(measure.shown[rank] for measure, rank in zip(self.measures, row, strict=True)) for row in state
        )

    def said(self, step: Step) -> Said:
        """Return what a delivery of the step may say: there is more than one way from a list to another."""
        return difference(self.shown(step.before), self.shown(step.after))

    def first(self, new: Rows) -> Said:
        """Return what a snapshot says."""
        return {"form": self.form} | difference((), new)

    def between(self, old: Rows, new: Rows) -> Said:
        """Return what a resync says to somebody who was told `old`."""
        return {"same": True, "removed": [], "added": []} if old == new else self.anew(new)

    def anew(self, new: Rows) -> Said:
        """Return what a resync says that tells the whole list."""
        return {"form": self.form, "whole": True} | difference((), new)

    def last(self, old: Rows) -> Said:
        """Return what an end says."""
        return difference(old, ())


def list_answers(
    measures: list[Measure], limit: int, starts: Many[int], ends: Many[int], places: Many[int], rows: Many[Any]
) -> ListAnswers:
    """Sweep versions: each is `rows[i]`, at `places[i]` among all of them, and holds in [starts[i], ends[i])."""
    row_at = dict(zip(places, rows, strict=True))
    made, held = ListAnswers(measures), list[int]()
    told: Rows = ()
    for seq, turns in turns_by_moment(starts, ends, places):
        for sign, place in sorted(turns):
            where = bisect.bisect_left(held, place)
            if sign < 0:
                del held[where]
            else:
                held.insert(where, place)
        first = tuple(row_at[place] for place in held[:limit])
        if first != told:
            told = first
            made.seqs.append(seq)
            made.states.append(first)
    return made


def difference(old: Rows, new: Rows) -> Said:
    """Return one way from `old` to `new`: what is taken out, from behind, and what is put in, from the front."""
    removed, added = list[list[Any]](), list[list[Any]]()
    for tag, low, high, begin, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            removed += [[place, list(old[place])] for place in range(low, high)]
            added += [[place, list(new[place])] for place in range(begin, end)]
    return {"removed": removed[::-1], "added": added}
