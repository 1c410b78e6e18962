"""The running answer of one subscription over one table's history: every seq at which it changed.

DuckDB selects the versions that meet the condition, each with the interval in which it held and the ranks of what is
measured; sweeps say when the answer changed. States are exact: a rank for MIN and MAX, an integer for COUNT, units
for SUM, a fraction for AVG; None is NULL. Steps are changes of the state; a subscriber is told those that change what
is shown of it (`differ`), which of an AVG and a SUM of floats is the nearest double. Answers that are rows are made
here, and are in `bag_answers` and `list_answers`.

*Cost*: one scan of the history, then O(m log m) for the m versions selected and each item of the SELECT list.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from collections.abc import Sequence as Many
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import duckdb

from tidewire.verification.recompute.bag_answers import BagAnswers
from tidewire.verification.recompute.history import History
from tidewire.verification.recompute.list_answers import ListAnswers, list_answers
from tidewire.verification.recompute.ranked_column import Measure, nearest
from tidewire.verification.recompute.sweep import running_extremum, running_members, running_totals
from tidewire.verification.records.forms import Said
from tidewire.verification.records.policy import Step
from tidewire.verification.records.question import Item, Question, Unreadable

_COUNTS = ("count", "count distinct")


@dataclass(slots=True)
class RowAnswers:
    """A list of aggregates. `states[i]` is the answer from `seqs[i]` on; before the first one it is `empty`."""

    form: ClassVar[str | None] = None
    items: list[tuple[Item, Measure | None]]
    empty: tuple[Any, ...]
    seqs: list[int] = field(default_factory=list)
    states: list[tuple[Any, ...]] = field(default_factory=list)

    def at(self, seq: int) -> tuple[Any, ...]:
        """Return the state after the record `seq`."""
        place = bisect.bisect_right(self.seqs, seq)
        return self.states[place - 1] if place else self.empty

    def steps(self, after: int, until: int) -> Iterator[Step]:
        """Yield the changes in (after, until]."""
        for i in range(bisect.bisect_right(self.seqs, after), bisect.bisect_right(self.seqs, until)):
            yield Step(self.seqs[i], self.states[i - 1] if i else self.empty, self.states[i])

    def joined(self, first: Step, second: Step) -> Step | None:
        """Return two steps, one behind the other, as one; None if they lead back to where they began."""
        return None if first.before == second.after else Step(second.seq, first.before, second.after)

    def differ(self, one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
        """Whether two states are shown otherwise."""
        rounded = any(
            i.function == "avg" or (i.function == "sum" and m is not None and m.is_float) for i, m in self.items
        )
        return bool(one != other and (not rounded or self.shown(one) != self.shown(other)))

    def amount(self, state: tuple[Any, ...]) -> Fraction | None:
        """Return the state of the only item as a number, None for NULL."""
        (item, measure), exact = self.items[0], state[0]
        if exact is None or item.function in _COUNTS:
            return None if exact is None else Fraction(exact)
        assert measure is not None
        if item.function == "avg":
            return Fraction(exact)
        return Fraction(measure.units[exact] if item.function in ("min", "max") else exact, measure.one)

    def shown(self, state: Any) -> Any:
        """Return a state as a delivery shows it: one value, or an array of several."""
        values = [_shown(item, measure, exact) for (item, measure), exact in zip(self.items, state, strict=True)]
        return values[0] if len(values) == 1 else values

    def said(self, step: Step) -> Said:
        """Return what a delivery of the step says."""
        return {"old": self.shown(step.before), "new": self.shown(step.after)}

    def first(self, new: Any) -> Said:
        """Return what a snapshot of a shown answer says."""
        return {"old": None, "new": new}

    def between(self, old: Any, new: Any) -> Said:
        """Return what a resync from one shown answer to another says."""
        return {"old": old, "new": new}

    def last(self, old: Any) -> Said:
        """Return what an end says."""
        return {"old": old, "new": None}


@dataclass(slots=True)
class SetAnswers:
    """A DISTINCT. A step's `before` are the values that went, its `after` those that came; a state is a set."""

    form: ClassVar[str | None] = None
    measure: Measure
    changes: list[Step] = field(default_factory=list)

    def at(self, seq: int) -> frozenset[Any]:
        """Return the values after the record `seq`. *Cost*: O(changes)."""
        held: set[Any] = set()
        for step in self.changes[: bisect.bisect_right(self.changes, seq, key=lambda step: step.seq)]:
            held -= step.before
            held |= step.after
        return frozenset(held)

    def steps(self, after: int, until: int) -> Iterator[Step]:
        """Yield the changes in (after, until]."""
        low = bisect.bisect_right(self.changes, after, key=lambda step: step.seq)
        yield from self.changes[low : bisect.bisect_right(self.changes, until, key=lambda step: step.seq)]

    def joined(self, first: Step, second: Step) -> Step | None:
        """Return two steps, one behind the other, as one; None if they lead back to where they began."""
        gone = (first.before - second.after) | (second.before - first.after)
        come = (first.after - second.before) | (second.after - first.before)
        return Step(second.seq, gone, come) if gone or come else None

    def differ(self, one: Any, other: Any) -> bool:
        """A step always says that something went or came."""
        return bool(one or other)

    def amount(self, state: Any) -> Fraction | None:
        """Sets are no numbers: MIN CHANGE of them is refused."""
        raise Unreadable("MIN CHANGE of a DISTINCT")

    def shown(self, state: Any) -> Any:
        """Return the state itself: deliveries show differences."""
        return state

    def said(self, step: Step) -> Said:
        """Return what a delivery of the step says."""
        return {"removed": self.measure.ordered(step.before), "added": self.measure.ordered(step.after)}

    def first(self, new: frozenset[Any]) -> Said:
        """Return what a snapshot says."""
        return self.between(frozenset(), new)

    def between(self, old: frozenset[Any], new: frozenset[Any]) -> Said:
        """Return what a resync says."""
        return {"removed": self.measure.ordered(old - new), "added": self.measure.ordered(new - old)}

    def last(self, old: frozenset[Any]) -> Said:
        """Return what an end says."""
        return self.between(old, frozenset())


