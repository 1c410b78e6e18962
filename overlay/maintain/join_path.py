"""What a cell sends applied to the filters of its joins: each join that is followed rebuilt, and its images passed on.

    rows, changes ──► timeline ──► of each join that some filter is of (`maintain/join_replay.py`) ──► images of rows

A subscription is of one join, so one join after the other is rebuilt: whoever follows it hears of its causes in order.
Cost: that of `join_replay`, for each join, and of the images' path.
"""

from __future__ import annotations

from collections.abc import Iterator

from catalog.schema.join import Join, join_of_name
from overlay.delivery.delivery import Position
from overlay.maintain.batch_buffer import SentTimeline
from overlay.maintain.image_path import ImagePath
from overlay.maintain.join_replay import images, lacking
from overlay.subscriptions.filter_book import FilterBook, MissingColumnError


class JoinPath:
    """Applies timelines; images of joined rows go where those of tables go."""

    def __init__(self, filters: FilterBook, images: ImagePath) -> None:
        self._filters = filters
        self._images = images

    def apply(self, sent: SentTimeline, position: Position) -> None:
        """Apply one batch of a cell."""
        for join in self._followed(sent):
            for packed in images(join, self._filters.wanted(join.name), sent.timeline, sent.header):
                self._images.apply(packed, position)

    def check_told(self, sent: SentTimeline) -> None:
        """Raise MissingColumnError where a filter of some join needs what a timeline does not tell."""
        for join in self._followed(sent):
            missing = lacking(join, self._filters.wanted(join.name), sent.timeline)
            if missing:
                raise MissingColumnError(f"rows of {join.name} lack {missing}")

    def _followed(self, sent: SentTimeline) -> Iterator[Join]:
        for name in self._filters.relations:
            join = join_of_name(name)
            if join is not None and join.cell == sent.header.shard:
                yield join
