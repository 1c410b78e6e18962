"""Messages about the first rows of ranges as columns, with the lists and row images that they name.

A message says to every subscription that has the channel `channels[channel]`, is of the group `groups[group]`, and
whose range [lo, hi] has lo_min <= lo <= lo_max and hi_min <= hi <= hi_max, what a row change means
(state/best_tree.py):

    kind  1 the row is not in the range any more    base         better rows that all of these ranges hold
          2 it is in the range now                  lefts        how many of `bounds` are its left ones, nearest first
          3 it was and is                           rights       how many are its right ones, which follow
          0 more candidates of the message before   cands        how many of `cand_x` and `cand` are its own, by rank

A subscription for k rows hears it iff place = base + #(left bounds >= lo) + #(right bounds <= hi) is less than k.
`old` and `new` are the row before and after, -1 where it is not in the range; with `cand` they name images.

Where the range attribute has no order codes, bounds and the x of candidates are places in `texts`; lo_min and hi_max
are -1 where there is no bound, and else exclusive: a range is met with lo > texts[lo_min] and hi <= texts[hi_max].
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from catalog.query.channel import Channel
from state.byte_table import Strings
from state.change_batch import I32, I64, Bool
from state.distinct_numbers import distinct_numbers

MORE = 0
"""The kind of what has only further candidates of the message before it, which is of the same seq."""
HEADS = (
    "cause", "channel", "group", "kind", "lo_min", "lo_max", "hi_min", "hi_max", "base", "lefts", "rights", "cands",
    "old", "new",
)  # fmt: skip
"""The columns that have one entry a message."""
TEXT_BOUNDS = ("lo_min", "lo_max", "hi_min", "hi_max")


@dataclass(frozen=True, slots=True)
class ImageValues:
    """One column of row images: order codes, or places in `texts` where it has none; 0 where not `known` (NULL).

    texts: as a shard has them, UTF-8 end to end; as an edge shows them, a list.
    """

    values: I64
    known: Bool
    texts: Strings | list[str] | None = None

    def take(self, rows: I64 | Bool) -> ImageValues:
        """Return the values of some images, with the texts that they name, in the order of these."""
        values, known = self.values[rows], self.known[rows]
        if self.texts is None:
            return ImageValues(values, known)
        used, places = distinct_numbers(values[known], len(self.texts))
        full = np.zeros(len(values), np.int64)
        full[known] = places
        texts = self.texts.take(used) if isinstance(self.texts, Strings) else [self.texts[i] for i in used.tolist()]
        return ImageValues(full, known, texts)

    @property
    def listed(self) -> list[str]:
        """The texts as a list; an empty one where the column has none."""
        return self.texts.texts if isinstance(self.texts, Strings) else self.texts or []

    def some(self, which: I64 | slice) -> list[int | str | None]:
        """Return some values as an answer has them: order codes, texts, None for NULL."""
        numbers, known, texts = self.values[which].tolist(), self.known[which], self.listed
        values: list[int | str | None] = numbers
        if self.texts is not None:
            values = [texts[i] if texts else None for i in numbers]
        if known.all():
            return values
        return [value if there else None for value, there in zip(values, known.tolist(), strict=True)]


@dataclass(frozen=True, slots=True)
class BestMessages:
    """n messages in causal order; see the module's header. Images by column, each row version once."""

    channels: list[Channel]
    groups: list[bytes]
    cause: I32
    channel: I32
    group: I32
    kind: I64
    lo_min: I64
    lo_max: I64
    hi_min: I64
    hi_max: I64
    base: I64
    lefts: I64
    rights: I64
    cands: I64
    old: I64
    new: I64
    bounds: I64
    cand_x: I64
    cand: I64
    texts: list[str]
    images: dict[str, ImageValues]

    def __len__(self) -> int:
        return len(self.cause)

    @property
    def image_count(self) -> int:
        """How many images there are, be it of no columns. Cost: O(messages + candidates)."""
        named = 1 + max((int(each.max()) for each in (self.old, self.new, self.cand) if len(each)), default=-1)
        return max([named, *(len(column.values) for column in self.images.values())])

    def take(self, rows: I64 | slice, text_bounds: Bool) -> BestMessages:
        """Return the messages at `rows` with only what they name; `text_bounds`: the channels whose bounds are texts.

        Cost: O(messages + what these name).
        """
        chosen = np.arange(len(self))[rows]
        sizes = self.lefts + self.rights
        bounds, cands = (_lists(each, chosen) for each in (sizes, self.cands))
        heads: dict[str, Any] = {name: getattr(self, name)[chosen] for name in HEADS}
        lists: dict[str, Any] = {"bounds": self.bounds[bounds], "cand_x": self.cand_x[cands], "cand": self.cand[cands]}
        part = replace(self, **heads, **lists)._with_groups()._with_images()
        return part._with_texts(text_bounds) if self.texts else part

    def piece(self, i: int, cands: slice, text_bounds: Bool) -> BestMessages:
        """Return message i with only some of its candidates, and all of its texts.

        Without its first candidates it is of the kind `MORE`.
        """
        one = self.take(slice(i, i + 1), text_bounds)
        count = np.array([len(one.cand[cands])], np.int64)
        lists: dict[str, Any] = {"cands": count, "cand_x": one.cand_x[cands], "cand": one.cand[cands]}
        if cands.start:
            none, away = np.zeros(1, np.int64), np.full(1, -1, np.int64)
            lists |= {"kind": np.full(1, MORE, np.int64), "lefts": none, "rights": none, "bounds": one.bounds[:0]}
            lists |= {"old": away, "new": away}
        return replace(one, **lists)._with_images()

    def named(self) -> tuple[I64, I64]:
        """Return message and image wherever a message names an image, in the order of messages."""
        each = np.arange(len(self))
        by = np.repeat(each, self.cands + 2)
        starts = np.cumsum(self.cands + 2) - (self.cands + 2)
        image = np.empty(len(by), np.int64)
        image[starts], image[starts + 1] = self.old, self.new
        image[np.arange(len(self.cand)) + 2 * np.repeat(each + 1, self.cands)] = self.cand
        return by[image >= 0], image[image >= 0]

    def of_texts(self, text_bounds: Bool) -> dict[str, I64]:
        """Return by column where it has places in `texts`."""
        of = text_bounds[self.channel]
        where = {name: np.flatnonzero(of & (getattr(self, name) >= 0)) for name in TEXT_BOUNDS}
        where["bounds"] = np.flatnonzero(np.repeat(of, self.lefts + self.rights))
        where["cand_x"] = np.flatnonzero(np.repeat(of, self.cands))
        return where

    def _with_groups(self) -> BestMessages:
        if len(self.groups) < 2:
            return self
        used, places = np.unique(self.group, return_inverse=True)
        return replace(self, group=places.astype(np.int32), groups=[self.groups[i] for i in used.tolist()])

    def _with_images(self) -> BestMessages:
        used = np.zeros(self.image_count, np.bool_)
        for name in ("old", "new", "cand"):
            places = getattr(self, name)
            used[places[places >= 0]] = True
        if used.all():
            return self
        which, place = np.flatnonzero(used), np.full(len(used) + 1, -1)
        place[which] = np.arange(len(which))
        images = {name: column.take(which) for name, column in self.images.items()}
        return replace(self, images=images, old=place[self.old], new=place[self.new], cand=place[self.cand])

    def _with_texts(self, text_bounds: Bool) -> BestMessages:
        where, used = self.of_texts(text_bounds), np.zeros(len(self.texts), np.bool_)
        for name, rows in where.items():
            used[getattr(self, name)[rows]] = True
        place = np.cumsum(used) - 1
        columns: dict[str, Any] = {name: getattr(self, name).copy() for name in where}
        for name, rows in where.items():
            columns[name][rows] = place[columns[name][rows]]
        return replace(self, **columns, texts=[self.texts[i] for i in np.flatnonzero(used).tolist()])


def _lists(sizes: I64, chosen: I64) -> I64:
    """Return the places of the members of the chosen lists, which stand one after the other."""
    starts, counts = (np.cumsum(sizes) - sizes)[chosen], sizes[chosen]
    return np.repeat(starts - (np.cumsum(counts) - counts), counts) + np.arange(int(counts.sum()))
