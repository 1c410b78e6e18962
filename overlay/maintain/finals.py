"""Answers that become final: about windows of event time that have closed (`catalog/schema/stream.py`).

A shard of a view of streams says with what it sends how far the view is complete: its *horizon*. Whoever asked about
windows that end by then is told so behind all else of the batch, once:

    {"id":"high","kind":"final","version":7,"n":5,"old":"80.00","new":"80.00",
     "at":{"epoch":0,"batch":41,"upto":"2026-03-02T11:00:00"}}

`upto` is the end of the last window that was asked about. `old` is what was told before, as a rule the same: NOTIFY MIN
CHANGE and NOTIFY FINAL may have held something back. From then on the slot keeps its answer whatever comes: it leaves
index and summaries, and is not registered again in a new epoch: it is only compared (`contradictions.py`).
Cost: O(slots) in numpy for each horizon that comes, once any slot becomes final one day; 10 us for each that does.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from catalog.types.value import moment_text
from overlay.answers.answer import Answer
from overlay.delivery.bag_delivery import BAG_ENDED
from overlay.delivery.delivery import Position, delivery, how_certain, json_text
from overlay.delivery.outbox import Outbox
from overlay.subscriptions.edge_counters import EdgeCounters
from overlay.subscriptions.subscription_store import TOLD_APART, SubscriptionStore
from overlay.table.slot_table import SlotTable
from state.change_batch import I64
from state.order_code import INT64_MAX

REASON = "final"
"""Why a subscription ends that asked for nothing but its final answer."""


def certainties(table: SlotTable, slots: I64) -> list[str]:
    """Return what snapshots and acknowledgements of slots say of how certain answers are.

    Cost: 20 ns each where none says any, else 5 us.
    """
    numbers, place = np.unique(table.terms.number[slots], return_inverse=True)
    certainty = [table.terms.value(number).certainty for number in numbers.tolist()]
    if not any(certainty):
        return [""] * len(slots)
    whens = [json_text(moment_text(when)) if when != INT64_MAX else "" for when in table.finals.of(slots).tolist()]
    return [how_certain(certainty[which], when) for which, when in zip(place.tolist(), whens, strict=True)]


class Finals:
    """Tells those whose answers become final."""

    def __init__(self, store: SubscriptionStore, outbox: Outbox, counters: EdgeCounters) -> None:
        self._store = store
        self._outbox = outbox
        self._counters = counters

    def tell(self, horizons: Mapping[str, int], position: Position, but: Collection[int]) -> list[int]:
        """Tell who is final by the horizons of shards at the end of a batch; return the slots that end with it.

        `but` are slots that end for another reason.
        """
        over: list[int] = []
        for shard, horizon in sorted(horizons.items()):
            slots = self._due(shard.rpartition("/")[0], horizon)
            slots = slots[~np.isin(slots, list(but))]
            if len(slots):
                over += self._told(slots, position)
        return over

    def _due(self, relation: str, horizon: int) -> I64:
        """Return the slots that ask `relation`, follow it, and are final by `horizon`."""
        table = self._store.slots
        due = table.finals.due(horizon, table.version) if len(table.finals) else np.zeros(0, np.int64)
        due = due[(table.n[due] > 0) & (table.eras[due] == table.era)]
        shapes = [number for number in np.unique(table.shape[due]).tolist() if self._asks(number, relation)]
        return due[np.isin(table.shape[due], shapes)]

    def _asks(self, shape: int, relation: str) -> bool:
        return self._store.shapes[shape].shape.relation == relation

    def _told(self, slots: I64, position: Position) -> list[int]:
        table = self._store.slots
        moments, numbers = table.finals.of(slots).tolist(), self._store.number(slots).tolist()
        for slot, n, moment in zip(slots.tolist(), numbers, moments, strict=True):
            key, terms = table.key(slot), table.terms.of(slot)
            at = f'{{"epoch":{position.epoch},"batch":{position.batch},"upto":"{moment_text(moment)}"}}'
            told = delivery(json_text(key.decode()), "final", int(table.version[slot]), n, self._body(slot), at)
            self._outbox.deliver(key, told, terms.deliver)
        self._counters.deliveries += len(slots)
        self._counters.finals += len(slots)
        self._store.finish(slots)
        return [slot for slot in slots.tolist() if table.terms.of(slot).notify.kind == "final"]

    def _body(self, slot: int) -> str:
        """Return what is told of an answer: of rows that none goes or comes, of others also what was held back."""
        entry = self._store.shape_of(slot)
        if entry.bag or entry.shown_images:
            return BAG_ENDED
        answer = self._store.answer(slot)
        told: Answer = answer
        if self._store.slots.terms.of(slot).notify.kind in TOLD_APART:
            told = (self._store.answers.of(slot).last_told,)
            self._store.answers.start(slot, answer)
        return entry.plan.body(told, answer)
