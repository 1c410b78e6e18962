"""A subscriber as a scenario sees one: it knows only what was delivered, and checks that it fits together."""

from __future__ import annotations

from collections.abc import Sequence

from tidewire.scenario.script import Json

_ROWS = ("bag", "list")


class Subscriber:
    """Follows one subscription's deliveries: the answer it holds, and how often it was notified.

    `fault` tells the first delivery that did not fit: a gap in `n`, an `old` that is not held, a value or row that goes
    and was not there, a value that comes and was, a change of rows that changes none. `rows` are the whole answer, as a
    query would give it; behind SNAPSHOT NONE those that have come since. `final`: it was told that they stay so.
    """

    def __init__(self) -> None:
        self.answer: Json = None
        self.final = False
        self.rows: list[Json] = []
        self.live = False
        self.notified = 0
        self.fault: str | None = None
        self._n = 0
        self._version = -1
        self._form: str | None = None
        self._all_known = True

    def take(self, delivery: dict[str, Json]) -> None:
        """Apply one delivery record (as the topic `deliveries` holds it)."""
        kind = delivery["kind"]
        if kind == "snapshot":
            self.notified, self._n, self._version, self.live = 0, 0, delivery["version"], True
            self.final = False
            self.rows, self._form = [], delivery.get("form")
            self._all_known = "snapshot" not in delivery
        elif delivery["version"] != self._version:
            self._complain(f"a {kind} of version {delivery['version']}, the live one is {self._version}")
        elif self.final and kind != "ended":
            self._complain(f"a {kind} behind the final answer")
        if kind == "resync" and delivery["n"] == self._n:
            self._take_nothing(delivery)
            return
        if delivery["n"] != self._n + 1:
            self._complain(f"n = {delivery['n']} after {self._n}")
        self._n = delivery["n"]
        self.notified += 1
        if self._form in _ROWS:
            self._take_rows(delivery)
        elif "added" in delivery:
            self._take_values(delivery["removed"], delivery["added"])
        else:
            self._take_answer(delivery["old"], delivery["new"], kind == "snapshot")
        self.live = kind != "ended"
        self.final |= kind == "final"

    def counted(self) -> int:
        """Return the notifications since the last call, or since the subscription began."""
        count, self.notified = self.notified, 0
        return count

    def _take_nothing(self, resync: dict[str, Json]) -> None:
        """Check that a resync which is no notification tells nothing."""
        if self._form in _ROWS and (not resync.get("same") or resync["removed"] or resync["added"]):
            self._complain(f"a resync without a new n that does not say `same`: {resync}")

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

    def _take_rows(self, delivery: dict[str, Json]) -> None:
        """Change a bag or a list by its difference, or take all of it anew."""
        before, kind = self.rows, delivery["kind"]
        self.rows = [] if "whole" in delivery else list(before)
        if "whole" in delivery:
            self._all_known = delivery["whole"] is True
        if self._form == "list":
            self._take_places(delivery["removed"], delivery["added"])
        else:
            key = delivery.get("key")
            self._take_from_bag(delivery["removed"], key)
            if key is not None:
                self.rows = [one for one in self.rows if not any(_alike(one, row, key) for row in delivery["added"])]
            self.rows += delivery["added"]
        if kind == "ended":
            self.rows = []
        elif (
            kind not in ("snapshot", "final") and self._is_all_told(delivery) and self._are_the_same(before, self.rows)
        ):
            self._complain(f"a {kind} that changes nothing: {delivery}")

    def _take_from_bag(self, removed: list[Json], key: Sequence[int] | None) -> None:
        for row in removed:
            found = next((i for i, one in enumerate(self.rows) if _alike(one, row, key)), None)
            if found is not None:
                del self.rows[found]
            elif self._all_known:
                self._complain(f"{row!r} was removed, and was not there")

    def _take_places(self, removed: list[Json], added: list[Json]) -> None:
        for place, row in removed:
            if not 0 <= place < len(self.rows) or not _alike(self.rows[place], row, None):
                self._complain(f"{row!r} was removed at place {place} of {self.rows!r}, and was not there")
            else:
                del self.rows[place]
        for place, row in added:
            if not 0 <= place <= len(self.rows):
                self._complain(f"{row!r} was added at place {place} of {self.rows!r}")
            self.rows.insert(place, row)

    def _is_all_told(self, delivery: dict[str, Json]) -> bool:
        """Whether all that changes in the answer is told, so that what is told has to change it."""
        return self._all_known and "key" not in delivery

    def _are_the_same(self, before: list[Json], after: list[Json]) -> bool:
        if self._form == "list":
            return list(map(repr, before)) == list(map(repr, after))
        return sorted(map(repr, before)) == sorted(map(repr, after))

    def _complain(self, what: str) -> None:
        self.fault = self.fault or what


def _alike(one: Json, other: Json, key: Sequence[int] | None) -> bool:
    """Whether two rows are written alike, or have the same key where rows go by it: 1 is not true."""
    if key is None:
        return repr(one) == repr(other)
    return all(repr(one[place]) == repr(other[place]) for place in key)
