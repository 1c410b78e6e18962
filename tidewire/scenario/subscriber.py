"""A subscriber as a scenario sees one: it knows only what was delivered, and checks that it fits together."""

from __future__ import annotations

from tidewire.scenario.script import Json


class Subscriber:
    """Follows one subscription's deliveries: the answer it holds, and how often it was notified.

    `fault` tells the first delivery that did not fit: a gap in `n`, or an `old` that is not the value held.
    """

    def __init__(self) -> None:
        self.answer: Json = None
        self.live = False
        self.notified = 0
        self.fault: str | None = None
        self._n = 0
        self._version = -1

    def take(self, delivery: dict[str, Json]) -> None:
        """Apply one delivery record (as the topic `deliveries` holds it)."""
        kind = delivery["kind"]
        if kind == "snapshot":
            self.notified, self._n, self._version, self.live = 0, 0, delivery["version"], True
        elif delivery["version"] != self._version:
            self._complain(f"a {kind} of version {delivery['version']}, the live one is {self._version}")
        if kind == "resync" and delivery["n"] == self._n:
            return
        if delivery["n"] != self._n + 1:
            self._complain(f"n = {delivery['n']} after {self._n}")
        if kind != "snapshot" and delivery["old"] != self.answer:
            self._complain(f"old = {delivery['old']!r} where {self.answer!r} was held")
        self._n = delivery["n"]
        self.notified += 1
        self.answer = delivery["new"]
        self.live = kind != "ended"

    def counted(self) -> int:
        """Return the notifications since the last call, or since the subscription began."""
        count, self.notified = self.notified, 0
        return count

    def _complain(self, what: str) -> None:
        self.fault = self.fault or what
