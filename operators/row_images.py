"""Row images: what each row change did to the columns that somebody needs, for questions that rows answer.

Which subscriptions: every question whose WHERE is any condition of the row, whatever it shows (rows, COUNT, SUM, AVG).
Whether a row meets such a condition, before and after a change, its two images say; so the shard tells the images, one
message a row change however many conditions there are, and the edges judge. The message is about no group and no range.

    rows   +1 the row came     old is unknown            A column is needed where some subscription compares or shows
           -1 it went          new is unknown            it. A change of a row in no needed column is not told: it
            0 it changed       both are there            meets whom it met, and shows what it showed.

Exact: held rows are those that met the condition before; the change takes `old` away if that met it and adds `new` if
that does. A key that changes is a row that went and one that came, of one cause.

Cost: O(m) for m changes and each needed column, 10 ns; a text column 20 ns for each different text, besides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from catalog.query.channel import Channel
from catalog.query.shape import group_key
from catalog.schema.relation import Relation
from operators.batch_view import BatchView
from operators.channel_binding import OrderingKey
from operators.channel_kind import ChannelKind
from state.byte_table import Strings
from state.change_batch import I32, I64, Bool
from state.distinct_numbers import distinct_numbers
from state.version_pairs import read_pairs

NO_GROUP = group_key(())
"""The group under which virtual edges want images: they are about none."""


@dataclass(frozen=True, slots=True)
class ImageColumn:
    """One column of k row changes: its value before and after each, and where there is one (not NULL, and a row).

    Values are order codes; places in `texts` where the column has none. 0 where there is no value.
    texts: as a shard has them, UTF-8 end to end; as an edge shows them, a list.
    """

    old: I64
    old_known: Bool
    new: I64
    new_known: Bool
    texts: Strings | list[str] | None = None

    @property
    def listed(self) -> list[str] | None:
        """The texts as a list; None where the column has order codes."""
        return self.texts.texts if isinstance(self.texts, Strings) else self.texts

    @property
    def apart(self) -> Bool:
        """Which changes have an old value that is not the new one too."""
        return self.old_known & ~(self.new_known & (self.old == self.new))

    def take(self, rows: I64 | slice) -> ImageColumn:
        """Return the changes at `rows`, with the texts that they name, in the order of these."""
        taken = ImageColumn(self.old[rows], self.old_known[rows], self.new[rows], self.new_known[rows])
        if self.texts is None:
            return taken
        used, old, new = _numbered(taken, len(self.texts))
        texts = self.texts.take(used) if isinstance(self.texts, Strings) else [self.texts[i] for i in used.tolist()]
        return replace(taken, old=old, new=new, texts=texts)


@dataclass(frozen=True, slots=True)
class Images:
    """k row changes in causal order, those of one change adjacent; `columns` has the needed ones, by name.

    cause: int32[k], index of the change in its batch, or number of its cause.  rows: int64[k], +1, -1 or 0.
    """

    cause: I32
    rows: I64
    columns: dict[str, ImageColumn]

    def __len__(self) -> int:
        return len(self.cause)

    def take(self, rows: I64 | slice) -> Images:
        """Return the images at `rows`."""
        columns = {name: column.take(rows) for name, column in self.columns.items()}
        return Images(self.cause[rows], self.rows[rows], columns)


def find(view: BatchView, needed: Sequence[str]) -> Images:
    """Return the images of the view's changes in the columns `needed`. Cost: see the module's header."""
    replay, numbers = view.replay, [view.relation.index(name) for name in needed]
    cause = np.flatnonzero(replay.before != replay.after)
    old, new = replay.before[cause], replay.after[cause]
    rows = (new >= 0).astype(np.int64) - (old >= 0)
    told = rows != 0
    pairs = [read_pairs(replay.codes[number], replay.valid[number], old, new, told) for number in numbers]
    columns = [ImageColumn(*pair) for pair in pairs]
    if not told.all():
        kept = told.nonzero()[0]
        cause, rows, columns = cause[kept], rows[kept], [column.take(kept) for column in columns]
    named = [_named(view, number, column) for number, column in zip(numbers, columns, strict=True)]
    return Images(cause.astype(np.int32), rows, dict(zip(needed, named, strict=True)))


def _named(view: BatchView, number: int, column: ImageColumn) -> ImageColumn:
    """Return a column with its own texts, where its values are numbers of texts."""
    if view.relation.columns[number].type.coded:
        return column
    return replace(column, texts=view.rows.strings_of(number)).take(slice(None))


def _numbered(column: ImageColumn, end: int) -> tuple[I64, I64, I64]:
    """Return the different known numbers of a column, below `end`, ascending, and the place of each among them; else 0.

    Few changes are apart: an old number that is the new one too is not looked at again.
    """
    apart, new_known = column.apart, column.new_known
    used, places = distinct_numbers(np.concatenate([column.new[new_known], column.old[apart]]), end)
    new_place, count = np.zeros(len(apart), np.int64), int(np.count_nonzero(new_known))
    new_place[new_known] = places[:count]
    old_place = np.where(column.old_known, new_place, 0)
    old_place[apart] = places[count:]
    return used, old_place, new_place


def _nothing_lacks(_channel: Channel, _relation: Relation) -> str:
    return ""


def _no_orderings(_column: int | None, _order: OrderingKey) -> tuple[OrderingKey, ...]:
    return ()


KIND = ChannelKind(lacks=_nothing_lacks, orderings=_no_orderings)