Answers = RowAnswers | SetAnswers | BagAnswers | ListAnswers
_BY_KEY = ("transitions", "enter")


@dataclass(frozen=True, slots=True)
class _Versions:
    """Those that meet a condition: when they hold, and by column the ranks of their values; `places` in an order."""

    starts: list[int]
    ends: list[int]
    ranks: dict[str, list[int]]
    places: list[int]


def answers_to(question: Question, history: History, types: dict[str, str], key: Many[str] = ()) -> Answers:
    """Return the running answer. `key` is the table's, in lower case; a `*` must have been replaced (`Question.over`).

    Raises Unreadable if DuckDB cannot run the condition over the table.
    """
    versions = _selected(question, history, types)
    if question.rows:
        return _rows(question, history, versions, key)
    measures, starts, ends = history.measures, versions.starts, versions.ends
    if question.distinct:
        [column] = question.measures
        return SetAnswers(measures[column], _memberships(measures[column], starts, ends, versions.ranks[column]))
    items = [(item, None if item.column is None else measures[item.column]) for item in question.items]
    series = [
        _series(item, measure, starts, ends, versions.ranks.get(item.column or "", [1] * len(starts)))
        for item, measure in items
    ]
    return _merged(items, series)


def _selected(question: Question, history: History, types: dict[str, str]) -> _Versions:
    by_column = {column: history.ranks[column] for column in sorted(question.measures)}
    selection = question.selection(history.database, list(by_column.values()), types)
    chosen = ["__from", "__to", *(f"coalesce({rank}, 0) AS {rank}" for rank in by_column.values())]
    if question.order:
        selection, chosen = question.ranking(selection, by_column), [*chosen, "__place"]
    try:
        statement = f"SELECT {', '.join(chosen)} FROM ({selection}) ORDER BY __from"
        found = history.database.execute(statement).fetchnumpy()
    except duckdb.Error as error:
        raise Unreadable(str(error)) from None
    ranks = {column: found[rank].tolist() for column, rank in by_column.items()}
    places = found["__place"].tolist() if question.order else []
    return _Versions(found["__from"].tolist(), found["__to"].tolist(), ranks, places)


