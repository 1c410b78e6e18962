from __future__ import annotations

import random
from dataclasses import replace
from zlib import crc32

import pyarrow as pa
import pytest

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from catalog.schema.cell import Cell
from catalog.schema.relation import Relation
from connectors.dead_letter import RecordFault
from connectors.formats.bucket import NOWHERE
from connectors.json.canonical_key import CanonicalKey
from connectors.placement import Member, Placement, forgetting
from tests.connectors.documents import Publisher, relation_of

Key = bytes | None
STOCK = apply_ddl(Catalog(), "CREATE TABLE stock (k VARCHAR PRIMARY KEY) WITH ('topic'='s')", 0).relations["stock"]
TRADE = apply_ddl(
    Catalog(), "CREATE TABLE trade (k VARCHAR PRIMARY KEY) WITH ('buckets'='3', 'bucket.by'='k')", 0
).relations["trade"]


def parted(placement: Placement, topic: str, keys: list[Key]) -> dict[str, list[int]]:
    """The places of the records that each group gets; a group that gets none is not there."""
    found: dict[str, list[int]] = {}
    for groups, places in placement.of_records(topic, keys):
        for group in groups:
            assert group not in found
            found[group] = [*range(len(keys))] if places is None else places.tolist()
    return found


def bucket(relation: Relation, key: Key) -> int:
    """The bucket of one record, by the canonical text of its key; what cannot be read is in the first."""
    if key is None:
        return NOWHERE
    whole, by = CanonicalKey(relation), CanonicalKey(replace(relation, key=relation.bucket_by))
    try:
        values = dict(zip([column.name for column in whole.columns], whole.read(key), strict=True))
    except RecordFault:
        return NOWHERE
    return crc32(by.write([values[column.name] for column in by.columns])) % relation.buckets


def naive(relations: list[Relation], topic: str, keys: list[Key]) -> dict[str, list[int]]:
    """Record by record: the shard of the table that reads the topic, by bucket where it has buckets."""
    found: dict[str, list[int]] = {}
    for place, key in enumerate(keys):
        for relation in relations:
            if relation.topic == topic:
                number = bucket(relation, key) if relation.bucket_by else 0
                found.setdefault(f"{relation.name}/{number}", []).append(place)
    return found


def tables(rng: random.Random) -> list[Relation]:
    """Tables of any keys, some of them in buckets."""
    made = []
    for number in range(rng.randrange(1, 4)):
        relation = replace(relation_of(rng), name=f"t{number}", topic=f"topic {number}")
        if rng.random() < 0.7:
            by = [name for name in relation.key if rng.random() < 0.6] or [relation.key[0]]
            relation = replace(relation, buckets=rng.choice([2, 3, 64]), bucket_by=tuple(by))
        made.append(relation)
    return made


def test_each_record_goes_to_the_shard_that_its_table_and_its_key_say() -> None:
    for seed in range(60):
        rng = random.Random(seed)
        relations = tables(rng)
        placement = Placement.of(Catalog(0, {relation.name: relation for relation in relations}))
        for relation in relations:
            publisher = Publisher(relation, rng)
            keys = [publisher.record()[0] for _ in range(rng.randrange(1, 30))]
            expected = naive(relations, relation.topic, keys)
            assert parted(placement, relation.topic, keys) == expected, seed
            assert parted(placement, relation.topic, [None, b"no key", *keys[:1]]).keys() <= set(relation.shards)


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary()])
def test_keys_may_be_what_arrow_holds_of_them(kind: pa.DataType) -> None:
    keys: list[Key] = [*(b'"%d"' % i for i in range(20)), None, b"{"]
    placement = Placement.of(Catalog(0, {"trade": TRADE}))
    arrow = placement.of_records("trade", pa.array([b"before", *keys], kind)[1:])
    found = {group: places.tolist() for (group,), places in arrow if places is not None}
    assert found == parted(placement, "trade", keys)
    assert len(found) == 3


def test_a_registration_goes_where_its_member_is() -> None:
    placement = Placement.of(Catalog(0, {"stock": STOCK, "trade": TRADE}))
    for shard in ["stock/0", "trade/0", "trade/2"]:
        assert placement.of_registration(shard.encode()) == (shard,)
    for name in [None, b"", b"stock", b"stock/1", b"stock/00", b"trade/3", b"bond/0", b"\xff"]:
        assert placement.of_registration(name) == ()


def test_a_group_that_is_none_any_more_is_reached_to_be_forgotten_and_no_other() -> None:
    placement = Placement.of(Catalog(0, {"stock": STOCK}))
    assert placement.of_registration(forgetting("stock/0")) == ()
    assert placement.of_registration(forgetting("cell/stock+trade/0")) == ("cell/stock+trade/0",)
    assert placement.of_registration(forgetting("é/0")) == ("é/0",)
    odd = Placement({"odd": [Member("forget:trade/0", STOCK)]})
    assert odd.of_registration(forgetting("trade/0")) == ("odd",), "a registration of that member"


def test_what_nobody_reads_goes_nowhere() -> None:
    placement = Placement.of(Catalog(0, {"stock": STOCK, "trade": TRADE}))
    assert parted(placement, "stock", [b"k"]) == {}
    assert parted(placement, "trade", []) == {}
    assert parted(Placement.of(Catalog()), "s", [b"k"]) == {}


