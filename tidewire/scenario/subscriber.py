"""A subscriber as a scenario sees one: it knows only what was delivered, and checks that it fits together."""

from __future__ import annotations

from tidewire.scenario.script import Json


class Subscriber:
    """Follows one subscription's deliveries: the answer it holds, and how often it was notified.

    `fault` tells the first delivery that did not fit: a gap in `n`, an `old` that is not held, a value that goes
    and was not there, or comes and was. `rows` are the whole answer, as a query would give it.
    """

    def __init__(self) -> None:
        self.answer: Json = None
        self.rows: list[list[Json]] = []
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
            self.rows = []
        elif delivery["version"] != self._version:
            self._complain(f"a {kind} of version {delivery['version']}, the live one is {self._version}")
        if kind == "resync" and delivery["n"] == self._n:
            return
        if delivery["n"] != self._n + 1:
            self._complain(f"n = {delivery['n']} after {self._n}")
        self._n = delivery["n"]
        self.notified += 1
        if "added" in delivery:
            self._take_values(delivery["removed"], delivery["added"])
        else:
            self._take_answer(delivery["old"], delivery["new"], kind == "snapshot")
        self.live = kind != "ended"

    def counted(self) -> int:
        """Return the notifications since the last call, or since the subscription began."""
        count, self.notified = self.notified, 0
        return count

    def _take_answer(self, old: Json, new: Json, first: bool) -> None:
        if not first and old != self.answer:
            self._complain(f"old = {old!r} where {self.answer!r} was held")
        self.answer = new
        self.rows = [new] if isinstance(new, list) else [[new]]

    def _take_values(self, removed: list[Json], added: list[Json]) -> None:
        """Change the answer of a DISTINCT by its difference."""
        for value in removed:
            if [value] not in self.rows:
                self._complain(f"{value!r} was removed, and was not there")
            else:
                self.rows.remove([value])
        for value in added:
            if [value] in self.rows:
                self._complain(f"{value!r} was added, and was there")
            self.rows.append([value])

    def _complain(self, what: str) -> None:
        self.fault = self.fault or what
