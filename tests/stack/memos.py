"""A table of long texts: an answer of all its rows is told in parts, and its first answer takes several records."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator

from connectors.json.writer import encode_key, encode_row
from connectors.record import OutRecord
from connectors.topics import Topics
from tests.stack.trades import relation_of

MEMO = "CREATE TABLE memo (id INTEGER PRIMARY KEY, stars INTEGER, body VARCHAR)"
MEMOS = 500
LETTERS = 5_000
CONDITIONS = ["", " WHERE stars <> 1", " WHERE stars IN (0, 2, 3) OR id < 20", " WHERE NOT (stars = 0 AND id > 9)"]


class Memos:
    """Memos, of which some change, and questions for most of them; the same for the same seed."""

    def __init__(self, seed: int, topics: Topics) -> None:
        self._choose = random.Random(seed)
        self._topic = topics.subscriptions
        self._relation = relation_of(MEMO, "memo")
        self.sent = 0
        self.asked = 0

    def first(self) -> Iterator[OutRecord]:
        """Yield all of them."""
        yield from (self._memo(id) for id in range(MEMOS))

    def changes(self, count: int) -> Iterator[OutRecord]:
        """Yield `count` new forms of some of them."""
        yield from (self._memo(self._choose.randrange(MEMOS)) for _ in range(count))

    def questions(self, count: int) -> Iterator[OutRecord]:
        """Yield `count` new questions for most of the rows."""
        for _ in range(count):
            self.asked += 1
            sql = f"SELECT stars, body, id FROM memo{self._choose.choice(CONDITIONS)} NOTIFY LATEST"
            yield OutRecord(self._topic, None, b"memo%d" % self.asked, json.dumps({"sql": sql}).encode())

    def _memo(self, id: int) -> OutRecord:
        self.sent += 1
        row = {"id": id, "stars": self._choose.randrange(4), "body": self._choose.choice("xyz") * LETTERS}
        return OutRecord("memo", None, encode_key(self._relation, row), encode_row(self._relation, row))
