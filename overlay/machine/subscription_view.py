"""One subscription as its edge sees it now: what a person asks for over HTTP or in a listing."""

from __future__ import annotations

from dataclasses import dataclass, replace

import msgspec
import numpy as np

from catalog.sql.notify import NONE
from catalog.types.column_type import JsonValue
from catalog.types.value import moment_text
from overlay.delivery.delivery import NULL, Position
from overlay.machine.edge_memory import EdgeMemory
from overlay.subscriptions.held_records import HeldRecords
from overlay.subscriptions.subscription_store import SubscriptionStore
from state.order_code import INT64_MAX


@dataclass(frozen=True, slots=True)
class SubscriptionView:
    """`status` is `live`, `accepted` (its snapshot is on the way) or `held` (its table is not known yet).

    `text` is the answer as JSON: a scalar, a list of several outputs, or all values of a DISTINCT. It holds as of `at`,
    the position up to which the edge has followed the shard. `n` is the number of the last delivery of `version`, which
    told this answer unless the policy has held it back; without a snapshot yet, `at` is None and `n` is 0.
    `certainty` is what may still become of an answer about streams, or `final`; `final_at` when it becomes final.
    `replaced_by` is the version of an accepted replacement that waits for its snapshot.

    Of rows, `form` says how they are told, `columns` are their names and `key` the places of the primary key where they
    are told by it; all from the beginning. A bag is not here: `rows` says how many they are, and `snapshot` is `none`
    where its subscriber wanted none.
    """

    id: str
    version: int
    status: str
    sql: str
    n: int = 0
    text: str = NULL
    at: Position | None = None
    replaced_by: int | None = None
    rows: int | None = None
    snapshot: str | None = None
    form: str | None = None
    columns: tuple[str, ...] = ()
    key: tuple[int, ...] = ()
    certainty: str = ""
    final_at: str = ""

    @property
    def answer(self) -> JsonValue | list[JsonValue]:
        """The answer as a value. Cost: O(answer) each time."""
        answer: JsonValue | list[JsonValue] = msgspec.json.decode(self.text)
        return answer


class SubscriptionViews:
    """Looks at subscriptions in a store, and among the records that are held back; `memory` knows the positions."""

    def __init__(self, store: SubscriptionStore, held: HeldRecords, memory: EdgeMemory) -> None:
        self._store = store
        self._held = held
        self._memory = memory

    def find(self, key: bytes) -> SubscriptionView | None:
        """Return the subscription `key` as it is now. Cost: O(1)."""
        slots = self._store.slots
        live, waiting = slots.find(key)
        if live is not None:
            return self._certain(live, self._view(live, None if waiting is None else int(slots.version[waiting])))
        if waiting is not None:
            return self._certain(waiting, self._view(waiting, None))
        held = self._held.newest(key)
        return None if held is None else SubscriptionView(key.decode(), held, "held", "")

    def _certain(self, slot: int, view: SubscriptionView) -> SubscriptionView:
        """Return a view with how certain its answer is, where something is said of that."""
        slots, which = self._store.slots, np.array([slot])
        certainty, when = slots.terms.of(slot).certainty, int(slots.finals.of(which)[0])
        if not certainty:
            return view
        certainty = "final" if slots.finals.told(which)[0] else certainty
        return replace(view, certainty=certainty, final_at="" if when == INT64_MAX else moment_text(when))

    def _view(self, slot: int, replaced_by: int | None) -> SubscriptionView:
        slots = self._store.slots
        entry, terms, n = self._store.shape_of(slot), slots.terms.of(slot), int(slots.n[slot])
        named = (slots.key(slot).decode(), int(slots.version[slot]), "live" if n else "accepted", slots.sql(slot), n)
        form = (entry.form, entry.row_columns, entry.keys if terms.by_key else ())
        if not n:
            return SubscriptionView(*named, NULL, None, None, None, None, *form)
        at = self._memory.followed(int(slots.eras[slot]))
        if entry.bag:
            snapshot = terms.snapshot if terms.snapshot == NONE else None
            return SubscriptionView(*named, NULL, at, replaced_by, int(slots.filters.rows[slot]), snapshot, *form)
        text = entry.plan.text(self._store.answer(slot))
        return SubscriptionView(*named, text, at, replaced_by, None, None, *form)
