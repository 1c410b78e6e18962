"""Joins through the whole chain: cells come and go between batches, epochs begin, edges and batches are lost."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.subscriptions.bag_looks import LookedRows
from shard.bounds import Bounds
from tests.effort import deep_examples
from tidewire.pure_pipeline import PurePipeline

DDL = "; ".join(f"CREATE TABLE {name} (id INTEGER PRIMARY KEY, k INTEGER, x INTEGER, s VARCHAR)" for name in "abc")
Row = dict[str, Any]
FORMS = {
    "a JOIN b ON a.k = b.k": lambda a, b: a["k"] is not None and a["k"] == b["k"],
    "a JOIN b ON a.s = b.s AND a.k = b.x": lambda a, b: (
        None not in (a["s"], a["k"]) and (a["s"], a["k"]) == (b["s"], b["x"])
    ),
    "b a JOIN c b ON a.x = b.k": lambda a, b: a["x"] is not None and a["x"] == b["k"],
    "c a JOIN c b ON a.k = b.x": lambda a, b: a["k"] is not None and a["k"] == b["x"],
}
WHERES = {
    "": lambda a, b: True,
    " WHERE a.x BETWEEN 0 AND 1": lambda a, b: a["x"] is not None and a["x"] <= 1,
    " WHERE b.s = 'u' AND a.k > 0": lambda a, b: b["s"] == "u" and a["k"] is not None and a["k"] > 0,
    " WHERE (a.s IS NULL OR a.x = 2) AND b.x < 2": lambda a, b: (
        (a["s"] is None or a["x"] == 2) and b["x"] is not None and b["x"] < 2
    ),
}


def tables_of(form: str) -> tuple[str, str]:
    words = form.split(" ON ")[0].split()
    return words[0], words[words.index("JOIN") + 1]


class Chain:
    """A pipeline of one edge, what its tables hold, and what each subscriber has been told."""

    def __init__(self, bounds: Bounds | None = None) -> None:
        self.pipeline = PurePipeline(1, bounds=bounds or Bounds())
        self.pipeline.apply(DDL)
        self.rows: dict[str, dict[int, Row]] = {name: {} for name in "abc"}
        self.asked: dict[str, tuple[str, str]] = {}
        self.held: dict[str, Counter[tuple[Any, ...]]] = {}
        self.told: dict[str, list[Row]] = {}
        self._read = 0

    def publish(self, table: str, id: int, **values: Any) -> None:
        row = {"id": id, "k": None, "x": None, "s": None, **values}
        self.rows[table][id] = row
        self.pipeline.append(table, b'{"id":%d}' % id, msgspec.json.encode(row))

    def delete(self, table: str, id: int) -> None:
        self.rows[table].pop(id, None)
        self.pipeline.append(table, b'{"id":%d}' % id, None)

    def ask(self, name: str, form: str, where: str = "", options: str = "") -> None:
        self.asked[name] = form, where
        sql = f"SELECT a.id, b.id, a.x, b.s FROM {form}{where}{options}"
        self.pipeline.append(self.pipeline.topics.subscriptions, name.encode(), msgspec.json.encode({"sql": sql}))

    def settle(self) -> None:
        """Let all come to rest, and make the cells that edges wait for."""
        self.pipeline.settle()
        self.pipeline.make_cells()
        self.listen()

    def truth(self, name: str) -> Counter[tuple[Any, ...]]:
        form, where = self.asked[name]
        left, right = (self.rows[table].values() for table in tables_of(form))
        met = [(a, b) for a in left for b in right if FORMS[form](a, b) and WHERES[where](a, b)]
        return Counter((a["id"], b["id"], a["x"], b["s"]) for a, b in met)

    def listen(self) -> None:
        log = self.pipeline.logs[self.pipeline.topics.deliveries][0]
        for key, value in log[self._read :]:
            if key is not None and key != b"@progress" and value is not None:
                self.hear(key.decode(), msgspec.json.decode(value))
        self._read = len(log)

    def hear(self, name: str, line: Row) -> None:
        self.told.setdefault(name, []).append(line)
        if line["kind"] == "snapshot" or line.get("whole"):
            self.held[name] = Counter()
        if line.get("same"):
            assert not line["removed"] and not line["added"]
        for row in line["removed"]:
            assert self.held[name][tuple(row)] > 0, (name, line)
            self.held[name][tuple(row)] -= 1
        for row in line["added"]:
            self.held[name][tuple(row)] += 1

    def check(self) -> None:
        for name in self.asked:
            view = self.pipeline.edges[0].find(name.encode())
            assert view is not None and view.status == "live", self.asked[name]
            assert +self.held[name] == self.truth(name), self.asked[name]
            assert view.rows == self.truth(name).total()

    def look(self) -> None:
        """Look at the rows of all; the answer comes with the next batch."""
        edge, names = self.pipeline.edges[0], list(self.asked)
        for i, name in enumerate(names):
            edge.look(-1 - i, name.encode())
        self.pipeline.settle()
        for number, seen in edge.looked():
            assert isinstance(seen, LookedRows)
            assert Counter(tuple(msgspec.json.decode(row)) for row in seen.rows) == self.truth(names[-1 - number])


def draw(rng: Random, chain: Chain) -> None:
    """Let something happen."""
    what = rng.random()
    if what < 0.6:
        for _ in range(rng.randint(1, 6)):
            table, id = rng.choice("abc"), rng.randrange(4)
            if rng.random() < 0.2:
                chain.delete(table, id)
            else:
                values = {name: rng.choice((None, 0, 1, 2)) for name in "kx"}
                chain.publish(table, id, **values, s=rng.choice((None, "u", "")))
    elif what < 0.75:
        chain.ask(f"q{len(chain.asked)}", rng.choice([*FORMS]), rng.choice([*WHERES]))
        chain.settle()
    elif what < 0.82:
        chain.pipeline.begin_epoch()
    elif what < 0.88:
        chain.settle()
        chain.pipeline.lose_edge(0, compact=rng.random() < 0.5)
    elif what < 0.94:
        chain.settle()
        chain.look()
    else:
        chain.pipeline.break_off(rng.random())


@pytest.mark.deep
@given(rng=st.randoms(use_true_random=False))
@settings(max_examples=deep_examples(150), deadline=None)
def test_subscribers_hold_what_their_join_selects(rng: Random) -> None:
    chain = Chain()
    for _ in range(rng.randint(5, 25)):
        draw(rng, chain)
        if rng.random() < 0.5:
            chain.settle()
            chain.check()
    chain.settle()
    chain.check()


PAIR = "a JOIN b ON a.k = b.k"


def paired() -> Chain:
    """A chain whose subscriber has been told of two joined rows, with a cell that was made for it."""
    chain = Chain()
    chain.publish("a", 1, k=1, x=5)
    chain.publish("b", 1, k=1, s="u")
    chain.settle()
    chain.ask("q", PAIR)
    chain.settle()
    chain.publish("b", 2, k=1, s="v")
    chain.settle()
    assert chain.held["q"] == Counter([(1, 1, 5, "u"), (1, 2, 5, "v")])
    return chain


def test_a_cell_begins_with_what_its_tables_hold_and_goes_on_with_them():
    chain = paired()
    assert [(line["kind"], line["n"]) for line in chain.told["q"]] == [("snapshot", 1), ("change", 2)]


@pytest.mark.parametrize("compact", [False, True])
def test_a_new_epoch_says_the_same_where_nothing_has_changed(compact):
    chain = paired()
    chain.pipeline.begin_epoch()
    chain.pipeline.lose_edge(0, compact=compact)
    chain.settle()
    resync = chain.told["q"][-1]
    assert (resync["kind"], resync["n"], resync["same"]) == ("resync", 2, True)
    chain.pipeline.begin_epoch()
    chain.publish("a", 1, k=2)
    chain.settle()
    chain.check()


def test_a_cell_that_is_dropped_and_made_again_has_what_changed_meanwhile():
    chain = paired()
    chain.pipeline.apply("DROP JOIN a, b")
    chain.listen()
    assert chain.told["q"][-1]["kind"] == "ended"
    del chain.asked["q"]
    chain.delete("a", 1)
    chain.publish("a", 3, k=1, x=7)
    chain.publish("b", 2, k=9)
    chain.settle()
    chain.ask("again", PAIR)
    chain.settle()
    assert chain.held["again"] == Counter([(3, 1, 7, "u")])
    chain.publish("b", 2, k=1)
    chain.settle()
    chain.check()


def test_a_table_that_is_dropped_and_made_again_has_no_old_rows_in_a_join():
    chain = paired()
    chain.pipeline.apply("DROP TABLE b")
    chain.rows["b"], _ = {}, chain.asked.pop("q")
    chain.pipeline.apply(DDL.split("; ")[1])
    chain.ask("again", PAIR)
    chain.settle()
    chain.publish("b", 2, k=1, s="v")
    chain.settle()
    chain.check()


def test_a_batch_that_is_broken_off_is_told_once():
    chain = paired()
    chain.publish("a", 1, k=1, x=6)
    for share in (0.0, 0.5, 1.0):
        chain.pipeline.break_off(share)
        chain.pipeline.run_edge(0)
    chain.settle()
    assert [line["n"] for line in chain.told["q"]] == [1, 2, 3]
    chain.check()
