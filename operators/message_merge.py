"""Messages of several channels joined to one causally ordered batch, with the names that the wire has.

Group numbers become the groups' bytes, dictionary numbers and ranks become places in `Messages.texts`: each different
one once. A bound by rank becomes the text that it stands next to: with the ranks of texts a < b < c,

    lo_min = rank(a) + 1    lo > a        lo_max = rank(b)        lo <= b
    hi_min = rank(b)        hi > b        hi_max = rank(c) - 1    hi <= c        (hi is exclusive, so hi > b holds b)

Cost: 1 us for each different group and text; nothing for one channel, a stable sort of the causes for several.
"""

from __future__ import annotations

import numpy as np

from operators.batch_view import BatchView
from operators.channel_binding import ChannelBinding
from operators.delta import Delta
from operators.operator import Messages
from state.change_batch import I32, I64, Bool
from state.order_code import INT64_MAX, INT64_MIN

_COLUMNS = 10
"""Columns of int64 that a part has: cause, channel, group, rows, old, new and the four bounds."""


class MessageMerge:
    """Takes the messages found for one channel after the other; `messages` returns all of them."""

    def __init__(self, view: BatchView, channels: list[ChannelBinding]) -> None:
        self._ground = view
        self._channels = channels
        self._groups: dict[bytes, int] = {}
        self._texts: dict[str, int] = {}
        self._numbers: list[list[I64]] = [[] for _ in range(_COLUMNS)]
        self._known: tuple[list[Bool], list[Bool]] = ([], [])

    def add(self, channel: int, found: Delta) -> None:
        """Take messages of the channel with this number."""
        if not len(found):
            return
        bound = self._channels[channel]
        old, new, box = found.old, found.new, found.box
        if bound.text and bound.column is not None:
            old = self._text_places(bound.column, old, found.has_old)
            new = self._text_places(bound.column, new, found.has_new)
        if bound.range_text:
            box = self._cuts(bound, box)
        numbers, which = np.unique(found.group, return_inverse=True)
        names = self._ground.groups(found.order, len(bound.order[0]), numbers)
        group = np.array([self._groups.setdefault(name, len(self._groups)) for name in names])[which]
        columns = (found.cause, np.full(len(found), channel), group, found.rows, old, new, *box)
        for parts, column in zip(self._numbers, columns, strict=True):
            parts.append(column)
        self._known[0].append(found.has_old)
        self._known[1].append(found.has_new)

    def messages(self) -> Messages:
        """Return all of them by cause, then by channel."""
        numbers = [_joined(parts) for parts in self._numbers]
        known = [np.concatenate([np.zeros(0, np.bool_), *parts]) for parts in self._known]
        if len(self._numbers[0]) > 1:
            order = np.argsort(numbers[0], kind="stable")
            numbers, known = [column[order] for column in numbers], [column[order] for column in known]
        cause, channel, group, rows, old, new, lo_min, lo_max, hi_min, hi_max = numbers
        channels, groups = [bound.channel for bound in self._channels], list(self._groups)
        return Messages(
            channels, groups, _narrow(cause), _narrow(channel), _narrow(group), rows, old, known[0], new, known[1],
            lo_min, lo_max, hi_min, hi_max, list(self._texts),
        )  # fmt: skip

    def _text_places(self, column: int, numbers: I64, there: Bool) -> I64:
        """Return the place in `texts` of each dictionary number that is there, 0 for the others."""
        places = np.zeros(len(numbers), np.int64)
        used, which = np.unique(numbers[there], return_inverse=True)
        texts = self._ground.rows.texts_of(column, used)
        places[there] = np.array([self._texts.setdefault(text, len(self._texts)) for text in texts], np.int64)[which]
        return places

    def _cuts(self, bound: ChannelBinding, box: I64) -> I64:
        """Return the places in `texts` of the cuts that bounds by rank mean, -1 where there is none."""
        column = bound.order[1]
        assert column is not None
        there = np.stack([box[0] != INT64_MIN, *[np.ones(box.shape[1], np.bool_)] * 2, box[3] != INT64_MAX])
        ranks = np.where(there, box, 0) + np.array([[-1], [0], [0], [1]])
        places = self._text_places(column, ranks.ravel(), there.ravel()).reshape(box.shape)
        return np.where(there, places, -1)


def _joined(parts: list[I64]) -> I64:
    """Return the parts end to end; a single one as it is."""
    return parts[0] if len(parts) == 1 else np.concatenate([np.zeros(0, np.int64), *parts])


def _narrow(numbers: I64) -> I32:
    return numbers.astype(np.int32)
