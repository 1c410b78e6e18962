"""Which group of which shape each message must be asked for in: a message is about a channel, the index knows shapes.

    messages   (min price) NYSE   (rows *) NYSE   (min price) LSE
    shapes     0: MIN(price)      1: MIN(price), COUNT(*)               both have the channel (min price)
    hearings   message 0 in (0, NYSE) and (1, NYSE), message 1 in (1, NYSE); nobody is subscribed to LSE

Where the range attribute has no order codes, a shapes_of's rectangle is in labels of its shape.
Cost: O(messages + hearings) in numpy, and 1 us for each distinct (channel, group) and shape.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from operators.operator import Messages
from overlay.answers.shape_table import ShapeTable
from overlay.index.range_index import RangeIndex
from state.change_batch import I64


@dataclass(slots=True)
class Probes:
    """Pairs of a message and a group of the index; `bounds` are closed rectangles."""

    message: I64
    group: I64
    bounds: I64


def hearings(messages: Messages, shapes: ShapeTable, index: RangeIndex, most: int) -> Iterator[Probes]:
    """Yield who must be asked for `messages`, in their order, at most `most` pairs at a time.

    However many shapes hear a message, no more than that is in memory.
    """
    place, counts, groups, numbers = _askers(messages, shapes, index)
    times = counts[place]
    ends, firsts = np.cumsum(times), (np.cumsum(counts) - counts)[place]
    for start in range(0, int(times.sum()), most):
        which = np.arange(start, min(start + most, int(ends[-1])))
        message = np.searchsorted(ends, which, side="right")
        at = firsts[message] + which - (ends - times)[message]
        yield Probes(message, groups[at], _bounds(messages, message, numbers[at], shapes, index))


def _askers(messages: Messages, shapes: ShapeTable, index: RangeIndex) -> tuple[I64, I64, I64, I64]:
    """Return each message's pair of channel and group; of each pair how many ask; and their groups and shapes."""
    width = max(len(messages.groups), 1)
    pairs, place = _distinct(messages.channel.astype(np.int64) * width + messages.group)
    heard = [shapes.shapes_of(channel) for channel in messages.channels]
    counts = np.zeros(len(pairs), np.int64)
    groups: list[int] = []
    numbers: list[int] = []
    for i, pair in enumerate(pairs.tolist()):
        for entry in heard[pair // width]:
            group = index.number(entry.number, messages.groups[pair % width])
            if group >= 0:
                counts[i] += 1
                groups.append(group)
                numbers.append(entry.number)
    return place, counts, np.array(groups, np.int64), np.array(numbers, np.int64)


def _distinct(pairs: I64) -> tuple[I64, I64]:
    """Return the distinct numbers in order, and the place of each. They are small as a rule: then without sorting."""
    most = int(pairs.max(initial=0)) + 1
    if most > 2 * len(pairs) + 1_024:
        distinct, place = np.unique(pairs, return_inverse=True)
        return distinct, place
    there = np.zeros(most, np.bool_)
    there[pairs] = True
    return there.nonzero()[0], (np.cumsum(there) - 1)[pairs]


def _bounds(messages: Messages, message: I64, numbers: I64, shapes: ShapeTable, index: RangeIndex) -> I64:
    columns = (messages.lo_min, messages.lo_max, messages.hi_min, messages.hi_max)
    bounds = np.stack([column[message] for column in columns])
    for number in np.unique(numbers).tolist():
        range_type = shapes[number].range_type
        if range_type is not None:
            mine = (numbers == number).nonzero()[0]
            bounds[:, mine] = np.stack(index.rectangles(number, range_type, messages, message[mine]))
    return bounds
