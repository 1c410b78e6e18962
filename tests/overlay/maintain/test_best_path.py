"""Who hears a message about first rows, at which place, and which candidates are inside: as the twin says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.query.compiler import Compiler
from catalog.schema.catalog import Catalog
from operators.best_messages import HEADS, BestMessages, ImageValues
from operators.packed import Header, PackedBest
from overlay.delivery.delivery import Position
from overlay.maintain.best_path import BestPath
from overlay.maintain.list_follower import Pairs, Record
from overlay.maintain.list_kernels import CAND_HIGH, CAND_LOW
from overlay.subscriptions.edge_counters import EdgeCounters
from overlay.subscriptions.filter_book import MissingColumnError
from overlay.subscriptions.subscription_store import SubscriptionStore
from state.best_tree import OUT
from state.order_code import INT64_MAX, INT64_MIN
from tests.effort import deep_examples
from tests.oracle.naive_best_list import BestMessage
from tests.overlay.arrivals import newcomers
from tests.overlay.edge_world import table
from tests.overlay.table.test_slot_table import array

TABLE = table("t", 0)
COMPILER = Compiler(Catalog(0, {"t": TABLE}))
HIGH = 7
TEXTS = [chr(ord("a") + i) for i in range(HIGH + 1)]
KEYS = ["p", "q", "r"]
xs = st.integers(0, HIGH)
ranges = st.tuples(xs, xs, st.integers(3, 5))
"""lo, hi, limit; all limits have one channel."""


@st.composite
def messages(draw: st.DrawFn) -> BestMessage:
    """A row goes; what is compared is drawn without regard to whether a tree would say it."""
    x, (lo_min, hi_max) = draw(xs), (draw(st.integers(0, HIGH)), draw(st.integers(0, HIGH)))
    left = sorted(draw(st.lists(st.integers(0, x), max_size=4)), reverse=True)
    right = sorted(draw(st.lists(st.integers(x, HIGH), max_size=4)))
    cands = [(at, at, row) for at, row in draw(st.lists(st.tuples(xs, st.integers(0, 2)), max_size=4))]
    return BestMessage(OUT, min(lo_min, x), x, x, max(hi_max, x), draw(st.integers(0, 2)), left, right, cands, 0, -1)


class Heard:
    """Takes the pairs that lists would follow."""

    def __init__(self) -> None:
        self.pairs: list[tuple[int, int, int, list[int]]] = []

    def take(self, packed: PackedBest, record: Record, pairs: Pairs, position: Position) -> None:
        for message, slot, lo, hi, place in zip(*(column.tolist() for column in pairs), strict=True):
            cands = range(record.cands[message], record.cands[message + 1])
            inside = [q for q in cands if record.xs[CAND_LOW, q] >= lo and record.xs[CAND_HIGH, q] <= hi]
            self.pairs.append((message, slot, place, record.cand[inside].tolist()))


class Bench:
    def __init__(self, column: str, asked: list[tuple[int, int, int]], shown: str = "m") -> None:
        self.store, self.heard, self.counters = SubscriptionStore(), Heard(), EdgeCounters()
        self.path = BestPath(self.store, self.counters, self.heard)  # type: ignore[arg-type]
        self.column = column
        for i, (lo, hi, limit) in enumerate(asked):
            self.ask(i, f"SELECT {shown} FROM t WHERE {self.where(lo, hi)} ORDER BY m, k LIMIT {limit}")

    def where(self, lo: int, hi: int) -> str:
        first, last = (f"'{TEXTS[x]}'" if self.column == "s" else str(x) for x in (lo, hi))
        return f"{self.column} >= {first} AND {self.column} <= {last}"

    def ask(self, version: int, sql: str, live: bool = True) -> None:
        compiled = COMPILER.compile(sql)
        (slot,) = self.store.add(newcomers((b"%d" % version, version, compiled), relation=TABLE)).tolist()
        assert slot == version
        self.channel = compiled.region.shape.channels[0]
        if live:
            zero = array(0)
            self.store.sync(array(slot), zero, zero > 0, zero + 1)
            self.store.start_lists({slot: []})

    def packed(self, told: list[BestMessage]) -> PackedBest:
        """Return a record as a shard makes it."""
        ends = {"lo_min": INT64_MIN, "hi_max": INT64_MAX}
        heads: dict[str, list[int]] = {name: [getattr(m, name, 0) for m in told] for name in HEADS}
        heads |= {"cause": [*range(len(told))], "lefts": [len(m.left) for m in told]}
        heads |= {"rights": [len(m.right) for m in told], "cands": [len(m.cands) for m in told]}
        for name, beside, open_ in (("lo_min", -1, 0), ("hi_max", 1, HIGH)):
            closed = heads[name]
            heads[name] = [ends[name] if x == open_ else x for x in closed]
            if self.column == "s":
                heads[name] = [-1 if x == open_ else x + beside for x in closed]
        known, at = np.ones(3, np.bool_), np.arange(len(told))
        made = BestMessages(
            channels=[self.channel],
            groups=[b"[]"],
            bounds=np.array([x for m in told for x in (*m.left, *m.right)], np.int64),
            cand_x=np.array([x for m in told for x, _, _ in m.cands], np.int64),
            cand=np.array([row for m in told for _, _, row in m.cands], np.int64),
            texts=TEXTS if self.column == "s" else [],
            images={"k": ImageValues(np.arange(3), known, KEYS), "m": ImageValues(np.arange(3) * 5, known)},
            **{name: np.array(heads[name], np.int32 if name in HEADS[:3] else np.int64) for name in HEADS},
        )
        return PackedBest(Header("best", 0, "t/0", channels=[self.channel]), at, at, at, made)


@pytest.mark.deep
@pytest.mark.parametrize("column", ["x", "s"])
@given(asked=st.lists(ranges, min_size=1, max_size=6), told=st.lists(messages(), min_size=1, max_size=5))
@settings(max_examples=deep_examples(200), deadline=None)
def test_they_hear_what_the_twin_says(column, asked, told):
    bench = Bench(column, asked)
    packed = bench.packed(told)
    bench.path.check_told(packed)
    bench.path.apply(packed, Position(0, 1))
    found = sorted(bench.heard.pairs)
    expected = []
    for i, message in enumerate(told):
        for slot, (lo, hi, limit) in enumerate(asked):
            place = message.place(lo, hi, limit) if lo <= hi else -1
            if place >= 0:
                rows = [row for low, high, row in message.cands if lo <= low and high <= hi]
                expected.append((i, slot, place, rows))
    assert found == expected
    assert bench.counters.messages == len(told)


GONE = BestMessage(OUT, 0, 3, 3, HIGH, 0, [], [], [], 0, -1)


def test_who_hears_nothing_of_a_record_may_lack_columns_of_it():
    bench = Bench("x", [(1, 5, 3)])
    bench.ask(1, "SELECT d FROM t WHERE x >= 4 AND x <= 6 ORDER BY m, k LIMIT 3")
    bench.ask(2, "SELECT d FROM t WHERE x > 5 AND x < 2 ORDER BY m, k LIMIT 3")
    bench.ask(3, "SELECT d FROM t WHERE x >= 1 AND x <= 6 ORDER BY m, k LIMIT 3", live=False)
    bench.path.check_told(bench.packed([GONE]))
    bench.ask(4, "SELECT d FROM t WHERE x >= 3 AND x <= 6 ORDER BY m, k LIMIT 3")
    with pytest.raises(MissingColumnError, match=r"lack \['d'\], expected \['d', 'k', 'm'\]"):
        bench.path.check_told(bench.packed([GONE]))
