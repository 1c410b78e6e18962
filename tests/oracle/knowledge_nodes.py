"""The nodes of the model: what each knows, and what it makes of what it hears (Relational 3.1, 3.2).

    F ──────────────────────────┐
    B0 ─┐                       ▼
        ├─► Totals (T, H) ─► Availability (A) ─► Subscriber: cheapest 2, High
    B1 ─┘        └──────────────────────────────►

Rules, each of which has a mutant that leaves it out:

1. *no dedupe*: a node keeps which ticks its sums hold; what is there already is not added again.
2. *silence of one input*: a domain of several is silent only where all are.
3. *ticks without values*: what is lost together is kept together, ticks with what was made of them.
4. *horizon before gap*: what a node says of its own inputs holds once all that it said before is here.
5. *no incarnation*: a node that lost its state numbers its statements anew; so they name its incarnation.
6. *final over maybe*: a list is not final while a candidate that may drop out, or come back, stands in it.
7. *no curiosity*: what is missing, or stands still, is asked for again.

At every step each cell may only have grown, and must admit what is true; else the node raises Unsafe.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any

from state.lattices.choice import Choice
from state.lattices.row import Row
from state.lattices.span import Span, difference
from state.lattices.tick_ranges import TickRanges
from state.lattices.truth import less
from tests.oracle.knowledge_world import BOOKED, FLIGHTS, HOURS, Event, K, World

MUTANTS = (
    "no dedupe",
    "silence of one input",
    "ticks without values",
    "horizon before gap",
    "no incarnation",
    "final over maybe",
    "no curiosity",
)
Key = tuple[str, int]
"""What a cell is about: T of a flight, H of an hour, A of a flight."""


class Unsafe(Exception):
    """A node knows something that is not true, or forgot something."""


@dataclass(frozen=True)
class Told:
    """What a node says: the cells that it numbered low..high, and how far it knows its own inputs.

    The latter holds for who has all that it numbered below `need`.
    """

    incarnation: int
    low: int
    high: int
    cells: Mapping[Key, Any]
    upto: Mapping[str, int]
    need: int


@dataclass
class Memory:
    """What is lost together. `numbers`: of each cell the number under which it was last said."""

    ticks: dict[str, TickRanges] = field(default_factory=dict)
    cells: dict[Any, Any] = field(default_factory=dict)
    numbers: dict[Any, int] = field(default_factory=dict)
    said: int = 0
    flights: dict[int, Event] = field(default_factory=dict)
    sums: dict[int, int] = field(default_factory=dict)
    highs: dict[int, int] = field(default_factory=dict)
    heard: dict[str, TickRanges] = field(default_factory=dict)
    of: dict[str, int] = field(default_factory=dict)
    waiting: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    upto: dict[str, int] = field(default_factory=dict)


class Node:
    """What all nodes have; `mutant` names the rule that is left out."""

    def __init__(self, world: World, mutant: str) -> None:
        self.world = world
        self.mutant = mutant
        self.incarnation = 0
        self.memory = Memory()

    def lose(self, copy: Memory | None) -> None:
        """Begin anew, from an old copy of the memory if there is one."""
        ticks = self.memory.ticks
        self.memory = copy or Memory()
        if self.mutant == "ticks without values":
            self.memory.ticks = ticks
        if self.mutant != "no incarnation":
            self.incarnation += 1

    def ticks(self, domain: str) -> TickRanges:
        return self.memory.ticks.setdefault(domain, TickRanges())

    def heard(self, source: str) -> TickRanges:
        return self.memory.heard.setdefault(source, TickRanges())

    def horizon(self, domain: str) -> int:
        """Return up to where all of a domain is known, here or by what others said."""
        own = self.memory.ticks.get(domain)
        return self.memory.upto.get(domain, 0) if own is None else own.horizon

    def take(self, domain: str, low: int, high: int, tick: int, event: Event | None) -> None:
        """Take a record: ticks `low`..`high` are silent, but for `event` at `tick`."""
        fresh = self.ticks(domain).add(low, high)
        if event is not None and (self.mutant == "no dedupe" or any(a <= tick < b for a, b in fresh)):
            self.fold(domain, tick, event)
        self.refresh()

    def hear(self, source: str, told: Told) -> None:
        """Take what another node says."""
        memory = self.memory
        known = memory.of.get(source, -1)
        if told.incarnation < known:
            return
        if told.incarnation > known:
            memory.of[source], memory.heard[source] = told.incarnation, TickRanges()
            memory.waiting = {key: held for key, held in memory.waiting.items() if key[0] != source}
        fresh = self.heard(source).add(told.low, told.high)
        if self.mutant == "no incarnation" and told.low < told.high and not fresh:
            return  # taken for a repeat
        for key, statement in told.cells.items():
            held = memory.cells.get((source, key))
            merged = statement.copy() if held is None else held.copy()
            merged.merge(statement)
            self.set((source, key), merged, key)
        for domain, upto in told.upto.items():
            memory.waiting[source, domain] = max(memory.waiting.get((source, domain), (0, 0)), (upto, told.need))
        self._settle(source)
        self.refresh()

    def _settle(self, source: str) -> None:
        for (each, domain), (upto, need) in self.memory.waiting.items():
            if each == source and (self.heard(source).horizon >= need or self.mutant == "horizon before gap"):
                self.memory.upto[domain] = max(self.memory.upto.get(domain, 0), upto)

    def set(self, place: Any, new: Any, key: Key) -> None:
        """Keep what is known of a cell, which must have grown and admit what is true."""
        old = self.memory.cells.get(place)
        if old is not None and not old.leq(new):
            raise Unsafe(f"{key}: {old} does not evolve to {new}")
        if not self._admits(key, new):
            raise Unsafe(f"{key}: {new} excludes what is true")
        if old is None or not new.leq(old):
            self.memory.cells[place] = new
            self.memory.numbers[place] = self.memory.said
            self.memory.said += 1

    def _admits(self, key: Key, value: Any) -> bool:
        kind, of = key
        if kind == "A":
            seats, price = value.values
            return bool(seats.admits(self.world.available(of)) and price.admits(self.world.price(of)))
        return bool(value.admits(self.world.total(of) if kind == "T" else self.world.high(of)))

    def fold(self, domain: str, tick: int, event: Event) -> None:
        """Add an event to what is kept."""

    def refresh(self) -> None:
        """Make the own cells of what is known."""


class Totals(Node):
    """SUM(n) by flight and MAX(n) by hour, of both publishers of bookings."""

    def fold(self, domain: str, tick: int, event: Event) -> None:
        flight, n = event
        hour, memory = self.world.hour(domain, tick), self.memory
        memory.sums[flight] = memory.sums.get(flight, 0) + n
        memory.highs[hour] = max(memory.highs.get(hour, n), n)

    def refresh(self) -> None:
        world = self.world
        for flight in range(FLIGHTS):
            total = self.memory.sums.get(flight, 0)
            end = total if self._known({domain: world.end(domain) for domain in BOOKED}) else inf
            self.set(("T", flight), Span(total, end, False, total), ("T", flight))
        for hour in range(HOURS):
            high = self.memory.highs.get(hour)
            if self._known({domain: world.hour_end(domain, hour) for domain in BOOKED}):
                known = Span.of(high)
            else:
                known = Span() if high is None else Span(high, inf, False, high)
            self.set(("H", hour), known, ("H", hour))

    def _known(self, ends: Mapping[str, int]) -> bool:
        known = [self.horizon(domain) >= end for domain, end in ends.items()]
        return any(known) if self.mutant == "silence of one input" else all(known)


class Availability(Node):
    """Seats left and price, by flight."""

    def fold(self, domain: str, tick: int, event: Event) -> None:
        self.memory.flights[event[0]] = event

    def refresh(self) -> None:
        for flight, seats, price in self.memory.flights.values():
            total = self.memory.cells.get(("Totals", ("T", flight)), Span(0, inf, False, 0))
            left = Row((difference(Span.of(seats), total), Span.of(price)))
            self.set(("A", flight), left, ("A", flight))


class Subscriber(Node):
    """The two cheapest flights with a seat left."""

    def refresh(self) -> None:
        candidates = {}
        for flight in range(FLIGHTS):
            known = self.memory.cells.get(("Availability", ("A", flight)))
            if known is not None:
                seats, price = known.values
                candidates[flight] = price.low, less(Span.of(0), seats)
        choice = Choice(K, candidates, self.horizon("F") < self.world.end("F"))
        final = not choice.open if self.mutant == "final over maybe" else choice.final
        if final and choice.now != self.world.cheapest():
            raise Unsafe(f"cheapest is final and wrong: {choice}")
        old = self.memory.cells.get("cheapest")
        if old is not None and not old.leq(choice):
            raise Unsafe(f"cheapest: {old} does not evolve to {choice}")
        self.memory.cells["cheapest"] = choice