def _rows(question: Question, history: History, versions: _Versions, key: Many[str]) -> BagAnswers | ListAnswers:
    shown = [item.column or "" for item in question.items]
    measures = [history.measures[column] for column in shown]
    rows = list(zip(*(versions.ranks[column] for column in shown), strict=True))
    if question.limit is not None:
        return list_answers(measures, question.limit, versions.starts, versions.ends, versions.places, rows)
    by: tuple[int, ...] = ()
    if question.policy.kind in _BY_KEY:
        if not set(key) <= set(shown):
            raise Unreadable(f"NOTIFY {question.policy.kind.upper()} of rows without their key")
        by = tuple(shown.index(column) for column in key)
    return BagAnswers(measures, versions.starts, versions.ends, rows, by, question.policy)


def _memberships(measure: Measure, starts: Many[int], ends: Many[int], ranks: Many[int]) -> list[Step]:
    shown = measure.shown
    return [
        Step(seq, frozenset(shown[rank] for rank in gone), frozenset(shown[rank] for rank in come))
        for seq, gone, come in running_members(starts, ends, ranks)
    ]


def _series(
    item: Item, measure: Measure | None, starts: Many[int], ends: Many[int], ranks: Many[int]
) -> Iterator[tuple[int, Any]]:
    """Return (seq, state) of one item wherever it may have changed; rows where its column is NULL do not count."""
    there = [i for i, rank in enumerate(ranks) if rank]
    starts, ends, ranks = ([column[i] for i in there] for column in (starts, ends, ranks))
    if item.function in ("min", "max"):
        return zip(*running_extremum(starts, ends, ranks, largest=item.function == "max"), strict=True)
    if item.function == "count distinct":
        return _counts(running_members(starts, ends, ranks))
    if item.function == "count" or measure is None:
        return ((seq, count) for seq, count, _ in running_totals(starts, ends, [0] * len(ranks)))
    if not measure.is_number:
        raise Unreadable(f"{item.function.upper()} of {measure.type}")
    totals = running_totals(starts, ends, [measure.units[rank] for rank in ranks])
    if item.function == "sum":
        return ((seq, total if count else None) for seq, count, total in totals)
    return ((seq, Fraction(total, count * measure.one) if count else None) for seq, count, total in totals)


def _counts(memberships: Iterator[tuple[int, frozenset[int], frozenset[int]]]) -> Iterator[tuple[int, int]]:
    """Return (seq, how many values there are) from the values that went and came."""
    held = 0
    for seq, gone, come in memberships:
        held += len(come) - len(gone)
        yield seq, held


def _merged(items: list[tuple[Item, Measure | None]], series: list[Iterator[tuple[int, Any]]]) -> RowAnswers:
    """Put the items' series together: the whole answer changes where one of its items does."""
    empty = tuple(0 if item.function in _COUNTS else None for item, _ in items)
    events = sorted(((seq, i, exact) for i, one in enumerate(series) for seq, exact in one), key=lambda e: e[:2])
    made, state, told = RowAnswers(items, empty), list(empty), empty
    for place, (seq, i, exact) in enumerate(events):
        state[i] = exact
        if place + 1 < len(events) and events[place + 1][0] == seq:
            continue
        if tuple(state) != told:
            told = tuple(state)
            made.seqs.append(seq)
            made.states.append(told)
    return made


def _shown(item: Item, measure: Measure | None, exact: Any) -> Any:
    if exact is None or item.function in _COUNTS or measure is None:
        return exact
    if item.function in ("min", "max"):
        return measure.shown[exact]
    return measure.sum_shown(exact) if item.function == "sum" else nearest(exact.numerator, exact.denominator)
