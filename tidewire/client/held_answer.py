"""The answer that a subscriber holds after its deliveries, taken one after the other.

    held = HeldAnswer()
    for delivery in client.deliveries(["dear"], from_beginning=True):
        if held.take(delivery):
            print(held.answer)

    form    begins with                                a delivery                    answer
    value   any delivery                               old, new                      a value, or a list of several
    set     snapshot                                   removed, added: values        a list of values
    bag     snapshot, whole resync, rows looked up     removed, added: rows          a list of rows, in no order
    list    snapshot, whole resync                     removed, added: places, rows  a list of rows, in order

A row is a tuple, its values in the order of the SELECT list. While not all of an answer is known, `answer` is None and
`whole` is False: before a snapshot, after SNAPSHOT NONE, after an end, and where a delivery is missing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, cast

from catalog.types.column_type import JsonValue
from tidewire.client.members import members_after
from tidewire.client.records import Answer, Delivery, Row

BAG, LIST = "bag", "list"
_NOWHERE = (-1, 0)


class HeldAnswer:
    """Of one subscription. Cost: of a delivery O(what it tells), for a set and a list O(answer)."""

    def __init__(self) -> None:
        self.form: str | None = None
        self.whole = False
        self._mark = _NOWHERE
        self._key: tuple[int, ...] = ()
        self._answer: Any = None
        self._rows: Counter[Row] = Counter()
        self._by_key: dict[Row, Row] = {}

    @property
    def mark(self) -> tuple[int, int]:
        """Version and n of the newest delivery that was taken; (-1, 0) before the first."""
        return self._mark

    @property
    def answer(self) -> Answer | list[Row]:
        """The answer, None as well where it is not whole."""
        if not self.whole:
            return None
        if self.form == BAG:
            return [*self._by_key.values(), *self._rows.elements()]
        return list(self._answer) if isinstance(self._answer, list) else cast(Answer, self._answer)

    @property
    def rows(self) -> Counter[Row]:
        """How often each row stands in a bag; empty where it is not whole."""
        return self._rows + Counter(self._by_key.values()) if self.whole else Counter()

    def take(self, told: Delivery) -> bool:
        """Take a delivery; return whether it is news: one that was taken before changes nothing."""
        mark = told.version, told.n
        if mark <= self._mark or told.same:
            return False
        follows = told.version == self._mark[0] and (told.n == self._mark[1] + 1 or told.conflated)
        self._mark = mark
        if told.kind == "ended":
            self._forget()
        elif told.added is None:
            self.whole, self._answer = True, told.new
        elif told.kind == "snapshot" or told.whole:
            self._forget()
            self.form, self._key = told.form, told.key or ()
            self.whole = told.snapshot is None and told.whole in (False, True)
            self._change(told)
        elif follows and self.whole:
            self._change(told)
        else:
            self.whole = False
        return True

    def begin(self, version: int, n: int, rows: Iterable[Sequence[JsonValue]]) -> bool:
        """Hold a bag as it was looked up: `GET /subscriptions/{id}/rows` says version, n and rows.

        Returns whether it does: not where deliveries behind it were taken already. Then look again, and take none
        before the rows are there.
        """
        if (version, n) < self._mark:
            return False
        self._forget()
        self.form, self.whole, self._mark = BAG, True, (version, n)
        self._add(tuple(row) for row in rows)
        return True

    def _forget(self) -> None:
        self.whole, self._answer = False, None
        self._rows, self._by_key = Counter(), {}

    def _change(self, told: Delivery) -> None:
        removed, added = told.removed or [], told.added or []
        if self.form == BAG:
            for row in cast(list[Row], removed):
                self._remove(row)
            self._add(cast(list[Row], added))
        elif self.form == LIST:
            rows: list[Row] = self._answer or []
            self._answer = listed_after(rows, removed, added)
        else:
            self._answer = members_after(self._answer, cast(list[JsonValue], removed), cast(list[JsonValue], added))

    def _remove(self, row: Row) -> None:
        if self._key:
            self._by_key.pop(self._key_of(row), None)
            return
        self._rows[row] -= 1
        if self._rows[row] <= 0:
            del self._rows[row]

    def _add(self, rows: Iterable[Row]) -> None:
        if self._key:
            self._by_key.update((self._key_of(row), row) for row in rows)
        else:
            self._rows.update(rows)

    def _key_of(self, row: Row) -> Row:
        return tuple([row[place] for place in self._key])


def listed_after(rows: Sequence[Row], removed: Iterable[Any], added: Iterable[Any]) -> list[Row]:
    """Return a list without the rows at places that are removed, from behind, and with those added, from the front.

    >>> listed_after([("a",), ("b",)], [(1, ("b",))], [(0, ("c",))])
    [('c',), ('a',)]
    """
    left = list(rows)
    for place, _ in sorted(removed, key=_place, reverse=True):
        del left[place]
    for place, row in sorted(added, key=_place):
        left.insert(place, row)
    return left


def _place(member: tuple[int, Row]) -> int:
    return member[0]
