"""Subscriptions that are over, many at a time: their subscribers are told, and they are forgotten everywhere.

A dropped table, a crowd that unsubscribes and a TTL that thousands have in common end as many in one step.
"""

from __future__ import annotations

from collections.abc import Callable

from overlay.delivery import ack
from overlay.delivery.bag_delivery import BAG_ENDED
from overlay.delivery.delivery import NULL, Position, delivery, json_names, moved
from overlay.delivery.outbox import Outbox
from overlay.subscriptions.edge_counters import EdgeCounters
from overlay.subscriptions.subscription_store import SubscriptionStore
from state.change_batch import I64


class Endings:
    """followed(era) is the position up to which slots of an era have followed their shards."""

    def __init__(
        self, store: SubscriptionStore, outbox: Outbox, counters: EdgeCounters, followed: Callable[[int], Position]
    ) -> None:
        self._store = store
        self._outbox = outbox
        self._counters = counters
        self._followed = followed

    def end(self, slots: I64, reason: str) -> None:
        """Say that subscriptions (different slots) are over, in this order, and forget them.

        Those that had a snapshot get a last delivery, all of them an acknowledgement.
        Cost: 4 us each where answers are kept in columns, else 5 to 7 us and their texts; 0.1 ms a call.
        """
        if not len(slots):
            return
        table = self._store.slots
        keys = table.keys(slots)
        names = json_names(keys)
        self._deliver(slots, keys, names, reason)
        versions = table.version[slots].tolist()
        self._outbox.acks(keys, [ack.ended(*one, reason) for one in zip(names, versions, strict=True)])
        self._store.retire(slots)

    def _deliver(self, slots: I64, keys: list[bytes], names: list[str], reason: str) -> None:
        """Tell those that are live."""
        table = self._store.slots
        which = (table.n[slots] > 0).nonzero()[0]
        if not len(which):
            return
        live = slots[which]
        eras = table.eras[live].tolist()
        texts = {era: self._followed(era).text for era in set(eras)}
        rows = zip(
            which.tolist(), table.version[live].tolist(), table.n[live].tolist(), self._bodies(live), eras, strict=True
        )
        told = [
            delivery(names[i], "ended", version, n + 1, body, texts[era], reason=reason)
            for i, version, n, body, era in rows
        ]
        self._outbox.deliver_all([keys[i] for i in which.tolist()], told, table.terms.forms(live))
        self._counters.deliveries += len(live)

    def _bodies(self, slots: I64) -> list[str]:
        """Return what is told of answers that are no more."""
        store, table = self._store, self._store.slots
        olds = store.shapes.texts(table.shape[slots], table.value[slots], table.known[slots])
        bodies = [moved(old, NULL) for old in olds]
        for i in table.filters.are(slots).nonzero()[0].tolist():
            if store.shape_of(int(slots[i])).bag:
                bodies[i] = BAG_ENDED
        if len(store.answers) or len(store.lists):
            for i, slot in enumerate(slots.tolist()):
                if store.answers.answer(slot) is not None or slot in store.lists:
                    bodies[i] = store.shape_of(slot).plan.body(store.answer(slot), None)
        return bodies
