"""A chain of shards and an edge over one table of few values, and what is told to those who ask for its rows."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import strategies as st

from overlay.subscriptions.summaries import Patience
from tests.oracle.naive_channels import KEYS
from tidewire.pure_pipeline import PurePipeline

TEXTS, WIDE = ("a", "ab", "b"), ("-1.50", "0.00", "123456789012345678.25")
Row = dict[str, Any]
values = st.none() | st.integers(0, 2)
changes = st.lists(st.tuples(st.sampled_from(KEYS), st.none() | st.tuples(values, values, values)), max_size=5)


def published(key: str, row: tuple[int | None, ...] | None) -> Row | None:
    """Return a row as JSON; `s` says what x says, `w` what m says."""
    if row is None:
        return None
    g, x, m = row
    return {
        "k": key, "g": g, "x": x, "m": m, "s": None if x is None else TEXTS[x], "w": None if m is None else WIDE[m],
    }  # fmt: skip


class RowChain:
    """A pipeline and what its table, of topic t, holds; `hear` gets each delivery in turn."""

    def __init__(self, ddl: str) -> None:
        self.pipeline = PurePipeline(1, Patience(0, 1))
        self.pipeline.apply(ddl)
        self.rows: dict[str, Row] = {}
        self._read = 0

    def said(self, key: str, row: tuple[int | None, ...] | None) -> Row | None:
        """Return what is published of a row, None where it goes."""
        return published(key, row)

    def stored(self, said: Row) -> Row:
        """Return a published row as the twin has it."""
        return said

    def publish(self, rows: list[Any]) -> None:
        for key, row in rows:
            said = self.said(key, row)
            value = None if said is None else msgspec.json.encode(said)
            self.pipeline.append("t", msgspec.json.encode({"k": key}), value)
            self.rows.pop(key, None)
            if said is not None:
                self.rows[key] = self.stored(said)
        self.pipeline.settle()

    def ask_sql(self, name: str, sql: str) -> None:
        record = msgspec.json.encode({"sql": sql})
        self.pipeline.append(self.pipeline.topics.subscriptions, name.encode(), record)
        self.pipeline.settle()

    def begin_epoch(self) -> None:
        self.pipeline.begin_epoch()
        self.pipeline.settle()

    def lose_edge(self, compact: bool) -> None:
        self.pipeline.lose_edge(0, compact=compact)
        self.pipeline.settle()

    def listen(self) -> None:
        log = self.pipeline.logs[self.pipeline.topics.deliveries][0]
        for key, value in log[self._read :]:
            if key != b"@progress" and value is not None and key is not None:
                self.hear(key.decode(), msgspec.json.decode(value))
        self._read = len(log)

    def hear(self, name: str, line: dict[str, Any]) -> None:
        raise NotImplementedError
