"""The first rows of one range while a batch is applied: it takes causes and says what to tell.

A message says where a row stands, or stood, and which rows may move up; so a list follows by places, and compares no
order (state/best_tree.py says why that is exact):

    it leaves, or is worse now     held a b c d, d being the last of n      it leaves place p: rest a c d
                                   of the candidates inside, number n - 1 - p comes behind them
    it comes, or is better now     put in at its place; what is beyond the limit goes

EVERY CHANGE tells each cause by what it took out and put in, LATEST at the end of the batch what has become of the
list. Silent where all rows are shown as before, at the same places.
Cost: O(rows of the list) a cause and a delivery.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from overlay.answers.answer import ListAnswer
from overlay.answers.answer_table import AnswerTable
from overlay.answers.list_layout import ListLayout
from overlay.delivery.list_delivery import Placed, list_change, list_difference
from overlay.maintain.notifier import Notifier
from state.best_tree import IN, OUT


class ListChange(NamedTuple):
    """What a message does to one list. `at` is the causing row: equal for the messages of one cause.

    kind: OUT, IN or STAY.  place: where the row stood (OUT, or it is worse now) or stands.  old, new: its images, b""
    where it has none.  inside: images of the candidates in the list's range, by rank.
    """

    at: str
    kind: int
    place: int
    old: bytes
    new: bytes
    inside: Sequence[bytes]


class ListMaintainer:
    """Follows `answer`, which stands in a table of answers."""

    def __init__(self, slot: int, answer: ListAnswer, layout: ListLayout, notifier: Notifier, latest: bool) -> None:
        self.notifier = notifier
        self._slot = slot
        self._answer = answer
        self._layout = layout
        self._latest = latest
        self._told = ListAnswer(answer) if latest else None

    def take(self, causes: Sequence[ListChange], start: int, end: int, answers: AnswerTable) -> bool:
        """Apply causes[start:end], whole causes. Return True: a list has no quota."""
        while start < end:
            at, first, before = causes[start].at, start, ListAnswer(self._answer)
            while start < end and causes[start].at == at:
                moved = apply_change(self._answer, causes[start], self._layout.limit)
                start += 1
            if self._answer != before:
                answers.touch(self._slot)
            old, new = self._layout.texts(before), self._layout.texts(self._answer)
            if old == new:
                self.notifier.suppressed += start - first
                continue
            self.notifier.changes, self.notifier.at = self.notifier.changes + 1, at
            if not self._latest:
                self.notifier.tell(_difference(old, new, moved if start - first == 1 else None))
        return True

    def end(self) -> None:
        """Tell what LATEST has to."""
        if self._told is not None:
            old, new = self._layout.texts(self._told), self._layout.texts(self._answer)
            if old != new:
                self.notifier.tell(_difference(old, new, None))
        self.notifier.conflated += self.notifier.changes


Moved = tuple[int, int]
"""A place of the list before that was taken out, and one of the list afterwards that was put in; -1 for none."""


def apply_change(rows: ListAnswer, change: ListChange, limit: int) -> Moved:
    """Change a list as one message says; return what was taken out and put in.

    Raises ValueError where the list is not what the message is about.
    """
    place, before = change.place, len(rows)
    if change.kind == IN or (change.kind != OUT and not change.inside and change.old not in rows):
        rows.insert(place, change.new)
        del rows[limit:]
        return (before - 1 if before == limit else -1), place
    at = place if change.kind == OUT or change.old not in rows else rows.index(change.old)
    if at >= before or rows[at] != change.old or at < place:
        raise ValueError(f"a list of {before} rows does not have at place {place} what leaves it")
    del rows[at]
    behind = len(rows) - at
    if change.kind == OUT:
        rows += change.inside[behind : behind + 1]
        return at, (len(rows) - 1 if len(rows) == before else -1)
    if at == place and len(change.inside) > behind:
        rows.append(change.inside[behind])
        return at, len(rows) - 1
    put = place if at != place else at + len(change.inside)
    rows.insert(put, change.new)
    return at, put


def _difference(old: Sequence[str], new: Sequence[str], moved: Moved | None) -> str:
    """Return what a delivery says of a list that became another one, by one move where that is known."""
    if moved is None:
        return list_change(*list_difference(old, new))
    out, put = moved
    removed: list[Placed] = [(out, old[out])] if out >= 0 else []
    added: list[Placed] = [(put, new[put])] if put >= 0 else []
    return list_change(removed, added)
