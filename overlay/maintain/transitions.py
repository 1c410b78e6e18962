"""From hits to transitions: what each hit subscription held, whether that changes, and its counter.

A batch of hits is (message, slot, new value) in causal order; a slot may be hit many times. Every change is
delivered, so the value held before a hit is the one of the hit before it on the same slot. Instead of walking the
hits one by one they are sorted by slot (stably), which puts each slot's history in one run.

    slot   3 3 3 7 7        held before the batch: 3 -> a, 7 -> b
    new    a c c b d
    old    a a c b b        first of a run: what was held; else the `new` before it
    moves  . x . . x        a hit that changes nothing is suppressed (defensive: shards send none)
    n        1     1        added to the slot's counter

Cost: O(h log h) for h hits, all in numpy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from state.change_batch import I64, Bool


def counted(slots: I64, rows: I64, held: I64) -> I64:
    """Return the count that each hit leaves: what its slot held before the batch, and all `rows` up to the hit.

    Arrays are int64[h], in the order of hits; `held` is that of each hit's slot. Cost: O(h log h).
    """
    order = np.argsort(slots, kind="stable")
    run, total = slots[order], np.cumsum(rows[order])
    first = np.ones(len(run), np.bool_)
    first[1:] = run[1:] != run[:-1]
    starts = first.nonzero()[0]
    before = total[starts] - rows[order][starts]
    counts = np.empty(len(run), np.int64)
    counts[order] = held[order] + total - np.repeat(before, np.diff(starts, append=len(run)))
    return counts


@dataclass(slots=True)
class Transitions:
    """Per hit, in the order given: `old`/`old_known` and `moves`, `n` after it. Per slot: what it holds at the end."""

    old: I64
    old_known: Bool
    moves: Bool
    n: I64
    slots: I64
    value: I64
    known: Bool
    last_n: I64


def transitions(slots: I64, new: I64, known: Bool, held: I64, held_known: Bool, held_n: I64) -> Transitions:
    """Work out what `h` hits do. All arrays are int64[h] or bool[h]; codes of unknown (NULL) values are 0.

    `held`, `held_known`, `held_n` are the state of each hit's slot before the batch.
    """
    order = np.argsort(slots, kind="stable")
    run = slots[order]
    first = np.ones(len(run), np.bool_)
    first[1:] = run[1:] != run[:-1]
    value, is_known = new[order], known[order]
    old = np.where(first, held[order], np.roll(value, 1))
    old_known = np.where(first, held_known[order], np.roll(is_known, 1))
    moves = (old_known != is_known) | (old != value)
    total = np.cumsum(moves)
    starts = first.nonzero()[0]
    before = total[starts] - moves[starts]
    n = held_n[order] + total - np.repeat(before, np.diff(starts, append=len(run)))
    last = np.append(starts[1:], len(run)) - 1 if len(run) else starts
    at = np.empty(len(order), np.int64)
    at[order] = np.arange(len(order))
    return Transitions(old[at], old_known[at], moves[at], n[at], run[last], value[last], is_known[last], n[last])
