"""Stage `route`: which virtual edges get which messages.

A message goes to a virtual edge where its rectangle meets a box of the edge's summary (state/boxes.py); what meets
no box of any edge is not sent (Interface paper 2.4.1, active ranges). Edges that get the same messages share the bytes.
An edge that wants more than half (`MUCH`) of what is sent to edges with the same channels gets all of it: a part of its
own takes 0.25 us a message to pack, which all of a shard's edges wait for, and an edge drops what nobody wants.

Promise: never a false negative. Boxes cover all that an edge asks for, and `_round_up` only adds; it adds nothing of a
channel that an edge does not hear.
Cost: O(messages * virtual edges): 4 to 11 ns for each pair with 16 edges of 16 boxes, all in all (100,000 messages).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from catalog.query.channel import Channel
from operators.operator import Ranged
from state.box_sieve import Sieve
from state.boxes import Boxes, hashes_of
from state.change_batch import I64, Bool

MUCH = 0.5

Listeners = Mapping[Channel, Mapping[int, Boxes]]
"""For each channel, the virtual edges that listen, and what each wants of it."""


@dataclass(slots=True)
class Route:
    """`parts`: rows of messages, and the virtual edges that get them.

    suppressed: messages that no edge gets.  routed: messages that edges get, counted once for each.
    spared: the same for those that an edge would get if it had no boxes.
    """

    parts: list[tuple[I64, list[int]]] = field(default_factory=list)
    suppressed: int = 0
    routed: int = 0
    spared: int = 0


def route(listeners: Listeners, messages: Ranged, partitions: int) -> Route:
    """Return which of the virtual edges below `partitions` get which messages."""
    if not len(messages):
        return Route()
    heard = [listeners.get(channel, {}) for channel in messages.channels]
    wanted = _wanted(heard, messages, partitions)
    present = np.unique(messages.channel).tolist()
    by_channels: dict[tuple[int, ...], list[int]] = {}  # none is given what it does not hear
    for ve in np.flatnonzero(wanted.any(axis=1)).tolist():
        by_channels.setdefault(tuple(number for number in present if ve in heard[number]), []).append(ve)
    by_rows: dict[bytes, list[int]] = {}  # who gets the very same is sent the same bytes
    for edges in by_channels.values():
        _round_up(wanted, edges)
        for ve in edges:
            by_rows.setdefault(np.packbits(wanted[ve]).tobytes(), []).append(ve)
    counts = np.bincount(messages.channel, minlength=len(heard))
    listened = sum(int(counts[number]) * len(heard[number]) for number in present)
    routed = int(np.count_nonzero(wanted))
    return Route(
        parts=[(np.flatnonzero(wanted[edges[0]]), edges) for edges in by_rows.values()],
        suppressed=int(np.count_nonzero(~wanted.any(axis=0))),
        routed=routed,
        spared=listened - routed,
    )


def viewers_of(listeners: Listeners, channel: Channel, partitions: int) -> list[int]:
    """Return which of the virtual edges below `partitions` get the images of rows: all that want any.

    What they are about has no group and no range, so boxes say no more of it than whether there are some.
    """
    return sorted(ve for ve, boxes in listeners.get(channel, {}).items() if ve < partitions and len(boxes))


def _wanted(heard: list[Mapping[int, Boxes]], messages: Ranged, partitions: int) -> Bool:
    """Return bool[virtual edges, messages]."""
    none = Boxes.none()
    sieve = Sieve([[boxes.get(ve, none) for ve in range(partitions)] for boxes in heard])
    rectangles = (messages.lo_min, messages.lo_max, messages.hi_min, messages.hi_max)
    return sieve.meets(hashes_of(messages.groups), messages.channel, messages.group, rectangles)


def _round_up(wanted: Bool, edges: list[int]) -> None:
    """Give those of `edges` that want more than half of what any of them wants, all of it."""
    union = wanted[edges].any(axis=0)
    total = int(np.count_nonzero(union))
    for ve in edges:
        if np.count_nonzero(wanted[ve]) > MUCH * total:
            wanted[ve] = union
