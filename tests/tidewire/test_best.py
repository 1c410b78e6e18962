"""First rows through the whole chain, shards and edges: what a subscriber holds is what its ORDER BY finds, always."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cmp_to_key
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.effort import deep_examples
from tests.tidewire.row_chain import WIDE, Row, RowChain, changes

DDL = (
    "CREATE TABLE t (k VARCHAR PRIMARY KEY, g BIGINT, x BIGINT, m BIGINT, s VARCHAR, w DECIMAL(20, 2)) "
    "WITH ('topic'='t', 'format'='json')"
)


@dataclass(frozen=True)
class Best:
    """A question for first rows: `order` has column, descending, NULLs first (None: unsaid)."""

    shown: tuple[str, ...]
    g: int | None
    range: tuple[str, Any, Any] | None
    order: tuple[tuple[str, bool, bool | None], ...]
    limit: int
    latest: bool

    @property
    def sql(self) -> str:
        tests = [] if self.g is None else [f"g = {self.g}"]
        if self.range is not None:
            column, lo, hi = self.range
            tests += [f"{column} >= {lo!r}", f"{column} <= {hi!r}"]
        order = [
            name + " DESC" * descending + ("" if first is None else f" NULLS {'FIRST' if first else 'LAST'}")
            for name, descending, first in self.order
        ]
        where = f" WHERE {' AND '.join(tests)}" if tests else ""
        end = " NOTIFY LATEST" if self.latest else ""
        return f"SELECT {', '.join(self.shown)} FROM t{where} ORDER BY {', '.join(order)} LIMIT {self.limit}{end}"

    def answer(self, rows: list[Row]) -> list[list[Any]]:
        """Return what it shows of `rows`."""
        found = sorted(filter(self.holds, rows), key=cmp_to_key(self._compare))[: self.limit]
        return [[row[name] for name in self.shown] for row in found]

    def holds(self, row: Row) -> bool:
        if self.g is not None and row["g"] != self.g:
            return False
        if self.range is None:
            return True
        column, lo, hi = self.range
        return row[column] is not None and lo <= row[column] <= hi

    def _compare(self, one: Row, other: Row) -> int:
        for name, descending, first in self.order:
            a, b = (WIDE.index(row[name]) if name == "w" and row[name] else row[name] for row in (one, other))
            if a == b:
                continue
            if a is None or b is None:
                return -1 if (a is None) == (descending if first is None else first) else 1
            return -1 if (a < b) != descending else 1
        return 0


numbers = st.sampled_from([("x", 0, 1), ("x", 1, 2), ("x", 1, 1), ("x", 0, 2), ("x", 2, 1), ("m", 0, 1)])
texts = st.sampled_from([("s", "a", "ab"), ("s", "ab", "b"), ("s", "a", "a"), ("s", "", "z"), ("s", "b", "a")])
column = st.tuples(st.sampled_from(["m", "x", "s", "w", "g"]), st.booleans(), st.sampled_from([None, False, True]))
questions = st.builds(
    lambda shown, g, range_, order, down, limit, latest: Best(
        shown, g, range_, (*{name: (name, d, f) for name, d, f in order}.values(), ("k", down, None)), limit, latest
    ),
    st.sampled_from([("k", "m"), ("s",), ("m", "k", "m"), ("w", "g"), ("x",)]),
    st.none() | st.integers(0, 2),
    st.none() | numbers | texts,
    st.lists(column, max_size=2),
    st.booleans(),
    st.integers(0, 4),
    st.booleans(),
)
events = st.one_of(
    st.tuples(st.just("rows"), changes),
    st.tuples(st.just("rows"), changes),
    st.tuples(st.just("ask"), questions),
    st.tuples(st.just("epoch"), st.none()),
    st.tuples(st.just("lose"), st.booleans()),
)


class Chain(RowChain):
    """What each subscriber holds of its first rows."""

    def __init__(self) -> None:
        super().__init__(DDL)
        self.asked: list[Best] = []
        self.held: dict[str, list[Any]] = {}
        self.n: dict[str, int] = {}

    def ask(self, best: Best) -> None:
        self.ask_sql(f"q{len(self.asked)}", best.sql)
        self.asked.append(best)

    def hear(self, name: str, line: dict[str, Any]) -> None:
        assert line["kind"] == "change" or line.get("form") == "list" or line.get("same"), line
        before = list(self.held.get(name, ()))
        if line["kind"] == "snapshot" or line.get("whole"):
            self.held[name] = []
        rows = self.held[name]
        for place, row in line["removed"]:
            assert rows.pop(place) == row, (name, line)
        for place, row in line["added"]:
            rows.insert(place, row)
        assert line["kind"] != "change" or rows != before, f"not silent: {line}"
        changed = line["kind"] == "change" or line.get("whole")
        assert line["n"] == (1 if line["kind"] == "snapshot" else self.n[name] + bool(changed))
        self.n[name] = line["n"]

    def check(self) -> None:
        self.listen()
        for i, best in enumerate(self.asked):
            truth = best.answer(list(self.rows.values()))
            assert self.held[f"q{i}"] == truth, (best.sql, self.held[f"q{i}"], truth, self.rows)


@pytest.mark.deep
@given(asked=st.lists(questions, min_size=1, max_size=4), steps=st.lists(events, max_size=8))
@settings(max_examples=deep_examples(200), deadline=None)
def test_a_subscriber_holds_the_first_rows(asked: list[Best], steps: list[tuple[str, Any]]) -> None:
    chain = Chain()
    for best in asked:
        chain.ask(best)
    for kind, what in steps:
        if kind == "rows":
            chain.publish(what)
        elif kind == "ask":
            chain.ask(what)
        elif kind == "epoch":
            chain.begin_epoch()
        else:
            chain.lose_edge(compact=what)
        chain.check()
