"""One answer of aggregates while a batch is applied: it takes causes and says what to tell.

All messages of one cause that meet a subscription are one change, if they change what is written of the answer (what
is told rounded may stand still while the exact answer moves). EVERY CHANGE tells it at once, MIN CHANGE if the exact
answer has moved far enough from what was told, LATEST at the end of the batch; none tells what was told last.
Cost: 3 us to begin, then 0.7 us a cause, and 1.5 us a delivery and output.
"""

from __future__ import annotations

from overlay.answers.aggregate_layout import AggregateLayout
from overlay.answers.answer import AggregateAnswer, pair_of
from overlay.answers.answer_table import AnswerTable, StoredAnswer
from overlay.answers.conflation import Threshold
from overlay.delivery.delivery import moved
from overlay.maintain.notifier import Notifier
from overlay.maintain.part_change import PartChange


class AggregateMaintainer:
    """Follows `answer`, which `stored` keeps; `threshold` where the policy is MIN CHANGE."""

    def __init__(
        self,
        slot: int,
        stored: StoredAnswer,
        answer: AggregateAnswer,
        layout: AggregateLayout,
        notifier: Notifier,
        latest: bool,
        threshold: Threshold | None,
    ) -> None:
        self.notifier = notifier
        self._slot = slot
        self._stored = stored
        self._layout = layout
        self._latest = latest
        self._threshold = threshold
        self._first = answer
        self._answer = answer
        self._text: str | None = None
        if threshold is not None:
            notifier.changes = stored.untold_changes

    def take(self, causes: list[PartChange], start: int, end: int, answers: AnswerTable) -> bool:
        """Apply causes[start:end], whole causes; return True: there is no quota."""
        stored, layout, notifier = self._stored, self._layout, self.notifier
        old = self._answer
        while start < end:
            at = causes[start].at
            first = start
            start += 1
            while start < end and causes[start].at == at:
                start += 1
            new = _applied(layout, old, causes, first, start)
            if layout.differ(old, new):
                notifier.changes, notifier.at = notifier.changes + 1, at
                if self._threshold is None and not self._latest:
                    self._tell(old, new)
            if self._threshold is not None:
                self._weigh(self._threshold, new, at)
            old = new
        self._answer = stored.answer = old
        if self._threshold is not None:
            stored.untold_changes = notifier.changes
        answers.touch(self._slot)
        return True

    def end(self) -> None:
        """Tell what LATEST has to."""
        if not self._latest:
            return
        if self._layout.differ(self._first, self._answer):
            self._tell(self._first, self._answer)
        self.notifier.conflated += self.notifier.changes

    def _weigh(self, threshold: Threshold, new: AggregateAnswer, at: str) -> None:
        told = self._stored.last_told
        if threshold.reached(told, new[0]) and self._layout.differ((told,), new):
            self.notifier.at = at
            self._tell((told,), new)
            self._stored.last_told = new[0]

    def _tell(self, old: AggregateAnswer, new: AggregateAnswer) -> None:
        """Tell a change; what was told last is `old`, whose text is known from the second time on."""
        before, self._text = self._text or self._layout.text(old), self._layout.text(new)
        self.notifier.tell(moved(before, self._text))


def _applied(
    layout: AggregateLayout, old: AggregateAnswer, cause: list[PartChange], start: int, end: int
) -> AggregateAnswer:
    """Return an answer after the messages of one cause."""
    if len(old) == 1 and end == start + 1:
        _, _, rows, value, units = cause[start]
        if rows is None:
            return (value,)
        count, total = pair_of(old[0])
        return ((count + rows, total + units),)
    states = list(old)
    for i in range(start, end):
        _, channel, rows, value, units = cause[i]
        place = layout.place(channel)
        if rows is None:
            states[place] = value
        else:
            count, total = pair_of(states[place])
            states[place] = count + rows, total + units
    return tuple(states)
