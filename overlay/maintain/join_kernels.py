"""The compiled loops that put rows together to joined rows (`maintain/join_replay.py`).

A *root* is one side of a change: the version that went, or came, or both where they join alike. Its joined rows are the
combinations with rows of the other tables, found depth first along the walk of its position. Kernels count them, or
write some of them out; so whoever asks for a part of many pays for the walk up to there, and no memory for the rest.

All of them stand in this one file, because numba's cache does not see changes in another file's functions. They take
plain arrays:

    roots    int64[4, roots]       POSITION, VERSION, TIME (the number of the change), SIDE (OLD, NEW or BOTH)
    steps    int64[6, positions, steps]   by the root's position: PLACE, PARENT, LINK, EARLIER (a table before the
                                   root's in the join, of the same name), and which rows of `compared` are its own
    compared int64[3, n]           row of `keys` for the table of the step, THEIRS that of a table before it, and where
    links    int64[2, links, versions]   FIRST, STOP: the run of `order` that joins each version of the parent
    order    int64[links, versions]      versions by key
    keys     int64[rows, versions]
    lives    int64[2, versions]    BORN, DIED

Cost: 3 ns a row that is looked at, alive or not.
"""

from __future__ import annotations

import numba
import numpy as np

from state.change_batch import I64

POSITION, VERSION, TIME, SIDE = 0, 1, 2, 3
OLD, NEW, BOTH = 0, 1, 2
PLACE, PARENT, LINK, EARLIER, COMPARES, COMPARES_TO = 0, 1, 2, 3, 4, 5
OWN, THEIRS, AT = 0, 1, 2
FIRST, STOP = 0, 1
BORN, DIED = 0, 1


@numba.njit(cache=True)
def _alive(born: int, died: int, time: int, side: int, earlier: bool) -> bool:
    """Whether a version is there on a side of a change. `earlier`: it must not be what the change found or left."""
    if earlier or side == BOTH:
        return born < time and time < died
    if side == OLD:
        return born < time and time <= died
    return born <= time and time < died


@numba.njit(cache=True)
def _joins(first: int, stop: int, compared: I64, keys: I64, chosen: I64, version: int) -> bool:
    """Whether a version has in common what it must with rows that were chosen before, besides its parent."""
    for i in range(first, stop):
        if keys[compared[OWN, i], version] != keys[compared[THEIRS, i], chosen[compared[AT, i]]]:
            return False
    return True


@numba.njit(cache=True)
def _walk(
    root: I64, steps: I64, compared: I64, links: I64, order: I64, keys: I64, lives: I64, chosen: I64, at: I64,
    skip: int, out: I64, start: int,
) -> int:  # fmt: skip
    """Write the combinations of one root to out[:, start:], but for the first `skip`; return how many there are.

    It breaks off where `out` is full. chosen, at: room for the positions, and for a run each step.
    """
    last, found, depth = steps.shape[2] - 1, 0, 0
    chosen[root[POSITION]] = root[VERSION]
    mine = steps[:, root[POSITION]]
    at[FIRST, 0] = links[FIRST, mine[LINK, 0], root[VERSION]]
    at[STOP, 0] = links[STOP, mine[LINK, 0], root[VERSION]]
    while depth >= 0:
        if at[FIRST, depth] == at[STOP, depth]:
            depth -= 1
            continue
        version = order[mine[LINK, depth], at[FIRST, depth]]
        at[FIRST, depth] += 1
        earlier = mine[EARLIER, depth] > 0
        if not _alive(lives[BORN, version], lives[DIED, version], root[TIME], root[SIDE], earlier):
            continue
        first, stop = mine[COMPARES, depth], mine[COMPARES_TO, depth]
        if first < stop and not _joins(first, stop, compared, keys, chosen, version):
            continue
        chosen[mine[PLACE, depth]] = version
        if depth < last:
            depth += 1
            parent = chosen[mine[PARENT, depth]]
            at[FIRST, depth] = links[FIRST, mine[LINK, depth], parent]
            at[STOP, depth] = links[STOP, mine[LINK, depth], parent]
            continue
        found += 1
        if found > skip and out.shape[1]:
            if start == out.shape[1]:
                return found
            for place in range(len(chosen)):
                out[place, start] = chosen[place]
            start += 1
    return found


@numba.njit(cache=True)
def count(
    roots: I64, steps: I64, compared: I64, links: I64, order: I64, keys: I64, lives: I64, counts: I64
) -> None:  # fmt: skip
    """Write how many combinations each root has."""
    chosen, at = np.empty(steps.shape[1], np.int64), np.empty((2, steps.shape[2]), np.int64)
    nothing = np.empty((steps.shape[1] + 1, 0), np.int64)
    zero = np.int64(0)  # numba compiles what is called with a literal 0 once more for it
    for r in range(roots.shape[1]):
        counts[r] = _walk(roots[:, r], steps, compared, links, order, keys, lives, chosen, at, zero, nothing, zero)


@numba.njit(cache=True)
def write(
    roots: I64, steps: I64, compared: I64, links: I64, order: I64, keys: I64, lives: I64, counts: I64,
    root: int, skip: int, out: I64,
) -> None:  # fmt: skip
    """Fill `out`, int64[positions + 1, n], with the combinations from number `skip` of a root on.

    Of each there are its versions by position, and below them the number of its root. There must be as many.
    """
    chosen, at = np.empty(steps.shape[1], np.int64), np.empty((2, steps.shape[2]), np.int64)
    start = np.int64(0)
    while start < out.shape[1]:
        _walk(roots[:, root], steps, compared, links, order, keys, lives, chosen, at, skip, out, start)
        end = min(start + counts[root] - skip, out.shape[1])
        out[-1, start:end] = root
        start, skip = end, 0
        root += 1


ENTRIES = (count, write)


def warm() -> None:
    """Compile the kernels, or load them from numba's cache."""
    roots, steps = np.zeros((4, 1), np.int64), np.zeros((6, 2, 1), np.int64)
    shared = (np.zeros((3, 0), np.int64), np.zeros((2, 1, 1), np.int64), np.zeros((1, 1), np.int64))
    lives = np.zeros((2, 1), np.int64)
    counts = np.zeros(1, np.int64)
    count(roots, steps, *shared, shared[2], lives, counts)
    write(roots, steps, *shared, shared[2], lives, counts, 0, 0, np.zeros((3, 0), np.int64))
    for kernel in ENTRIES:
        if hasattr(kernel, "disable_compile"):
            kernel.disable_compile()
