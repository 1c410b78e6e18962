"""Large answers that were looked at since the last step, each made once for all who ask.

The text of a DISTINCT of 50,000 values takes 10 ms and half a megabyte. Many readers may come for it at the same time,
on purpose or because a page is popular; until the next step begins memory does not change, so what the first of them
was told is what all are to be told.

Cost: that of `find`, once a step for each large answer. Memory: `MOST_BYTES`, or one answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from connectors.http.answer import Found

LARGE_BYTES = 16_384
"""Smaller ones are sooner made than kept."""
MOST_BYTES = 8 << 20

A = TypeVar("A")


class LargeAnswers:
    """Remembers them. To be asked within `CommittedView.read` only, which is one thread at a time.

    `steps` counts the steps of the memory that is looked at.
    """

    def __init__(self, steps: Callable[[], int]) -> None:
        self._steps = steps
        self._step = 0
        self._found: dict[bytes, Found] = {}
        self._bytes = 0

    def find(self, key: bytes, find: Callable[[bytes], A]) -> A | Found:
        """Return `find(key)`, the same object again if it is large and no step has begun since."""
        if self._step != self._steps():
            self._step = self._steps()
            self._found, self._bytes = {}, 0
        known = self._found.get(key)
        if known is not None:
            return known
        answer = find(key)
        if isinstance(answer, Found) and answer.size >= LARGE_BYTES:
            self._keep(key, answer)
        return answer

    def _keep(self, key: bytes, answer: Found) -> None:
        self._found[key] = answer
        self._bytes += answer.size
        while self._bytes > MOST_BYTES and len(self._found) > 1:
            oldest = next(iter(self._found))
            self._bytes -= self._found.pop(oldest).size
