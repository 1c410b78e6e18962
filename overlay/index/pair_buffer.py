"""Room for query results whose number nobody knows before: filled, kept, doubled where one message needs more."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from state.change_batch import I32, I64

Pairs = tuple[I64, I32]
_LEAST = 1_024


def collect(room: int, messages: int, run: Callable[[int, Pairs], tuple[int, int]]) -> list[Pairs]:
    """Return all (message, slot) pairs, in pieces.

    `run(start, out)` writes the pairs of messages from `start` on into `out` and returns (next, count): where it
    stopped for want of room, and how many pairs of the messages before that stand in `out`.
    """
    pieces: list[Pairs] = []
    start, room = 0, max(room, _LEAST)
    while start < messages:
        out = (np.empty(room, np.int64), np.empty(room, np.int32))
        start, count = run(start, out)
        if count:
            pieces.append((out[0][:count], out[1][:count]))
        room = room * 2
    return pieces


def in_order(pieces: list[Pairs]) -> Pairs:
    """Return the pieces as one, in the order of messages; each piece is so already."""
    if not pieces:
        return np.empty(0, np.int64), np.empty(0, np.int32)
    if len(pieces) == 1:
        return pieces[0]
    message = np.concatenate([piece[0] for piece in pieces])
    slot = np.concatenate([piece[1] for piece in pieces])
    order = np.argsort(message, kind="stable")
    return message[order], slot[order]
