"""Filters through the whole chain, shards and edges: what a subscriber holds is what its WHERE selects, always."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.sql.notify import PUSH
from overlay.subscriptions.bag_looks import LookedRows
from state.order_code import code_of_double
from tests.effort import deep_examples
from tests.oracle.naive_answer import Naive, Row
from tests.oracle.naive_edge import Wanted
from tests.oracle.naive_filter import row_json, shown
from tests.overlay.filter_questions import filters
from tests.tidewire.row_chain import RowChain, changes, published

DDL = (
    "CREATE TABLE t (k VARCHAR PRIMARY KEY, g BIGINT, x BIGINT, m BIGINT, s VARCHAR, d DOUBLE, w DECIMAL(20, 2), "
    "e BIGINT) WITH ('topic'='t', 'format'='json')"
)
events = st.one_of(
    st.tuples(st.just("rows"), changes),
    st.tuples(st.just("ask"), filters("t")),
    st.tuples(st.just("epoch"), st.none()),
    st.tuples(st.just("lose"), st.booleans()),
    st.tuples(st.just("look"), st.none()),
)


class Chain(RowChain):
    """What each subscriber holds of its filter."""

    def __init__(self) -> None:
        super().__init__(DDL)
        self.naive = Naive(self.pipeline.catalog.relations["t"])
        self.asked: list[Wanted] = []
        self.held: dict[str, Any] = {}

    def said(self, key: str, row: tuple[int | None, ...] | None) -> Row | None:
        """Return a row with `d` too, which says what m says."""
        said = published(key, row)
        return None if said is None else said | {"d": said["m"], "e": None}

    def stored(self, said: Row) -> Row:
        """Return a row with the order code of its DOUBLE, by which the twin knows it."""
        return said | {"d": None if said["d"] is None else code_of_double(float(said["d"]))}

    def ask(self, wanted: Wanted) -> None:
        if "TTL" in wanted.sql or PUSH.upper() in wanted.sql:
            return
        self.ask_sql(f"q{len(self.asked)}", wanted.sql)
        self.asked.append(wanted)

    def hear(self, name: str, line: dict[str, Any]) -> None:
        if "removed" not in line:
            assert line["old"] == self.held.get(name) or line["kind"] == "snapshot"
            self.held[name] = line["new"]
            return
        if line["kind"] == "snapshot" or line.get("whole"):
            self.held[name] = Counter()
        bag = self.held[name]
        for row in line["removed"]:
            assert bag[tuple(row)] > 0 or "key" in line or "none" in self._sql(name), (name, line, bag)
            bag[tuple(row)] -= 1
        for row in line["added"]:
            bag[tuple(row)] += 1

    def _sql(self, name: str) -> str:
        return self.asked[int(name[1:])].sql.lower()

    def check(self) -> None:
        self.listen()
        for i, wanted in enumerate(self.asked):
            assert wanted.region is not None and wanted.where is not None
            shape = wanted.region.shape
            met = [row for row in self.rows.values() if wanted.where.truth(self.naive, row)]
            view = self.pipeline.edges[0].find(b"q%d" % i)
            assert view is not None and view.status == "live", wanted.sql
            if shape.outputs:
                continue
            rows = Counter(row_json(self.naive, shape, shown(shape, row)) for row in met)  # type: ignore[arg-type]
            assert view.rows == len(met), wanted.sql
            if wanted.notify.kind in ("every", "latest") and not wanted.without_rows:
                assert +self.held[f"q{i}"] == rows, wanted.sql

    def look(self) -> None:
        """Look at the rows of all; the answer comes with the next batch."""
        edge = self.pipeline.edges[0]
        for i in range(len(self.asked)):
            edge.look(-1 - i, b"q%d" % i)
        self.pipeline.settle()
        for number, seen in edge.looked():
            assert isinstance(seen, LookedRows)
            wanted = self.asked[-1 - number]
            assert wanted.region is not None and wanted.where is not None
            shape = wanted.region.shape
            met = [row for row in self.rows.values() if wanted.where.truth(self.naive, row)]
            rows = Counter(row_json(self.naive, shape, shown(shape, row)) for row in met)  # type: ignore[arg-type]
            assert Counter(tuple(msgspec.json.decode(row)) for row in seen.rows) == rows


@pytest.mark.deep
@settings(max_examples=deep_examples(60), deadline=None)
@given(st.lists(events, min_size=3, max_size=9))
def test_subscribers_hold_what_their_where_selects(happens: list[Any]) -> None:
    chain = Chain()
    for what, argument in happens:
        if what == "rows":
            chain.publish(argument)
        elif what == "ask":
            chain.ask(argument)
        elif what == "epoch":
            chain.begin_epoch()
        elif what == "lose":
            chain.lose_edge(compact=argument)
        else:
            chain.look()
        chain.check()


def test_an_epoch_resyncs_without_rows_what_has_not_changed() -> None:
    chain = Chain()
    chain.publish([("p", (1, 1, 1)), ("q", (None, 2, 0))])
    for options in ("", " NOTIFY TRANSITIONS", " SNAPSHOT NONE"):
        name = f"q{options}".encode()
        sql = f"SELECT k, s, w FROM t WHERE x > 0 OR g IS NULL{options}"
        chain.pipeline.append(chain.pipeline.topics.subscriptions, name, msgspec.json.encode({"sql": sql}))
    chain.pipeline.settle()
    chain.publish([("q", (None, None, None)), ("r", (1, 2, 2))])
    chain.pipeline.begin_epoch()
    chain.pipeline.settle()
    log = chain.pipeline.logs[chain.pipeline.topics.deliveries][0]
    resyncs = [msgspec.json.decode(value) for _, value in log if value is not None and b'"resync"' in value]
    assert len(resyncs) == 3 and all(line["same"] and not line["added"] for line in resyncs)
