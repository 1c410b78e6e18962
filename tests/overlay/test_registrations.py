"""What goes to the shards: cut to size, grouped by shard, withdrawals before registrations."""

from __future__ import annotations

from catalog.column_type import ColumnType, Kind
from catalog.compiler import Compiled
from catalog.relation import Catalog, Column, Relation
from catalog.shape import Region, Shape, group_key
from operators.control import Withdraw, decode_control
from operators.packed import MAX_BYTES, MAX_REGISTRATIONS, Header, PackedRegistrations, is_packed, unpack
from overlay.roster import Roster

NUMBER = ColumnType(Kind.BIGINT)
TABLES = {
    name: Relation(name, (Column("k", NUMBER, False), Column("g", ColumnType(Kind.VARCHAR))), ("k",), name)
    for name in "tu"
}
CATALOG = Catalog(4, TABLES)
TO = Header("register", 2, "", ve=3, catalog=4)


def add(roster: Roster, version: int, relation: str = "t", group: str = "g", aggregate: str = "min") -> int:
    region = Region(Shape(relation, aggregate, "k", ("g",), None), group_key((group,)))
    compiled = Compiled(region, NUMBER, "c", "S")
    slot = roster.add(b"id%d" % version, version, compiled, TABLES[relation])
    roster.registrations.unsent[slot] = None
    return slot


def sent(roster: Roster) -> list:
    out = roster.registrations.records(roster.slots, roster.shapes, CATALOG, TO, "registrations")
    assert all(record.partition == 3 for record in out)
    return [(record.key, record.value or b"") for record in out]


def test_many_and_long_ones_are_cut() -> None:
    roster = Roster()
    for version in range(MAX_REGISTRATIONS + 5):
        add(roster, version)
    assert [len(unpack(value).versions) for _, value in sent(roster)] == [MAX_REGISTRATIONS, 5]  # type: ignore[union-attr]
    roster = Roster()
    for version in range(100):
        add(roster, version, group=f"{version}" + "x" * 30_000)
    records = sent(roster)
    assert len(records) > 3 and max(len(value) for _, value in records) < MAX_BYTES + 20_000
    versions = [v for _, value in records for v in unpack(value).versions]  # type: ignore[union-attr]
    assert versions == list(range(100))


def test_each_shard_gets_its_own_in_order_and_withdrawals_first() -> None:
    roster = Roster()
    gone = add(roster, 0, aggregate="max")
    sent(roster)
    roster.retire(gone)
    for version, relation in enumerate("tut", 1):
        add(roster, version, relation)
    records = sent(roster)
    assert [(key, is_packed(value)) for key, value in records] == [(b"t/0", False), (b"t/0", True), (b"u/0", True)]
    assert decode_control(records[0][1]) == Withdraw(2, 3, [Shape("t", "max", "k", ("g",), None)])
    packed = unpack(records[1][1])
    assert isinstance(packed, PackedRegistrations) and packed.versions == [1, 3]
    assert (packed.header.epoch, packed.header.ve, packed.header.catalog) == (2, 3, 4)
    assert sent(roster) == []
