"""Answers that are the first rows of a range: JSON arrays in the order of their ORDER BY, each with its place.

A list names images of rows, never rows: an image is what a row was at a moment, as bytes (`operators/reply.py`), so
what was told stays what it was, whatever comes of the row. Images have the columns of the shape's `images`; those
behind the SELECT list tell rows apart and are not shown.
Cost: O(columns) a row that was not written lately.
"""

from __future__ import annotations

from collections.abc import Sequence

from catalog.query.best_shape import BestShape
from catalog.query.recent import Recent
from catalog.types.column_type import ColumnType
from operators.reply import decode_row
from overlay.answers.answer import ListAnswer
from overlay.answers.answer_layout import AnswerLayout
from overlay.answers.row_table import Projection
from overlay.delivery.list_delivery import LIST_SAME, list_ended, list_snapshot, list_whole
from overlay.delivery.row_text import RowTexts

_REMEMBERED = 16_384


class ListLayout(AnswerLayout[ListAnswer]):
    """How rows are written. `limit`: how many a list has at most; `images`: which columns an image has."""

    def __init__(self, shape: BestShape, types: Sequence[ColumnType | None]) -> None:
        super().__init__(shape, ())
        self.limit = shape.limit
        self.images = shape.images
        shown = tuple(type_ for type_ in types if type_ is not None)
        self.projection = Projection(shape.images, shown, bool(shape.keys))
        self._shown = len(shape.shown)
        self._rows = RowTexts(self.projection.types)
        self._written: Recent[bytes, str] = Recent(_REMEMBERED)

    def differ(self, old: ListAnswer, new: ListAnswer) -> bool:
        """Whether two lists are written otherwise."""
        return old != new and self.texts(old) != self.texts(new)

    def text(self, answer: ListAnswer) -> str:
        """Return the rows as a JSON array."""
        return f"[{','.join(self.texts(answer))}]"

    def body(self, old: ListAnswer | None, new: ListAnswer | None) -> str:
        """Return what a snapshot, a resync or an end says; None: nothing was, or is, told."""
        if old is None:
            return list_snapshot(self.texts(new or ()))
        if new is None:
            return list_ended(self.texts(old))
        return list_whole(self.texts(new)) if self.differ(old, new) else LIST_SAME

    def texts(self, images: Sequence[bytes]) -> list[str]:
        """Return the rows as they are shown, in order."""
        found = [self._written.get(image) for image in images]
        missing = [image for image, text in zip(images, found, strict=True) if text is None]
        if not missing:
            return [text for text in found if text is not None]
        made = dict(zip(missing, self._rows.of_values(list(map(self._of_image, missing))), strict=True))
        for image, text in made.items():
            self._written.put(image, text)
        return [made[image] if text is None else text for image, text in zip(images, found, strict=True)]

    def fits(self, images: Sequence[bytes]) -> bool:
        """Whether images can be a list: not too many, each of as many values as it must have."""
        return len(images) <= self.limit and all(len(decode_row(image)) == len(self.images) for image in images)

    def _of_image(self, image: bytes) -> list[int | str | None]:
        return decode_row(image)[: self._shown]
