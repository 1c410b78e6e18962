"""What a whole stack has told so far: every delivery is read once, however often a test asks what has come.

A test that waits for an answer asks twenty times a second. Reading all deliveries from their beginning each time costs
more than everything that is tested.
"""

from __future__ import annotations

from collections import defaultdict

from tidewire.client.client import Client
from tidewire.client.held_answer import HeldAnswer
from tidewire.client.records import Delivery

QUIET_S = 0.1
"""How long nothing more comes before what came is all there is."""


class Hearer:
    """The deliveries of all subscriptions from the beginning on, by the subscription; close it when done."""

    def __init__(self, client: Client) -> None:
        self._stream = client.deliveries(from_beginning=True)
        self._heard: dict[str, list[Delivery]] = defaultdict(list)

    def deliveries(self, name: str) -> list[Delivery]:
        """Return what has come for a subscription up to now, in order."""
        while come := self._stream.poll(QUIET_S):
            for one in come:
                assert isinstance(one, Delivery)
                self._heard[one.id].append(one)
        return list(self._heard[name])

    def ended(self, name: str) -> Delivery | None:
        """Return the last delivery to a subscription if it says that there will be no other, None before that."""
        told = self.deliveries(name)
        return told[-1] if told and told[-1].kind == "ended" else None

    def held(self, name: str) -> HeldAnswer:
        """Return what a client holds who took all of them."""
        answer = HeldAnswer()
        for told in self.deliveries(name):
            answer.take(told)
        return answer

    def close(self) -> None:
        self._stream.close()
