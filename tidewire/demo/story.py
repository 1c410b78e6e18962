"""What a demo shows: tables, what happens to them, and what is asked of them."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from tidewire.client.records import Answer, Delivery
from tidewire.demo.pace import Pace

Family = Callable[[random.Random], tuple[str, str]]
"""A kind of question: makes the name and the SQL of one more subscription."""
SEED = 2013


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happens to `table` at `minute` since the first day began.

    `row` is what the row of this `key` is from then on, None where it goes; or a row of a stream, whose key is empty,
    and which is told in a `partition`, as others are in that of their key.
    """

    minute: float
    table: str
    key: dict[str, Any]
    row: dict[str, Any] | None
    partition: int | None = None


class Claim(Protocol):
    """What a story promises of all that is told, beside that each delivery is right."""

    def told(self, delivery: Delivery) -> None:
        """Note a delivery."""

    def rows(self) -> list[tuple[str, Any]]:
        """Return what was found so far, as (what, value) for a person."""
        ...

    @property
    def holds(self) -> bool:
        """Whether nothing was told that breaks it."""
        ...


class NoClaim:
    """Nothing more is promised."""

    holds = True

    def told(self, delivery: Delivery) -> None:
        """Any delivery will do."""

    def rows(self) -> list[tuple[str, Any]]:
        """Nothing is found."""
        return []


def plain(value: Answer) -> str:
    """Return an answer of one value or several as people read it."""
    if isinstance(value, list):
        return ", ".join(map(plain, value))
    return "none" if value is None else str(value)


@dataclass(frozen=True, slots=True)
class Story:
    """`events` in the order in which they happened; `asked` has the SQL of each subscription by its id.

    `title` and `about` are what a person reads above the numbers, and before they begin; `written` is how answers
    are written for them. `kills` is how many SIGKILLs fall on engine and edge meanwhile. Topics have so many
    `partitions`, None as many as they have anyhow. `silences` are the times up to which streams are said to be silent
    when all is published.
    """

    title: str
    about: str
    ddl: str
    events: list[Event]
    asked: dict[str, str]
    pace: Pace
    written: Callable[[Answer], str] = plain
    claim: Claim = field(default_factory=NoClaim)
    kills: int = 0
    partitions: int | None = None
    silences: Mapping[str, dt.datetime] = field(default_factory=dict)

    @property
    def tables(self) -> list[str]:
        """The tables and streams to which something happens."""
        return sorted({event.table for event in self.events})


def ask(families: Sequence[Family], count: int) -> dict[str, str]:
    """Return `count` subscriptions by id, the same in each run: in turn one of each family."""
    choose = random.Random(SEED)
    asked: dict[str, str] = {}
    for number in range(count):
        name, sql = families[number % len(families)](choose)
        asked[f"{number:04} {name}"] = sql
    return asked
