"""What is late in one partition of a stream, row by row: of the rows and of where silences have counted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

NEVER = -(2**63)


@dataclass
class NaiveDomain:
    """One partition, read from its beginning."""

    lateness: int
    ahead: int
    reached: int = NEVER
    held: int | None = None

    def floor(self) -> int:
        if self.held is not None:
            return self.held
        return NEVER if self.reached == NEVER else self.reached - self.lateness

    def row(self, time: int, stamp: int) -> str:
        """Take a row; return why it does not count, '' if it does."""
        if time < self.floor():
            return "late"
        if time > stamp + self.ahead:
            return "ahead"
        self.reached = max(self.reached, time)
        return ""

    def quiet(self, silences: Iterable[tuple[bool, int]]) -> None:
        """Take what counts at one place: (hole, upto)."""
        for hole, upto in sorted(silences, reverse=True):
            if hole:
                self.held = self.floor() if self.held is None else self.held
            else:
                self.reached, self.held = max(self.reached, upto), None


def floors(
    rows: Iterable[tuple[int, int, int]], quiet: Iterable[tuple[int, bool, int]], end: int, lateness: int, ahead: int
) -> tuple[dict[int, str], list[int]]:
    """Return why rows (offset, time, stamp) do not count, and the floor before each offset up to `end`, where all that
    stands at this place has counted; `quiet` are (after, hole, upto)."""
    domain, why, out = NaiveDomain(lateness, ahead), dict[int, str](), list[int]()
    by_offset = {offset: (time, stamp) for offset, time, stamp in rows}
    for offset in range(end + 1):
        domain.quiet([(hole, upto) for after, hole, upto in quiet if after == offset])
        out.append(domain.floor())
        if offset in by_offset:
            why[offset] = domain.row(*by_offset[offset])
    return why, out
