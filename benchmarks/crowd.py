"""The workload of a million: 50,000 rows of which a few hundred are hot, and subscribers packed around the hot ones.

    SELECT MIN(price) FROM stock WHERE exchange = 'K20' AND risk BETWEEN lo AND hi

Each exchange `K<k>` is a section of hot rows with subscribers of its own; a publication in it changes one row's price and
affects about k subscriptions. Ranges are no wider than the distance of two rows, so a range that holds a row holds no
other, and every change of that row is a change of its answer: k = subscribers * width / rows, `width` in distances of
rows. So 1,000 and 1,000,000 subscriptions can be asked at the same k. Cold rows change nothing, but they
are in the state. Everything is synthetic and made from a seed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from connectors.record import OutRecord
from connectors.topics import Topics

TOP = 1_000.0
COLD = "COLD"
LOWEST, HIGHEST, STEP = 10_000, 1_000_000, 500


@dataclass(frozen=True, slots=True)
class Section:
    """`rows` hot rows, `subscribers` around them, so that a publication affects about `k`."""

    k: int
    rows: int
    subscribers: int

    @property
    def exchange(self) -> str:
        """The value of the equality column."""
        return f"K{self.k}"

    @property
    def width(self) -> float:
        """Width of each range, in units of `risk`."""
        return TOP / self.rows * self.k * self.rows / max(self.subscribers, 1)


class Crowd:
    """Rows and subscribers of all sections; `changes` publishes within one of them."""

    def __init__(self, sections: Sequence[Section], rows: int, topic: str, seed: int = 3) -> None:
        self.sections = {section.k: section for section in sections}
        self._rows = rows
        self._topic = topic
        self._random = np.random.default_rng(seed)
        self._risks: dict[int, list[float]] = {s.k: self._apart(s.rows) for s in sections}
        self._prices = {s.k: self._random.integers(LOWEST, HIGHEST, s.rows).tolist() for s in sections}

    @property
    def subscribers(self) -> int:
        """How many subscriptions there are."""
        return sum(section.subscribers for section in self.sections.values())

    def rows(self, k: int) -> tuple[list[float], list[int]]:
        """Return `risk` and price (in hundredths) of the rows of a section as they are now."""
        return self._risks[k], self._prices[k]

    def load(self) -> Iterator[OutRecord]:
        """Yield a publication of every row, the cold ones first."""
        hot = sum(section.rows for section in self.sections.values())
        risks = self._random.uniform(0, TOP, max(self._rows - hot, 0)).round(6).tolist()
        for row, risk in enumerate(risks):
            yield self._publication(COLD, row, risk, LOWEST + row)
        for section in self.sections.values():
            for row in range(section.rows):
                yield self._of(section, row)

    def changes(self, k: int, count: int) -> Iterator[OutRecord]:
        """Yield `count` changes of prices in the section of `k`, half down and half up, in random order."""
        section, prices = self.sections[k], self._prices[k]
        rows = self._random.integers(0, section.rows, count).tolist()
        steps = (self._random.integers(1, STEP, count) * self._random.choice((-1, 1), count)).tolist()
        for row, step in zip(rows, steps, strict=True):
            moved = prices[row] + step
            prices[row] = moved if LOWEST <= moved <= HIGHEST else prices[row] - step
            yield self._of(section, row)

    def subscriptions(self, topics: Topics) -> Iterator[OutRecord]:
        """Yield the records that ask an edge; ids are 14 bytes, records about 100."""
        number = 0
        for section in self.sections.values():
            lo = self._random.uniform(0, TOP - section.width, section.subscribers).round(6)
            hi = (lo + section.width).round(6)
            for low, high in zip(lo.tolist(), hi.tolist(), strict=True):
                where = f"exchange = '{section.exchange}' AND risk BETWEEN {low!r} AND {high!r}"
                value = f'{{"sql":"SELECT MIN(price) FROM stock WHERE {where}"}}'
                yield OutRecord(topics.subscriptions, None, b"person-%07d" % number, value.encode())
                number += 1

    def _apart(self, rows: int) -> list[float]:
        """Return places of rows that are at least half an even distance apart, and as far from both ends."""
        return ((np.arange(rows) + self._random.uniform(0.25, 0.75, rows)) * (TOP / rows)).round(6).tolist()

    def _of(self, section: Section, row: int) -> OutRecord:
        return self._publication(section.exchange, row, self._risks[section.k][row], self._prices[section.k][row])

    def _publication(self, exchange: str, row: int, risk: float, price: int) -> OutRecord:
        symbol = f"{exchange}-{row:05d}"
        value = (
            f'{{"symbol":"{symbol}","exchange":"{exchange}","risk":{risk!r},"price":{price // 100}.{price % 100:02d}}}'
        )
        return OutRecord(self._topic, None, f'{{"symbol":"{symbol}"}}'.encode(), value.encode())
