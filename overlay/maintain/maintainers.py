"""Who follows an answer that is kept one by one while a batch is applied: the registry of kinds of answers.

A maintainer takes the causes that meet its subscription, in order, changes the answer and says what to tell: `take`
applies whole causes and returns False once the answer is over its quota, `end` closes the batch. What it has told and
counted stands in its `notifier`.
"""

from __future__ import annotations

from typing import Any

from overlay.answers.aggregate_layout import AggregateLayout
from overlay.answers.answer import SetAnswer
from overlay.answers.answer_layout import AnswerLayout
from overlay.answers.answer_table import StoredAnswer
from overlay.answers.conflation import Threshold
from overlay.answers.set_layout import SetLayout
from overlay.maintain.aggregate import AggregateMaintainer
from overlay.maintain.distinct import SetMaintainer
from overlay.maintain.notifier import Notifier

Maintainer = AggregateMaintainer | SetMaintainer


def maintainer_of(
    slot: int,
    stored: StoredAnswer,
    layout: AnswerLayout[Any],
    notifier: Notifier,
    latest: bool,
    threshold: Threshold | None,
) -> Maintainer:
    """Return what follows an answer in a batch. Raises ValueError where its kind is not that of its shape's layout."""
    match layout, stored.answer:
        case AggregateLayout() as aggregates, tuple() as answer:
            return AggregateMaintainer(slot, stored, answer, aggregates, notifier, latest, threshold)
        case SetLayout() as members, SetAnswer() as values:
            return SetMaintainer(slot, values, members, notifier, latest)
        case other, kept:
            raise ValueError(f"slot {slot} keeps {type(kept).__name__}, expected what {type(other).__name__} reads")