def test_two_tables_in_one_group() -> None:
    """A group gets the records of each of its tables; its registrations name one of them."""
    keys: list[Key] = [b'"a"', b'"b"', b'"c"', b'"d"', None]
    alone = Placement.of(Catalog(0, {"trade": TRADE}))
    both = Placement({"stock+trade": [Member("stock/0", STOCK), Member("trade/0", TRADE)]})
    assert parted(both, "s", keys) == parted(both, "trade", keys) == {"stock+trade": [0, 1, 2, 3, 4]}
    assert both.of_registration(b"stock/0") == both.of_registration(b"trade/0") == ("stock+trade",)
    assert both.of_registration(b"stock+trade") == ()

    buckets = [Member(f"trade/{number}", TRADE, number) for number in range(3)]
    several = Placement(
        {
            "trade/0": [buckets[0]],
            "trade/1": [buckets[1]],
            "mixed": [Member("stock/0", STOCK), buckets[2]],
            "copy": [Member("copy", TRADE), Member("other copy", STOCK)],
        }
    )
    places = parted(alone, "trade", keys)
    expected = {{"trade/2": "mixed"}.get(shard, shard): its for shard, its in places.items()}
    assert parted(several, "trade", keys) == expected | {"copy": [0, 1, 2, 3, 4]}
    assert parted(several, "s", keys) == {"mixed": [0, 1, 2, 3, 4], "copy": [0, 1, 2, 3, 4]}
    assert several.of_registration(b"trade/2") == ("mixed",)


def test_a_cell_has_all_records_of_its_tables_and_what_is_asked_of_it_comes_by_its_name() -> None:
    keys: list[Key] = [b'"a"', b'"b"', b'"c"', b'"d"', None]
    catalog = Catalog(3, {"stock": STOCK, "trade": TRADE})
    cell, own = Cell(("stock", "trade"), 3), Cell(("trade",), 3)
    placement = Placement.of(replace(catalog, cells={cell.name: cell, own.name: own}))
    every = [0, 1, 2, 3, 4]
    assert parted(placement, "s", keys) == {"stock/0": every, cell.name: every}
    buckets = parted(Placement.of(catalog), "trade", keys)
    assert parted(placement, "trade", keys) == buckets | {cell.name: every, own.name: every}
    assert placement.members(cell.name) == (f"{cell.name}/stock", f"{cell.name}/trade")
    assert placement.topics(cell.name) == {f"{cell.name}/stock": "s", f"{cell.name}/trade": "trade"}
    assert placement.of_registration(cell.name.encode()) == (cell.name,)
    assert placement.of_registration(cell.member("stock").encode()) == ()
    assert placement.of_registration(b"stock/0") == ("stock/0",)


def test_a_cell_that_lacks_a_table_is_none() -> None:
    cell = Cell(("bond", "stock"), 3)
    placement = Placement.of(Catalog(3, {"stock": STOCK}, cells={cell.name: cell}))
    assert placement.groups == ("stock/0",) and placement.of_registration(cell.name.encode()) == ()


def test_views_are_members_beside_what_they_read_and_inner_stages_are_not_asked() -> None:
    text = """
    CREATE TABLE a (id INTEGER PRIMARY KEY, x INTEGER) WITH ('buckets'='2', 'bucket.by'='id');
    CREATE TABLE b (id INTEGER PRIMARY KEY, y INTEGER);
    CREATE VIEW v AS SELECT id, COUNT(*) AS n FROM a WHERE x > 0 GROUP BY id;
    CREATE VIEW w AS SELECT b.id, b.y FROM b JOIN a ON a.id = b.id
    """
    placement = Placement.of(apply_ddl(Catalog(), text, 0))
    assert placement.members("a/1") == ("a/1", "stage/v/0/1", "v/1") and placement.topics("a/1") == {"a/1": "a"}
    assert [placement.of_registration(key) for key in (b"v/0", b"v/1", b"w/0")] == [("a/0",), ("a/1",), ("cell/a+b/0",)]
    assert placement.of_registration(b"stage/v/0/0") == () and placement.of_registration(b"stage/w/0/0") == ()
    assert placement.topics("cell/a+b/0") == {"cell/a+b/0/a": "a", "cell/a+b/0/b": "b"}
    assert [groups for groups, _ in placement.of_records("b", [b'{"id":1}'])] == [["b/0", "cell/a+b/0"]]


def test_what_is_said_of_a_stream_is_said_to_its_cells() -> None:
    catalog = apply_ddl(
        Catalog(),
        "CREATE STREAM s (g VARCHAR, ts TIMESTAMP) WITH ('event_time'='ts', 'lateness'='1 s');"
        "CREATE TABLE t (g VARCHAR PRIMARY KEY);"
        "CREATE VIEW v AS SELECT g, COUNT(*) AS n FROM s GROUP BY g;"
        "CREATE VIEW named AS SELECT v.g, v.n FROM v JOIN t ON t.g = v.g",
        0,
    )
    placement = Placement.of(catalog)
    assert placement.of_registration(b"s/0") == ("s/0", "cell/s+t/0")
    assert [placement.of_registration(key) for key in (b"t/0", b"v/0")] == [("t/0",), ("s/0",)]
    assert placement.of_registration(b"named/0") == placement.of_registration(b"cell/s+t/0") == ("cell/s+t/0",)
