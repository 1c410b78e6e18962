"""A table of long texts: an answer of all its rows is told in parts, and its first answer takes several records."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from connectors.json.writer import encode_key, encode_row
from connectors.record import OutRecord
from connectors.topics import Topics
from tests.stack.source import Source
from tests.stack.trades import relation_of

MEMO = "CREATE TABLE memo (id INTEGER PRIMARY KEY, stars INTEGER, body VARCHAR)"
MEMOS = 500
LETTERS = 5_000
CONDITIONS = ["", " WHERE stars <> 1", " WHERE stars IN (0, 2, 3) OR id < 20", " WHERE NOT (stars = 0 AND id > 9)"]


class Memos(Source):
    """Memos, of which some change, and questions for most of them; the same for the same seed."""

    name = "memo"

    def __init__(self, seed: int, topics: Topics) -> None:
        super().__init__(seed, topics)
        self._relation = relation_of(MEMO, "memo")

    def first(self) -> Iterator[OutRecord]:
        """Yield all of them."""
        yield from (self._memo(id) for id in range(MEMOS))

    def next(self) -> OutRecord:
        """Return a new form of one of them."""
        return self._memo(self._choose.randrange(MEMOS))

    def ask(self) -> dict[str, Any]:
        """Return what a record of `subscriptions` says, for most of the rows."""
        return {"sql": f"SELECT stars, body, id FROM memo{self._choose.choice(CONDITIONS)} NOTIFY LATEST"}

    def _memo(self, id: int) -> OutRecord:
        self.sent += 1
        row = {"id": id, "stars": self._choose.randrange(4), "body": self._choose.choice("xyz") * LETTERS}
        return OutRecord("memo", None, encode_key(self._relation, row), encode_row(self._relation, row))
