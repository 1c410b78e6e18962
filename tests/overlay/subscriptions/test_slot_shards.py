from __future__ import annotations

import numpy as np

from catalog.ddl.statements import apply_ddl
from catalog.query.compiler import Compiler
from catalog.schema.catalog import Catalog
from connectors.formats.bucket import shard_of
from overlay.subscriptions.slot_shards import SlotShards
from overlay.subscriptions.subscription_store import SubscriptionStore
from overlay.table.accepted_batch import AcceptedBatch

CATALOG = apply_ddl(
    Catalog(),
    "CREATE TABLE t (e VARCHAR, k INT, v INT, PRIMARY KEY (e, k)) WITH ('buckets'='4', 'bucket.by'='e');"
    "CREATE TABLE u (k INT PRIMARY KEY, v INT)",
    0,
)
ASKED = [
    *(f"SELECT MIN(v) FROM t WHERE e = '{name}' AND k > {k}" for name in "abcdefgh" for k in range(3)),
    *(f"SELECT COUNT(*) FROM t WHERE e = '{name}' AND k = 1" for name in "abc"),
    *(f"SELECT MIN(v) FROM u WHERE k = {k}" for k in range(3)),
    *(f"SELECT k FROM t WHERE e = '{name}' AND v <> 1" for name in "abcdefgh"),
    "SELECT SUM(v) FROM u WHERE v <> 1",
]


def test_each_slot_is_told_its_shard_in_order() -> None:
    store, compiler = SubscriptionStore(), Compiler(CATALOG)
    compiled = [compiler.compile(sql) for sql in ASKED]
    relations = [CATALOG.relations[c.region.shape.relation] for c in compiled]
    arrivals = AcceptedBatch([b"%d" % i for i in range(len(ASKED))], range(len(ASKED)))
    for i, (one, relation) in enumerate(zip(compiled, relations, strict=True)):
        arrivals.put_one(i, one, relation)
    slots = store.add(arrivals)
    shuffled = np.random.default_rng(5).permutation(slots)
    parted = dict(SlotShards(store.slots, store.shapes).parted(shuffled, CATALOG))
    expected: dict[str, list[int]] = {}
    for slot in shuffled.tolist():
        version = int(store.slots.version[slot])
        region = compiled[version].region
        expected.setdefault(shard_of(relations[version], region.shape.grouped, region.group), []).append(slot)
    assert {shard: part.tolist() for shard, part in parted.items()} == expected
    assert set(expected) == {"u/0", "t/0", "t/1", "t/2", "t/3"}


def test_no_slots_have_no_shards() -> None:
    store = SubscriptionStore()
    assert list(SlotShards(store.slots, store.shapes).parted(np.zeros(0, np.int64), CATALOG)) == []
