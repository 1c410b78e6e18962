"""Values that many share, by number: each is there once and counted, and gone when nobody has it any more.

For the few kinds of things that Python objects are good enough for: templates, terms. Cost: 200 bytes a value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from typing import Generic, TypeVar

T = TypeVar("T", bound=Hashable)


class Interned(Generic[T]):
    """Values by number and numbers by value. Numbers are small and are used again."""

    def __init__(self) -> None:
        self._numbers: dict[T, int] = {}
        self._values: list[T | None] = []
        self._counts: list[int] = []
        self._free: list[int] = []

    def __len__(self) -> int:
        return len(self._numbers)

    def __contains__(self, value: T) -> bool:
        return value in self._numbers

    @property
    def end(self) -> int:
        """All numbers are below it."""
        return len(self._values)

    def enter(self, value: T, times: int = 1) -> int:
        """Return the value's number, counted `times` more."""
        number = self._numbers.get(value, -1)
        if number < 0:
            number = self._free.pop() if self._free else len(self._values)
            if number == len(self._values):
                self._values.append(None)
                self._counts.append(0)
            self._numbers[value], self._values[number] = number, value
        self._counts[number] += times
        return number

    def leave(self, numbers: Iterable[int]) -> None:
        """Count each number down once each time it stands there."""
        for number, times in Counter(numbers).items():
            self._counts[number] -= times
            if not self._counts[number]:
                del self._numbers[self.value(number)]
                self._values[number] = None
                self._free.append(number)

    def value(self, number: int) -> T:
        """Return the value of a number that is in use."""
        value = self._values[number]
        assert value is not None, f"number {number} is free"
        return value

    def check(self, numbers: Iterable[int]) -> None:
        """Check that each number is counted as often as it stands in `numbers`. Raises AssertionError."""
        counts = {number: count for number, count in enumerate(self._counts) if count}
        assert counts == Counter(numbers), (counts, self._numbers)
        assert {number: self._values[number] for number in counts} == {n: v for v, n in self._numbers.items()}
