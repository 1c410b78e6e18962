"""Changes that are published in the background, amid which a test does something else."""

from __future__ import annotations

import random
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager

from tests.stack.live_stack import LiveStack
from tidewire.client.client import Client


class Traffic(ABC):
    """Publishes one random change after the other until it is closed; begins at once."""

    def __init__(self, stack: LiveStack) -> None:
        self._address = stack.settings.address
        self._choose = random.Random(20_261_129)
        self._free, self._ended = threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    @contextmanager
    def stilled(self) -> Iterator[None]:
        """Publish nothing meanwhile; all that was published is with the broker."""
        with self._free:
            yield

    def close(self) -> None:
        self._ended.set()
        self._thread.join(60)

    def _run(self) -> None:
        with Client(self._address) as client:
            while not self._ended.wait(0.02):
                with self._free:
                    self.change(client)

    @abstractmethod
    def change(self, client: Client) -> None:
        """Publish a change, and note what the tables come to."""
