"""The window of a cell by dictionaries: which edges have which row, as the cell remembers it, and as the edge does.

A row that is spelled out gets a stamp: the batch, and its number among those that got one in it. While the stamp is
younger than the window and the row is as it was, who has it is only told its stamp.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, field

Stamp = tuple[int, int]
Values = Mapping[str, Hashable]


@dataclass(frozen=True)
class Sent:
    """A row as it travels: under its stamp, and spelled out (`values`) or only named."""

    stamp: Stamp
    values: Values | None


@dataclass
class _Known:
    stamp: Stamp
    edges: set[int]


class NaiveStamps:
    """What a cell remembers of the rows of one table, by their keys."""

    def __init__(self, window: int) -> None:
        self.window = window
        self.columns: set[str] = set()
        self.known: dict[Hashable, _Known] = {}
        self._fresh: dict[Hashable, _Known] = {}
        self._batch = -1
        self._numbers = 0

    def anew(self, edge: int) -> None:
        """An edge says that it has nothing."""
        for known in self.known.values():
            known.edges.discard(edge)

    def begin(self, batch: int, columns: Collection[str]) -> None:
        """Begin a batch that tells these columns: rows that lack some of them were never told."""
        if not self.columns.issuperset(columns):
            self.known = {}
        self.columns = set(columns)
        self._batch, self._numbers, self._fresh = batch, 0, {}

    def is_named(self, edge: int, key: Hashable) -> bool:
        """Whether the row that is stored under a key may be named to an edge."""
        known = self.known.get(key)
        return known is not None and self.is_young(known) and edge in known.edges

    def is_young(self, known: _Known) -> bool:
        return self._batch - known.stamp[0] < self.window

    def send(self, edges: Iterable[int], key: Hashable, values: Values, stored: bool) -> dict[int, Sent]:
        """Return what edges are sent of a version of a row: the one that is stored, or one that the batch brings."""
        known = self.known.get(key) if stored else None
        if known is None or not self.is_young(known):
            known = _Known(self._stamp(), set())
            (self.known if stored else self._fresh)[key] = known
        told = {
            edge: Sent(known.stamp, None if stored and edge in known.edges else self._shown(values)) for edge in edges
        }
        known.edges |= told.keys()
        return told

    def end(self, changed: Collection[Hashable], alive: Collection[Hashable]) -> None:
        """End a batch that left other versions under the keys `changed`; `alive` are the keys of all rows now."""
        kept = {key: known for key, known in self.known.items() if key not in changed}
        self.known = {key: known for key, known in (kept | self._fresh).items() if key in alive}

    def _stamp(self) -> Stamp:
        self._numbers += 1
        return self._batch, self._numbers - 1

    def _shown(self, values: Values) -> Values:
        return {name: values[name] for name in sorted(self.columns)}


@dataclass
class NaiveWindow:
    """What an edge has of one table: rows of the last batches by their stamps, and where they stand in its log."""

    window: int
    rows: dict[Stamp, tuple[Values, int]] = field(default_factory=dict)

    def keep(self, offset: int, sent: Sent) -> None:
        """Keep a row that a record at `offset` spells out."""
        if sent.values is not None:
            self.rows.setdefault(sent.stamp, (sent.values, offset))

    def drop(self, batch: int) -> None:
        """Drop what `batch` can no longer name."""
        self.rows = {stamp: kept for stamp, kept in self.rows.items() if batch - stamp[0] < self.window}

    def values(self, sent: Sent, columns: Iterable[str]) -> Values | None:
        """Return what a row is in the columns that are told now; None: it is named, and was never told all of them."""
        kept = self.rows.get(sent.stamp)
        values = sent.values if sent.values is not None else None if kept is None else kept[0]
        names = sorted(columns)
        return None if values is None or not values.keys() >= {*names} else {name: values[name] for name in names}

    @property
    def offset(self) -> int | None:
        """Where whoever takes over must begin to read."""
        return min((offset for _, offset in self.rows.values()), default=None)
