"""When the answer to a question about windows of a stream's event time must be told to be final."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from tidewire.verification.input.stream_walk import Mark

_EPOCH = dt.datetime(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class Finality:
    """`when` the last window ends that is asked about, in microseconds since 1970; None: never. `gone`: from when on
    rows of the first one may have gone, so that nothing final can be told any more.

    marks: how far the stream was at the end of each batch of an epoch.  exact: they are known, and not only that the
    stream was no further.
    """

    when: int | None
    marks: Sequence[Mark]
    exact: bool
    gone: int | None = None

    @property
    def upto(self) -> str | None:
        """The moment as deliveries write it."""
        return None if self.when is None else (_EPOCH + dt.timedelta(microseconds=self.when)).isoformat()

    def due(self, behind: int) -> int | None:
        """Return the first batch behind another one at the end of which the answer is final."""
        if self.when is None:
            return None
        reached = (
            mark.batch
            for mark in self.marks
            if mark.batch > behind and mark.upto is not None and mark.upto >= self.when
        )
        return next(reached, None)

    def is_gone(self, behind: int | None = None) -> bool:
        """Whether rows that are asked about may have gone at the end of a batch; without one, of any."""
        found = (mark.upto for mark in self.marks if mark.upto is not None and (behind is None or mark.batch == behind))
        return self.gone is not None and any(upto >= self.gone for upto in found)
