"""Four buckets in Spark: rows and questions of one exchange meet in its shard, however its keys are spelled."""

from __future__ import annotations

from zlib import crc32

import msgspec
import pytest

from catalog.ddl.statements import apply_ddl
from catalog.query.compiler import Compiler
from catalog.schema.catalog import Catalog
from connectors.formats.bucket import shard_of
from connectors.record import OutRecord
from operators.control import RegisterAll
from operators.counters import ShardCounters
from operators.packed import Header, PackedMessages, PackedSnapshot, is_packed, pack_registrations, unpack
from shard.pipeline import process_group
from tests.streaming.conftest import World
from tests.streaming.waiting import eventually

pytestmark = [pytest.mark.broker, pytest.mark.spark]
EXCHANGES = ["NYSE", "LSE", "Börse", "TSE", "", "ASX", "HKEX", "B3"]


def ddl(world: World, buckets: int) -> str:
    return (
        "CREATE TABLE stock (exchange VARCHAR, id INTEGER, price BIGINT, PRIMARY KEY (exchange, id)) "
        f"WITH ('topic'='{world.name('stock')}', 'buckets'='{buckets}', 'bucket.by'='exchange')"
    )


def shard(exchange: str, buckets: int) -> str:
    return f"stock/{crc32(msgspec.json.encode({'exchange': exchange})) % buckets}"


def publish(world: World, price: int) -> None:
    """Publish a row of each exchange, half of them under a key that is not the canonical one."""
    for i, exchange in enumerate(EXCHANGES):
        row = {"exchange": exchange, "id": i, "price": price}
        key = msgspec.json.encode({"exchange": exchange, "id": i})
        odd = b' {"id": %d, "exchange": %s}' % (i, msgspec.json.encode(exchange))
        world.send(OutRecord(world.name("stock"), i % 2, odd if i % 3 else key, msgspec.json.encode(row)))


def told(world: World) -> list[tuple[str, PackedSnapshot | PackedMessages]]:
    records = world.read(world.topics.notifications)
    return [((key or b"").decode(), unpack(value)) for key, value in records if is_packed(value)]  # type: ignore[misc]


def counted(world: World) -> dict[str, ShardCounters]:
    values = [value for _, value in world.read(world.topics.engines) if value.startswith(b'{"kind":"counters"')]
    return {record.shard: record for record in (msgspec.json.decode(v, type=ShardCounters) for v in values)}


def register(world: World, catalog: Catalog, epoch: int, first: int) -> None:
    compiler, relation = Compiler(catalog), catalog.relations["stock"]
    for version, exchange in enumerate(EXCHANGES, first):
        region = compiler.compile(f"SELECT MIN(price) FROM stock WHERE exchange = '{exchange}'").region
        name = shard_of(relation, region.shape.equal, region.group)
        assert name == shard(exchange, relation.buckets)
        header = Header("register", epoch, name, ve=0, catalog=catalog.version)
        (packed,) = pack_registrations(header, [version], [region])
        world.send(OutRecord(world.topics.registrations, 0, name.encode(), packed))


def answers(world: World, first: int) -> dict[int, int]:
    """The snapshot of each version from `first` on, which its own shard gave."""
    found = {}
    for name, part in told(world):
        if isinstance(part, PackedSnapshot):
            assert part.header.shard == name
            found |= dict(zip(part.version.tolist(), part.new.tolist(), strict=True))
    return {version: new for version, new in found.items() if version >= first}


def test_rows_and_questions_meet_in_the_shard_of_their_bucket(world: World) -> None:
    world.make("stock", 2)
    world.apply(ddl(world, 4))
    publish(world, 50)
    world.send(OutRecord(world.name("stock"), 0, None, b'{"exchange":"LSE","id":1}'))
    engine = world.engine(process=process_group)
    registers = eventually(
        lambda: [c for c in world.controls() if isinstance(c, RegisterAll)], 120, lambda: engine.error
    )
    eventually(lambda: sum(c.decoded for c in counted(world).values()) == 8, 120, lambda: engine.error)
    catalog = apply_ddl(Catalog(), ddl(world, 4), 0)
    register(world, catalog, registers[0].epoch, 0)
    eventually(lambda: len(answers(world, 0)) == 8, 60, lambda: engine.error)
    assert answers(world, 0) == dict.fromkeys(range(8), 50)
    publish(world, 40)
    messages = eventually(lambda: _messages(world, 40), 60, lambda: engine.error)
    assert messages == {(exchange, shard(exchange, 4)) for exchange in EXCHANGES}
    assert {name: c.decoded for name, c in counted(world).items()} == {
        name: 2 * sum(shard(exchange, 4) == name for exchange in EXCHANGES)
        for name in catalog.relations["stock"].shards
    }
    assert len(world.read(world.topics.dead_letters)) == 1
    # another number of buckets needs another table, which begins empty
    world.apply("DROP TABLE stock; " + ddl(world, 3))
    eventually(lambda: world.progress()[-1].catalog == 1, 120, lambda: engine.error)
    publish(world, 30)
    register(world, apply_ddl(catalog, "DROP TABLE stock; " + ddl(world, 3), 1), registers[0].epoch, 100)
    eventually(lambda: len(answers(world, 100)) == 8, 60, lambda: engine.error)
    assert set(answers(world, 100).values()) <= {0, 30}
    publish(world, 20)
    messages = eventually(lambda: _messages(world, 20), 60, lambda: engine.error)
    assert messages == {(exchange, shard(exchange, 3)) for exchange in EXCHANGES}


def _messages(world: World, price: int) -> set[tuple[str, str]] | None:
    """Which exchange's message came from which shard; None until all have come."""
    found = set()
    for name, part in told(world):
        if isinstance(part, PackedMessages):
            for i in (part.messages.new == price).nonzero()[0].tolist():
                group = part.messages.groups[int(part.messages.group[i])]
                found.add((msgspec.json.decode(group)[0], name))
    return found if len(found) == len(EXCHANGES) else None
