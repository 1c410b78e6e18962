"""Which lines of an input, sent in order, the broker has acknowledged.

Several partitions acknowledge out of order, so two numbers count: `written`, how many records there are before the
first one that is not acknowledged, and `open`, how many follow from that one on. Of the former it is sure that they
stand in their topics; of the latter nobody can say. Whoever goes on goes on at `next_line`.

    line            1   2       4   5        6            (line 3 is blank)
    acknowledged    x   x           x
                        written = 2 ... next_line = 4, open = 3

*Cost*: O(1) a record, 0.5 us; memory for those that are open.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial


class AcknowledgedLines:
    """Records by their lines, the input being read from line `first` on. All is called in one thread."""

    def __init__(self, first: int = 1) -> None:
        self.written = 0
        self.acknowledged = 0
        """All acknowledgements, those of open records among them."""
        self._open: deque[list[int]] = deque()
        self._last = first - 1

    @property
    def open(self) -> int:
        """How many records there are from the first one on that is not acknowledged."""
        return len(self._open)

    @property
    def next_line(self) -> int:
        """The first line of which it is not sure that it is written."""
        return self._open[0][0] if self._open else self._last + 1

    def sent(self, line: int) -> Callable[[int, int], None]:
        """Note that the record of a line is sent; return what is to be called once it is acknowledged."""
        waiting = [line]
        self._open.append(waiting)
        self._last = line
        return partial(self._acknowledge, waiting)

    def passed(self, line: int) -> None:
        """Note that a line has no record to be sent."""
        self._last = line

    def _acknowledge(self, waiting: list[int], partition: int, offset: int) -> None:
        waiting.append(offset)
        self.acknowledged += 1
        while self._open and len(self._open[0]) > 1:
            self._open.popleft()
            self.written += 1
