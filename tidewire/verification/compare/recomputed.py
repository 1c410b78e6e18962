"""What the input says about a question in one epoch, which deliveries are compared with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tidewire.verification.compare.finality import Finality
from tidewire.verification.input.ordering import TakenRecords
from tidewire.verification.recompute.answers import Answers
from tidewire.verification.records.batches import Position
from tidewire.verification.records.lifetimes import Life
from tidewire.verification.records.policy import EVERY_CHANGE, Policy


@dataclass(frozen=True, slots=True)
class Recomputed:
    """What the input of a table, or of those of a view or cell, says in one epoch about one query.

    `answers` is None where the input is gone. `subject` is what was asked about, by name and `born`; None where that is
    what took the `sequence`. `finality` says when the answer is final, None where that cannot be told.
    """

    sequence: TakenRecords
    answers: Answers | None
    policy: Policy = EVERY_CHANGE
    subject: tuple[str, int] | None = None
    finality: Finality | None = None


Recompute = Callable[[Life, Position], Recomputed]
"""Recompute the answers of a life in the epoch of a position at which it was live. Raises Unreadable."""
