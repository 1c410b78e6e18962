"""What a cell sends applied to the filters of its joins, each of which is followed one of two ways.

    rows, changes ──► timeline ──► who is in the index of joins is asked for      (`maintain/join_fast_path.py`)
                              └──► for all others the join is rebuilt             (`maintain/join_replay.py`)
                                   and images of its rows go where those of tables go

A subscription is of one join and one way, so one join after the other is followed: whoever hears of it hears of its
causes in order.
Cost: that of the ways, for each join.
"""

from __future__ import annotations

from collections.abc import Iterator

from catalog.schema.join import Join, join_of_name
from overlay.delivery.delivery import Position
from overlay.maintain.batch_buffer import SentTimeline
from overlay.maintain.image_path import ImagePath
from overlay.maintain.join_fast_path import JoinFastPath
from overlay.maintain.join_replay import images, lacking
from overlay.subscriptions.filter_book import FilterBook, MissingColumnError


class JoinPath:
    """Applies timelines, the fast way for whom it fits."""

    def __init__(self, filters: FilterBook, images: ImagePath, fast: JoinFastPath) -> None:
        self._filters = filters
        self._images = images
        self._fast = fast

    def apply(self, sent: SentTimeline, position: Position) -> None:
        """Apply one batch of a cell."""
        for join in self._followed(sent.header.shard):
            if self._filters.joined(join.name):
                self._fast.apply(sent, join.name, position)
            needed = self._filters.imaged(join.name)
            for packed in images(join, needed, sent.timeline, sent.header) if needed else ():
                self._images.apply(packed, position)

    def follows(self, cell: str) -> bool:
        """Whether some live subscription is to a join of a cell."""
        return next(self._followed(cell), None) is not None

    def check_told(self, sent: SentTimeline) -> None:
        """Raise MissingColumnError where a filter of some join needs what a timeline does not tell."""
        for join in self._followed(sent.header.shard):
            missing = lacking(join, self._filters.wanted(join.name), sent.timeline)
            if missing:
                raise MissingColumnError(f"rows of {join.name} lack {missing}")

    def _followed(self, cell: str) -> Iterator[Join]:
        for name in self._filters.relations:
            join = join_of_name(name)
            if join is not None and join.cell == cell:
                yield join
