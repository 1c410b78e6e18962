"""Looks of one process: who wants to see the rows of a bag waits here, and the edge's thread asks the shards.

    event loop      look ──► wanted ─┐                              ┌─► Looked, or why not
    edge's thread                    └─► asked with the next step ──┤ the answer's step is committed
                                                                    └─ the virtual edge moves, or the epoch ends

A look takes a step, a batch of the engine and another step. It is told when the step that read its answer is committed,
so that nobody sees rows beside an older answer, and it is given up after `LOOK_SECONDS`.
"""

from __future__ import annotations

import asyncio
import secrets
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from connectors.http.answer import Elsewhere, Found, NotNow, Unknown
from connectors.http.gateway import Looked, NoBag, TooManyRows
from overlay.answers import quota
from overlay.delivery.bag_delivery import FORM
from overlay.process.edge_answers import EdgeAnswers
from overlay.subscriptions.bag_looks import Denied, LookedRows, LookRefused, Outcome

LOOK_SECONDS = 10.0
_BITS = 62
Said = Looked | TooManyRows | NoBag | Elsewhere | Unknown | NotNow
Ask = Callable[[int, bytes], Denied | None]
"""Asks a virtual edge for the rows of an id under a number: `OwnedEdges.look`."""


@dataclass(slots=True)
class _Waiting:
    """Somebody who waits on an event loop."""

    key: bytes
    loop: asyncio.AbstractEventLoop
    said: asyncio.Future[Said]

    def tell(self, said: Said) -> None:
        """Tell what became of the look. For any thread."""
        self.loop.call_soon_threadsafe(self._set, said)

    def _set(self, said: Said) -> None:
        if not self.said.done():
            self.said.set_result(said)


class ShardLooks:
    """See the module's header. It is a `RowsProtocol`; `seconds`: so long a look may take."""

    def __init__(self, answers: EdgeAnswers, seconds: float = LOOK_SECONDS) -> None:
        self._answers = answers
        self._seconds = seconds
        self._lock = threading.Lock()
        self._wanted: dict[int, _Waiting] = {}
        self._asked: dict[int, _Waiting] = {}
        self._over: list[tuple[int, bytes]] = []

    async def look(self, identifier: str) -> Said:
        """Return the rows of a bag, at least as new as what was told before the call. Raises EdgeBusy."""
        where = (await asyncio.to_thread(self._answers.look, [identifier]))[0]
        if not isinstance(where, Found):
            return where
        if where.body.get("status") != "live":
            return NotNow(f"`{identifier}` has no snapshot yet")
        if where.body.get("form") != FORM:
            return NoBag()
        loop = asyncio.get_running_loop()
        number, waiting = -1 - secrets.randbits(_BITS), _Waiting(identifier.encode(), loop, loop.create_future())
        with self._lock:
            self._wanted[number] = waiting
        try:
            return await asyncio.wait_for(waiting.said, self._seconds)
        except TimeoutError:
            return NotNow(f"no batch has brought the rows within {self._seconds:g} s")
        finally:
            self._forget(number, waiting.key)

    # -- the edge's thread ----------------------------------------------------------------------------------------

    def ask(self, ask: Ask, forget: Ask) -> None:
        """Ask for what is wanted, with the step that is being made; `forget` what nobody waits for any more."""
        with self._lock:
            wanted, self._wanted = self._wanted, {}
            over, self._over = self._over, []
            self._asked |= wanted
        for number, key in over:
            forget(number, key)
        for number, waiting in wanted.items():
            denied = ask(number, waiting.key)
            if denied is not None:
                waiting.tell(_denied(denied))

    def told(self, looked: Sequence[tuple[int, Outcome]]) -> None:
        """Tell what was read in a step that is committed now."""
        for number, outcome in looked:
            with self._lock:
                waiting = self._asked.pop(number, None)
            if waiting is not None:
                waiting.tell(_said(outcome))

    def lost(self) -> None:
        """Tell all who were asked for that there will be no answer: what was owned is forgotten."""
        with self._lock:
            asked, self._asked = self._asked, {}
        for waiting in asked.values():
            waiting.tell(_said(None))

    def _forget(self, number: int, key: bytes) -> None:
        with self._lock:
            self._wanted.pop(number, None)
            if self._asked.pop(number, None) is not None:
                self._over.append((number, key))


def _denied(denied: Denied) -> Said:
    if denied is Denied.UNKNOWN:
        return Unknown()
    return NoBag() if denied is Denied.NO_BAG else NotNow("too many look at rows now, or at these already")


def _said(outcome: Outcome) -> Said:
    match outcome:
        case LookedRows():
            return Looked(outcome.version, outcome.n, outcome.at, outcome.sql, outcome.rows, outcome.keys)
        case LookRefused(quota.REASON, message):
            return TooManyRows(message)
        case LookRefused():
            return NotNow(outcome.message)
    return NotNow("the subscription was replaced or moved, or the engine started anew, while its rows were looked up")
