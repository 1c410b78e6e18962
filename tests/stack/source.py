"""What tests of a stack publish and ask: changes one after the other, and questions under names of their own.

What is about views alone asks only (`Inquiry`); what has a table or a stream publishes, too (`Source`).
"""

from __future__ import annotations

import json
import random
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

from connectors.record import OutRecord
from connectors.topics import Topics


class Inquiry(ABC):
    """Questions; the same for the same seed. `asked` is how many there were, and the last one's number."""

    name: ClassVar[str]

    def __init__(self, seed: int, topics: Topics) -> None:
        self._choose = random.Random(seed)
        self._topic = topics.subscriptions
        self.asked = 0

    def questions(self, count: int, **about: Any) -> Iterator[OutRecord]:
        """Yield `count` new questions; `about` is for `ask`."""
        for _ in range(count):
            self.asked += 1
            yield OutRecord(
                self._topic, None, f"{self.name}{self.asked}".encode(), json.dumps(self.ask(**about)).encode()
            )

    @abstractmethod
    def ask(self) -> dict[str, Any]:
        """Return what a record of `subscriptions` says."""


class Source(Inquiry):
    """Changes as well, and how many were `sent`."""

    def __init__(self, seed: int, topics: Topics) -> None:
        super().__init__(seed, topics)
        self.sent = 0

    def changes(self, count: int) -> Iterator[OutRecord]:
        """Yield `count` changes."""
        return (self.next() for _ in range(count))

    @abstractmethod
    def next(self) -> OutRecord:
        """Return what happens next."""
