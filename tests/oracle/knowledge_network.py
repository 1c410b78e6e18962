"""The model of the protocol: nodes, links that lose, repeat and reorder, and nodes that lose what they know.

Every run is one of a random schedule: a publisher says its next tick, a link delivers something, a node tells what it
has not told, somebody asks for what is missing, a node's memory is copied, a node loses its memory, or gets the copy.
Links are fair in the end and nobody loses anything then, so everything has to become final.
"""

from __future__ import annotations

from collections import Counter
from copy import deepcopy
from dataclasses import dataclass, field
from random import Random
from typing import Any

from state.lattices.lattice import Contradiction
from tests.oracle.knowledge_nodes import Availability, Memory, Node, Subscriber, Told, Totals, Unsafe
from tests.oracle.knowledge_world import BOOKED, FLIGHTS, HOURS, Event, World

QUIET, STEPS = 600, 4_000
"""From which step on nothing is lost any more, and when a run that is not done is stuck."""
SOURCES = {"F": "Availability", "B0": "Totals", "B1": "Totals"}
VIEWS = (("Totals", "Availability"), ("Availability", "Subscriber"), ("Totals", "Subscriber"))
_PASSED = {"Totals": BOOKED, "Availability": ("F",)}
"""Of which domains a node says how far it knows them."""
_WANTED = {("Totals", "Availability"): "T", ("Availability", "Subscriber"): "A", ("Totals", "Subscriber"): "H"}


@dataclass
class Network:
    """One run. `seen` counts what happened."""

    rng: Random
    mutant: str = ""
    seen: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        rng = self.rng
        self.world = World.drawn(rng)
        kinds = (Totals, Availability, Subscriber)
        self.nodes: dict[str, Node] = {kind.__name__: kind(self.world, self.mutant) for kind in kinds}
        self.links: dict[tuple[str, str], list[Any]] = {link: [] for link in [*SOURCES.items(), *VIEWS]}
        self.sent = dict.fromkeys(SOURCES, 0)
        self.told: dict[tuple[str, str, int], int] = {}
        self.copies: dict[str, Memory] = {}
        self.loss, self.repeats = rng.choice((0, 0.2, 0.5)), rng.choice((0, 0.3))
        self.crashes = rng.choice((0, 0, 1, 3))
        self.step = 0

    def run(self) -> str:
        """Return `done`, or what went wrong: `unsafe: ...`, `stuck`."""
        try:
            for self.step in range(STEPS):
                self._act()
                if self.step % 20 == 0 and self._done():
                    return "done"
        except (Unsafe, Contradiction) as wrong:
            return f"unsafe: {wrong}"
        return "stuck"

    def _act(self) -> None:
        roll = self.rng.random()
        if roll < 0.25:
            self._publish()
        elif roll < 0.65:
            self._deliver()
        elif roll < 0.85:
            self._tell(*self.rng.choice(VIEWS))
        elif roll < 0.97:
            if self.mutant != "no curiosity":
                self._ask(*self.rng.choice(list(self.links)))
        elif self.rng.random() < 0.3:
            name = self.rng.choice(list(self.nodes))
            self.copies[name] = deepcopy(self.nodes[name].memory)
        elif self.crashes and self.step < QUIET:
            self._crash()

    def _publish(self) -> None:
        """Say the next event with the silence before it."""
        domain = self.rng.choice(list(SOURCES))
        log, low = self.world.log[domain], self.sent[domain]
        if low == len(log):
            return
        tick = low
        while tick < len(log) - 1 and log[tick] is None and self.rng.random() < 0.6:
            tick += 1
        self.sent[domain] = tick + 1
        self._post((domain, SOURCES[domain]), (low, tick + 1, tick, log[tick]))

    def _post(self, link: tuple[str, str], message: Any) -> None:
        self.seen["messages"] += 1
        if self.step < QUIET and self.rng.random() < self.loss:
            self.seen["lost"] += 1
            return
        self.links[link].append(message)
        if self.rng.random() < self.repeats:
            self.links[link].append(message)
            self.seen["repeated"] += 1

    def _deliver(self) -> None:
        """Let something arrive, in any order."""
        link = self.rng.choice(list(self.links))
        waiting = self.links[link]
        if not waiting:
            return
        message, (source, target) = waiting.pop(self.rng.randrange(len(waiting))), link
        if source in SOURCES:
            self.nodes[target].take(source, *message)
        else:
            self.nodes[target].hear(source, message)

    def _tell(self, source: str, target: str) -> None:
        node = self.nodes[source]
        place = source, target, node.incarnation
        self._answer(source, target, self.told.get(place, 0), node.memory.said)
        self.told[place] = node.memory.said

    def _answer(self, source: str, target: str, low: int, high: int) -> None:
        """Post the cells that a node numbered low..high, and how far it knows its inputs."""
        node = self.nodes[source]
        cells = {
            place: node.memory.cells[place].copy()
            for place, number in node.memory.numbers.items()
            if low <= number < high and place[0] == _WANTED[source, target]
        }
        upto = {domain: node.horizon(domain) for domain in _PASSED[source]}
        self._post((source, target), Told(node.incarnation, low, high, cells, upto, node.memory.said))

    def _ask(self, source: str, target: str) -> None:
        """Ask for the gaps, or else for what comes next: the log answers for a publisher, a node for itself."""
        self.seen["asked"] += 1
        node = self.nodes[target]
        if source in SOURCES:
            known = node.ticks(source)
            for low, high in known.gaps or ((known.horizon, self.sent[source]),):
                self._from_log(source, target, low, min(high, self.sent[source]))
            return
        upstream = self.nodes[source]
        current = node.memory.of.get(source, upstream.incarnation) == upstream.incarnation
        heard = node.heard(source) if current else None
        gaps = () if heard is None else heard.gaps
        horizon = 0 if heard is None else heard.horizon
        for low, high in gaps or ((horizon, max(horizon, upstream.memory.said)),):
            self._answer(source, target, low, high)

    def _from_log(self, source: str, target: str, low: int, high: int) -> None:
        log: list[Event | None] = self.world.log[source]
        for tick in range(low, high):
            if log[tick] is not None:
                self._post((source, target), (low, tick + 1, tick, log[tick]))
                low = tick + 1
        if low < high:
            self._post((source, target), (low, high, low, None))

    def _crash(self) -> None:
        name = self.rng.choice(list(self.nodes))
        self.crashes -= 1
        self.seen["crashes"] += 1
        copy = self.copies.get(name) if self.rng.random() < 0.5 else None
        self.seen["from copies"] += copy is not None
        self.nodes[name].lose(deepcopy(copy))

    def _done(self) -> bool:
        """Whether all is said, and final where it is subscribed to; what is final is true by `Node.set`."""
        if any(self.sent[domain] < self.world.end(domain) for domain in SOURCES):
            return False
        cells, seats = self.nodes["Subscriber"].memory.cells, self.nodes["Availability"].memory.cells
        wanted = [cells.get("cheapest"), *(cells.get(("Totals", ("H", hour))) for hour in range(HOURS))]
        wanted += [seats.get(("A", flight)) for flight in range(FLIGHTS)]
        if not all(cell is not None and cell.final for cell in wanted):
            return False
        self.seen["finals"] += len(wanted)
        assert wanted[0].now == self.world.cheapest()
        assert [cell.now for cell in wanted[1 : 1 + HOURS]] == [self.world.high(hour) for hour in range(HOURS)]
        return True
