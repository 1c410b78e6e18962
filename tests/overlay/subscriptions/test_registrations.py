"""What goes to the shards: cut to size, grouped by shard, withdrawals before registrations."""

from __future__ import annotations

import numpy as np

from catalog.query.channel import channel_of
from catalog.query.compiler import Compiled
from catalog.query.shape import Output, Region, Shape, group_key
from catalog.schema.catalog import Catalog
from catalog.schema.relation import Column, Relation
from catalog.types.column_type import ColumnType, Kind
from operators.control import EpochBegins, RegisterAll, Withdraw, decode_control
from operators.packed import MAX_REGISTRATIONS, Header, PackedRegistrations, is_packed, unpack
from operators.reply import Asked, Digest
from overlay.subscriptions.subscription_store import SubscriptionStore
from state.byte_runs import RECORD_BYTES
from state.row_digest import Digest as Told
from tests.overlay.arrivals import newcomers
from tests.overlay.filter_bench import FilterBench

NUMBER = ColumnType(Kind.BIGINT)
TABLES = {
    name: Relation(name, (Column("k", NUMBER, False), Column("g", ColumnType(Kind.VARCHAR))), ("k",), name)
    for name in "tu"
}
CATALOG = Catalog(4, TABLES)
TO = Header("register", 2, "", ve=3, catalog=4)


def region(relation: str = "t", group: str = "g", function: str = "min", **bounds: int | bytes) -> Region:
    shape = Shape(relation, (Output(function, "k"),), ("g",), "g" if bounds else None)
    return Region(shape, group_key((group,)), **bounds)  # type: ignore[arg-type]


def add(store: SubscriptionStore, version: int, what: Region) -> int:
    compiled = Compiled(what, (NUMBER,), "c", "S")
    slots = store.add(newcomers((b"id%d" % version, version, compiled), relation=TABLES[what.shape.relation]))
    store.registrations.queue(slots)
    return int(slots[0])


def sent(store: SubscriptionStore) -> list[tuple[bytes, bytes]]:
    out = store.registrations.records(CATALOG, TO, "registrations")
    assert all(record.partition == 3 for record in out)
    return [(record.key or b"", record.value or b"") for record in out]


def registered(store: SubscriptionStore) -> list[tuple[int, Region]]:
    packed = [unpack(value) for _, value in sent(store) if is_packed(value)]
    assert all(isinstance(part, PackedRegistrations) for part in packed)
    return [pair for part in packed for pair in zip(part.versions, part.regions, strict=True)]  # type: ignore[union-attr]


def test_many_and_long_ones_are_cut() -> None:
    store = SubscriptionStore()
    compiled = Compiled(region(), (NUMBER,), "c", "S")
    count = MAX_REGISTRATIONS + 5
    store.registrations.queue(
        store.add(
            newcomers(*((b"id%d" % version, version, compiled) for version in range(count)), relation=TABLES["t"])
        )
    )
    assert [len(unpack(value).versions) for _, value in sent(store)] == [MAX_REGISTRATIONS, 5]  # type: ignore[union-attr]
    store = SubscriptionStore()
    for version in range(100):
        add(store, version, region(group=f"{version}" + "x" * 30_000))
    records = sent(store)
    assert len(records) > 3 and max(len(value) for _, value in records) < RECORD_BYTES + 20_000
    versions = [v for _, value in records for v in unpack(value).versions]  # type: ignore[union-attr]
    assert versions == list(range(100))


def test_regions_of_all_kinds_arrive_as_they_were() -> None:
    store = SubscriptionStore()
    regions = [region(), region("t", "h", "max"), region(lo=b"a", hi=b"b"), region(group="h"), region(lo=b"", hi=b"c")]
    for version, what in enumerate(regions):
        add(store, version, what)
    assert registered(store) == list(enumerate(regions))


def test_each_shard_gets_its_own_in_order_and_withdrawals_first() -> None:
    store = SubscriptionStore()
    gone = add(store, 0, region(function="max"))
    sent(store)
    store.retire(np.array([gone]))
    for version, relation in enumerate("tut", 1):
        add(store, version, region(relation))
    records = sent(store)
    assert [(key, is_packed(value)) for key, value in records] == [(b"t/0", False), (b"t/0", True), (b"u/0", True)]
    assert decode_control(records[0][1]) == Withdraw(2, 3, [channel_of("t", "max", "k", ("g",), None)])
    packed = unpack(records[1][1])
    assert isinstance(packed, PackedRegistrations) and packed.versions == [1, 3]
    assert (packed.header.epoch, packed.header.ve, packed.header.catalog) == (2, 3, 4)
    assert sent(store) == []


def test_who_is_gone_or_has_the_snapshot_is_passed_over() -> None:
    store = SubscriptionStore()
    gone, there, last = (add(store, version, region()) for version in range(3))
    store.registrations.queue(np.array([last]))
    one = np.ones(1, np.int64)
    store.sync(one * there, one, one > 0, one)
    store.retire(np.array([gone]))
    assert add(store, 7, region()) == gone
    store.check()
    assert [version for version, _ in registered(store)] == [7, 2]


def test_filters_say_their_constants_and_what_was_told() -> None:
    bench = FilterBench()
    bench.ask(0, "plain", "SELECT MIN(price) FROM stock")
    bench.ask(1, "rows", "SELECT symbol FROM stock WHERE risk <> 1 NOTIFY ENTER SNAPSHOT NONE")
    bench.ask(2, "sum", "SELECT SUM(price) FROM stock WHERE risk <> 1")
    (registered,) = bench.registered()
    terms = [region.terms for region in registered.regions]
    assert terms[0] == b"" and terms[1] == terms[2] != b"" and registered.asked == {1: Asked(None, True, True)}
    bench.answer(0, [(1, Digest(3, 5, 7))])
    bench.end(0)
    bench.control(EpochBegins(6, 0), RegisterAll(6, 0))
    (again,) = bench.registered()
    assert again.asked == {1: Asked(Told(3, 5, 7), True, True)} and again.live == [False, True, False]
