"""Filters stand in their table's index, whatever columns they compare and show, while others come and go."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.query.channel import ImageChannel
from catalog.query.compiler import Compiler
from catalog.schema.catalog import Catalog
from operators.packed import Header, PackedImages
from overlay.subscriptions.filter_book import MissingColumnError
from overlay.subscriptions.subscription_store import SubscriptionStore
from state.change_batch import I64
from state.filter_index import ENTERED, LEFT, WITHIN
from tests.effort import examples
from tests.oracle.naive_answer import Naive, Row
from tests.oracle.naive_channels import full_row
from tests.oracle.naive_filter import Image, ImageTeller, Where
from tests.overlay.arrivals import newcomers
from tests.overlay.edge_world import table
from tests.overlay.filter_questions import filters
from tests.overlay.table.test_slot_table import array

TABLE = table("t", 0, extra=True)
NAIVE = Naive(TABLE)
COMPILER = Compiler(Catalog(0, {"t": TABLE}))
values = st.none() | st.integers(0, 2)
rows = st.none() | st.tuples(st.sampled_from("pqr"), values, values, values)
questions = filters("t")


def images(changes: Sequence[tuple[Row | None, Row | None]], needed: set[str]) -> PackedImages:
    said = [Image(i, *change) for i, change in enumerate(changes)]
    made, at = ImageTeller(NAIVE, needed).images(said), np.arange(len(said))
    return PackedImages(
        Header("images", 0, "t/0", channels=[ImageChannel("t")]), at, at, at, at, None, made.rows, made.columns
    )


def full(row: tuple | None) -> Row | None:
    return None if row is None else full_row(*row[1:]) | {"k": row[0]}


class Book:
    """A store with live filters, by slot."""

    def __init__(self) -> None:
        self.store = SubscriptionStore()
        self.live: dict[int, tuple[Where, frozenset[str]]] = {}
        self.version = 0

    def add(self, sql: str, where: Where) -> None:
        compiled = COMPILER.compile(sql)
        if not compiled.region.terms:
            return
        self.version += 1
        (slot,) = self.store.add(newcomers((b"%d" % self.version, self.version, compiled), relation=TABLE)).tolist()
        nothing = array(0)
        self.store.sync(array(slot), nothing, nothing > 0, nothing + 1)
        if not compiled.region.empty:
            self.live[slot] = where, self.store.shape_of(slot).shown  # type: ignore[assignment]

    def remove(self, slot: int) -> None:
        self.store.retire(array(slot))
        self.live.pop(slot, None)

    def wanted(self, i: int, old: Row | None, new: Row | None) -> set[tuple[int, int, int]]:
        hits = set()
        for slot, (where, shown) in self.live.items():
            was, now = (row is not None and bool(where.truth(NAIVE, row)) for row in (old, new))
            assert old is None or new is None or isinstance(shown, frozenset)
            changed = old is not None and new is not None and any(old.get(c) != new.get(c) for c in shown if c)
            if was != now or (was and now and changed):
                hits.add((i, slot, ENTERED if now > was else LEFT if was > now else WITHIN))
        return hits


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(st.tuples(questions, st.booleans(), st.lists(st.tuples(rows, rows), max_size=6)), min_size=1, max_size=6)
)
def test_hits_are_those_of_looking_at_all(steps: list) -> None:
    book = Book()
    for question, removes, pairs in steps:
        book.add(question.sql.split(" NOTIFY")[0].split(" TTL")[0].split(" DELIVER")[0], question.where)
        if removes and book.live:
            book.remove(min(book.live))
        book.store.check()
        changes = [(full(old), full(new)) for old, new in pairs if old != new]
        packed = images(changes, {column.name for column in TABLE.columns})
        found = [
            one for hits in book.store.filters.hits(packed) for one in zip(*map(np.ndarray.tolist, hits), strict=True)
        ]
        wanted = {hit for i, change in enumerate(changes) for hit in book.wanted(i, *change)}
        maybe = {hit for hit in found if hit[2] == WITHIN}
        assert wanted <= set(found) and set(found) - wanted <= maybe and len(set(found)) == len(found)
        assert [hit[0] for hit in found] == sorted(hit[0] for hit in found)


def test_one_that_waits_for_its_first_answer_ends_whatever_stands_before_it() -> None:
    book = Book()
    book.add("SELECT m FROM t WHERE x <> 1", Where("<>", "x", (1,)))
    waiting = [(b"w%d" % n, 100 + n, COMPILER.compile("SELECT m FROM t WHERE x <> 2")) for n in range(100)]
    slots = book.store.add(newcomers(*waiting, relation=TABLE))
    book.store.retire(slots)
    book.store.check()
    assert book.store.filters.slots().tolist() == list(book.live)


def test_columns_that_nobody_wants_any_more_need_not_be_told() -> None:
    book = Book()
    book.add("SELECT m FROM t WHERE x <> 1", Where("<>", "x", (1,)))
    book.add("SELECT m FROM t WHERE s = 'a'", Where("=", "s", ("a",)))
    first, second = book.live
    changes = [(None, full(("p", 0, 0, 0)))]
    with pytest.raises(MissingColumnError, match=r"lack \['s'\]"):
        list(book.store.filters.hits(images(changes, {"m", "x"})))
    with pytest.raises(MissingColumnError, match=r"lack \['s'\]"):
        book.store.filters.check_told(images(changes, {"m", "x"}))
    book.remove(second)
    (hits,) = book.store.filters.hits(images(changes, {"m", "x"}))
    assert hits.slot.tolist() == [first]
    book.remove(first)
    assert list(book.store.filters.hits(images(changes, {"m", "x"}))) == []
    book.store.check()


def test_an_era_takes_all_out() -> None:
    book = Book()
    book.add("SELECT m FROM t", Where("and"))
    book.store.next_era()
    book.store.check()
    slots: I64 = book.store.filters.slots()
    assert not len(slots)
