"""Which bunches of the index each message must be asked for in: all of its domain and group that hear its channel.

    messages   (min price) NYSE   (rows *) NYSE   (min price) LSE
    hearers    0: MIN(price)      1: MIN(price), COUNT(*)               of one domain; both hear (min price)
    probes     message 0 in 0's and 1's bunch of NYSE, message 1 in 1's bunch of NYSE; nobody is subscribed to LSE

A message is looked up once, by domain and group (`index/domain_groups.py`), however many SELECT lists there are, and
those of them that hear the same channels are asked for as one. Where the range attribute has no order codes, its
rectangle is in labels of the domain.
Cost: O(messages + probes) in numpy, and 0.5 us for each distinct domain and group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from operators.operator import Ranged
from overlay.answers.shape_table import ShapeEntry, ShapeTable
from overlay.index.domain_groups import Heard
from overlay.index.range_index import RangeIndex
from state.change_batch import I64, Bool
from state.distinct_numbers import distinct_numbers


@dataclass(slots=True)
class Probes:
    """Pairs of a message and, by its number, a bunch of a `group` in the index; `bounds` are closed rectangles."""

    message: I64
    group: I64
    bounds: I64


Narrowed = Callable[[list[I64]], list[I64]]
"""From the closed rectangles of all messages, lo_min, lo_max, hi_min, hi_max, to those that are to be asked for."""


def probes(
    messages: Ranged, shapes: ShapeTable, index: RangeIndex, most: int, narrowed: Narrowed | None = None
) -> Iterator[Probes]:
    """Yield who must be asked for `messages`, in their order, at most `most` pairs at a time.

    However many shapes hear a message, no more than that is in memory.
    """
    heard_by = [shapes.shapes_of(channel)[:1] for channel in messages.channels]
    place, (counts, bunches) = _askers(messages, heard_by, shapes, index)
    times = counts[place]
    bounds = _bounds(messages, heard_by, times > 0, index)
    bounds = bounds if narrowed is None else narrowed(bounds)
    ends, firsts = np.cumsum(times), (np.cumsum(counts) - counts)[place]
    count = int(times.sum())
    for start in range(0, count, most):
        which = np.arange(start, min(start + most, count))
        every = count <= most
        message = np.repeat(np.arange(len(times)), times) if every else np.searchsorted(ends, which, side="right")
        at = firsts[message] + which - (ends - times)[message]
        yield Probes(message, bunches[at], np.stack([column[message] for column in bounds]))


def _askers(
    messages: Ranged, heard_by: list[list[ShapeEntry]], shapes: ShapeTable, index: RangeIndex
) -> tuple[I64, Heard]:
    """Return each message's pair of channel and group, and who hears each pair."""
    width = max(len(messages.groups), 1)
    pairs, place = distinct_numbers(messages.channel.astype(np.int64) * width + messages.group)
    channels, groups = np.divmod(pairs, width)
    domains = np.array([one[0].domain if one else -1 for one in heard_by], np.int64)[channels]
    owners = np.full(len(pairs), -1, np.int64)
    wanted = (domains >= 0).nonzero()[0]
    keys, key = distinct_numbers(domains[wanted] * width + groups[wanted])
    found = [index.groups.owner(one // width, messages.groups[one % width]) for one in keys.tolist()]
    owners[wanted] = np.array(found, np.int64)[key]
    return place, index.groups.heard(owners, channels, shapes.hears(messages.channels))


def _bounds(messages: Ranged, heard_by: list[list[ShapeEntry]], asked: Bool, index: RangeIndex) -> list[I64]:
    """Return the rectangles of all messages; of those over labels only those that are `asked` for."""
    columns = [messages.lo_min, messages.lo_max, messages.hi_min, messages.hi_max]
    labelled = {one.domain: one.range_type for entries in heard_by for one in entries if one.range_type is not None}
    if not labelled:
        return columns
    columns = [column.copy() for column in columns]
    domains = np.array([one[0].domain if one else -1 for one in heard_by], np.int64)[messages.channel]
    for domain, range_type in labelled.items():
        mine = ((domains == domain) & asked).nonzero()[0]
        if len(mine):
            for column, labels in zip(columns, index.rectangles(domain, range_type, messages, mine), strict=True):
                column[mine] = labels
    return columns
