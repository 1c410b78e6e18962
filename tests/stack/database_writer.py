"""Changes a database in the background, as far as it is allowed to."""

from __future__ import annotations

import random
import threading
from typing import Protocol

from tests.stack.live_stack import eventually
from tests.stack.postgres import Postgres

_AT_ONCE = 60


class Statements(Protocol):
    def next(self) -> str: ...


class DatabaseWriter(threading.Thread):
    """Runs up to `allowed` statements: mostly one by one, some in one transaction, and some that are taken back."""

    def __init__(self, database: Postgres, statements: Statements, table: str, per_second: float, seed: int) -> None:
        super().__init__(daemon=True)
        self._database = database
        self._statements = statements
        self._table = table
        self._pause = _AT_ONCE / per_second
        self._choose = random.Random(seed)
        self._ended = threading.Event()
        self.allowed = 0
        self.sent = 0
        self.problem: Exception | None = None

    def run(self) -> None:
        try:
            while not self._ended.wait(self._pause):
                if self.sent < self.allowed:
                    self._write(min(_AT_ONCE, self.allowed - self.sent))
        except Exception as problem:
            self.problem = problem

    def _write(self, many: int) -> None:
        statements = [self._statements.next() for _ in range(many)]
        chance = self._choose.random()
        if chance < 0.2:
            statements = ["BEGIN", *statements, "COMMIT"]
        elif chance < 0.3:
            statements += ["BEGIN", f"DELETE FROM {self._table}", "ROLLBACK"]
        self._database.sql(";\n".join(statements))
        self.sent += many

    def await_sent(self, count: int) -> None:
        """Allow as many, and return when they are there."""
        self.allowed = max(self.allowed, count)
        eventually(lambda: self.problem or self.sent >= count, f"{count} statements on {self._table}")
        if self.problem is not None:
            raise self.problem

    def finish(self) -> None:
        self._ended.set()
        self.join()
