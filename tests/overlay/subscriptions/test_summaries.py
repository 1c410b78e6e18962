"""When an edge tells anew what it wants, and that it tells all of it. (The chain: `test_chain_interrupted`.)"""

from __future__ import annotations

import numpy as np

from catalog.query.channel import ImageChannel
from catalog.query.compiler import Compiled
from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import encode_terms
from catalog.query.shape import Output, Region, Shape, group_key
from catalog.schema.catalog import Catalog
from catalog.schema.relation import Column, Relation
from catalog.types.column_type import ColumnType, Kind
from operators.packed import Header, PackedSummary, is_packed, unpack
from overlay.subscriptions.subscription_store import SubscriptionStore
from overlay.subscriptions.summaries import PATIENT, Patience
from overlay.table.accepted_batch import AcceptedBatch
from state.boxes import hashes_of

NUMBER = ColumnType(Kind.BIGINT)
TABLE = Relation(
    "t", (Column("k", NUMBER, False), Column("x", NUMBER), Column("s", ColumnType(Kind.VARCHAR))), ("k",), "t"
)
CATALOG = Catalog(4, {"t": TABLE})
TO = Header("register", 2, "", ve=3, catalog=4)
LOW, BOTH = (
    Shape("t", (Output("min", "k"),), ("k",), "x"),
    Shape("t", (Output("min", "k"), Output("count", None)), ("k",), "x"),
)
NAMED = Shape("t", (Output("min", "k"),), ("k",), "s")
EAGER = Patience(0, 0)


class Edge:
    """A store, and what it has sent."""

    def __init__(self, patience: Patience = EAGER) -> None:
        self.store = SubscriptionStore(patience)
        self.version = -1

    def add(self, *regions: Region) -> list[int]:
        versions = range(self.version + 1, self.version + 1 + len(regions))
        self.version += len(regions)
        arrivals = AcceptedBatch([b"id%d" % version for version in versions], versions)
        for i, region in enumerate(regions):
            compiled = Compiled(region, (NUMBER,) * max(len(region.shape.outputs), 1), "c", "S")
            arrivals.put_one(i, compiled, TABLE)
        slots = self.store.add(arrivals)
        self.store.registrations.queue(slots)
        return slots.tolist()

    def sent(self, catalog: Catalog = CATALOG) -> list[PackedSummary]:
        values = [record.value or b"" for record in self.store.registrations.records(catalog, TO, "r")]
        kinds = [unpack(value) for value in values if is_packed(value)]
        summaries = [packed for packed in kinds if isinstance(packed, PackedSummary)]
        assert kinds[len(kinds) - len(summaries) :] == summaries, "a summary stands before a registration"
        return summaries


def region(
    lo: int | bytes = 0, hi: int | bytes = 9, group: str = "g", shape: Shape = LOW, empty: bool = False
) -> Region:
    return Region(shape, group_key((group,)), lo, hi, empty)


def wants(summary: PackedSummary, region: Region, channel: int = 0) -> bool:
    point = [np.array([0 if isinstance(end, bytes) else end]) for end in (region.lo, region.lo, region.hi, region.hi)]
    return bool(summary.boxes[channel].meets(hashes_of([region.group]), np.zeros(1, np.int32), *point)[0])


def test_what_comes_is_registered_and_what_is_left_is_told_when_enough_is_over() -> None:
    edge = Edge(Patience(2, 10**9))
    regions = [region(i, i) for i in range(8)]
    slots = edge.add(*regions)
    assert edge.sent() == []
    for slot in slots[:5]:
        edge.store.retire(np.array([slot]))
    [summary] = edge.sent()
    assert (summary.header.epoch, summary.header.ve, summary.header.catalog, summary.header.shard) == (2, 3, 4, "t/0")
    assert [wants(summary, one) for one in regions] == [False] * 5 + [True] * 3
    assert edge.sent() == []


def test_a_summary_covers_who_waits_who_is_live_and_who_registers_in_the_same_step() -> None:
    edge = Edge()
    regions = [region(i, i, shape=BOTH) for i in range(3)]
    live, _, _ = edge.add(*regions)
    edge.sent()
    one = np.ones(1, np.int64)
    edge.store.sync(one * live, one, one > 0, one)
    regions += [region(7, 7), region(8, 8)]
    edge.add(*regions[-2:])
    [summary] = edge.sent()
    low = summary.header.channels.index(LOW.channels[0])
    assert all(wants(summary, one, low) for one in regions)
    assert summary.header.channels == [LOW.channels[0]], "of the other channel nothing came or went"


def test_what_no_row_can_meet_is_not_wanted_and_texts_tell_groups_apart() -> None:
    edge = Edge()
    edge.add(region(5, 1, empty=True), region(b"a", b"b", shape=NAMED))
    [summary] = edge.sent()
    boxes = dict(zip(summary.header.channels, summary.boxes, strict=True))
    assert len(boxes[LOW.channels[0]]) == 0
    named = summary.header.channels.index(NAMED.channels[0])
    assert wants(summary, region(b"x", b"y", shape=NAMED), named)
    assert not wants(summary, region(b"a", b"b", "other", NAMED), named)


def test_it_waits_for_calm_or_until_all_was_exchanged() -> None:
    edge = Edge(Patience(0, 2))
    slots = edge.add(*[region(i, i) for i in range(4)])
    assert [len(edge.sent()) for _ in range(4)] == [0, 0, 1, 0]
    for exchanged in range(3):
        slots += edge.add(region())
        edge.store.retire(np.array([slots[exchanged]]))
        assert len(edge.sent()) == (exchanged == 2)


def test_nobody_is_left_and_a_table_that_is_no_more() -> None:
    edge = Edge()
    for slot in edge.add(region(), region()):
        edge.store.retire(np.array([slot]))
    assert edge.sent() == []
    edge.add(region())
    assert edge.sent(Catalog(5, {})) == []
    assert len(edge.sent()) == 0


def test_a_new_era_begins_to_count_anew() -> None:
    edge = Edge(Patience(3, 0))
    slots = edge.add(*[region(i, i) for i in range(4)])
    edge.store.retire(np.array(slots[:1]))
    edge.store.next_era()
    edge.store.register_all()
    assert edge.sent() == []


def test_the_work_of_a_step_is_bounded(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr("overlay.subscriptions.summaries.STEP", 2)
    edge = Edge()
    edge.add(region(0, 1), region(1, 2), region(1, 2, shape=Shape("t", (Output("max", "k"),), ("k",), "x")))
    assert [[len(summary.boxes) for summary in edge.sent()] for _ in range(3)] == [[1], [1], []]
    assert PATIENT.floor > 0


def test_filters_want_all_images_and_say_which_columns_they_still_need() -> None:
    edge = Edge()
    by_group, by_text = (
        FilterShape("t", ("k",), (), ("x",), ("k",), (0,)),
        FilterShape("t", ("k",), (), ("s",), ("k",), (0,)),
    )
    everything = encode_terms([{}])
    slots = edge.add(*[Region(shape, group_key((5,)), terms=everything) for shape in (by_group, by_text)])
    [summary] = edge.sent()
    assert summary.header.channels == [ImageChannel("t")] and summary.needed == [["k", "s", "x"]]
    assert summary.boxes[0].meets(hashes_of([b"[]"]), np.zeros(1, np.int32), *[np.zeros(1, np.int64)] * 4)[0]
    edge.store.retire(np.array(slots[1:]))
    [summary] = edge.sent()
    assert summary.needed == [["k", "x"]]
