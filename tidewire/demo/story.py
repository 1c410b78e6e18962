"""What a demo shows: tables, what happens to them, and what is asked of them."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Family = Callable[[random.Random], tuple[str, str]]
"""A kind of question: makes the name and the SQL of one more subscription."""
_SEED = 2013


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happens to `table` at `minute` since the first day began.

    `row` is what the row of this `key` is from then on, None where it goes.
    """

    minute: float
    table: str
    key: dict[str, Any]
    row: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class Story:
    """`events` in the order in which they happened; `asked` has the SQL of each subscription by its id.

    `title` and `about` are what a person reads above the numbers, and before they begin.
    """

    title: str
    about: str
    ddl: str
    events: list[Event]
    asked: dict[str, str]

    @property
    def tables(self) -> list[str]:
        """The tables to which something happens."""
        return sorted({event.table for event in self.events})


def ask(families: Sequence[Family], count: int) -> dict[str, str]:
    """Return `count` subscriptions by id, the same in each run: in turn one of each family."""
    choose = random.Random(_SEED)
    asked: dict[str, str] = {}
    for number in range(count):
        name, sql = families[number % len(families)](choose)
        asked[f"{number:04} {name}"] = sql
    return asked
