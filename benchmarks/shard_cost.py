"""Where the time of a batch goes inside a shard: one process, no Spark, no Kafka.

    python -m benchmarks.shard_cost [--profile]

100,000 publications on 50,000 rows with 100,000 subscriptions behind 16 virtual edges (stock_workload). Processor times
are medians of several runs of one batch on one state, in milliseconds: opening the parcels and the state, each stage,
writing the state, and the way out to Arrow.
"""

from __future__ import annotations

import cProfile
import json
import pstats
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa

from benchmarks.stock_workload import Audience, Market, catalog_of
from connectors.record import OutRecord, RawRecords
from connectors.topics import Topics
from operators.packed import PackedMessages, unpack
from shard.decode import decode, settle
from shard.group import Group
from shard.group_spec import GroupSpec
from shard.member_batch import Told, count_messages, count_rows, encode, outgoing_of
from shard.moved import Moved
from shard.order import order
from shard.pipeline import GroupResult, process_group
from shard.route import route
from shard.tables import warm
from streaming.query.shuffle_batch import unwrap, written
from streaming.query.sink_rows import frames

PARTITIONS = 16
RUNS = 5
TOPICS = Topics()
SINK = pa.schema(
    [("topic", pa.string()), ("partitions", pa.list_(pa.int32())), ("key", pa.binary()), ("value", pa.binary())]
)


@dataclass(frozen=True, slots=True)
class Dump:
    """A batch as a shard finds it."""

    spec: GroupSpec
    state: bytes
    parcels: list[bytes]

    def records(self) -> list[RawRecords]:
        return [unwrap(parcel, "stock") for parcel in self.parcels]

    def run(self) -> GroupResult:
        return process_group(self.spec, 2, self.state, self.records())


def parcels_of(records: Sequence[OutRecord]) -> list[bytes]:
    """Return records as Spark brings them: those of each of four partitions in turn, at most 10,000 in a parcel."""
    parcels: list[bytes] = []
    for partition in range(4):
        own = records[partition::4]
        for start in range(0, len(own), 10_000):
            part = own[start : start + 10_000]
            offset = np.arange(start, start + len(part))
            columns = {
                "key": pa.array([record.key for record in part], pa.large_binary()),
                "value": pa.array([record.value for record in part], pa.large_binary()),
                "partition": pa.array(np.full(len(part), partition, np.int32)),
                "offset": pa.array(offset),
                "micros": pa.array((offset * 4 + partition) // 100 * 1000),
            }
            parcels.append(written(pa.RecordBatch.from_pydict(columns)))
    return parcels


def raw(records: Sequence[OutRecord], topic: str) -> RawRecords:
    """Return records as one piece of one partition."""
    places = np.arange(len(records))
    keys, values = [record.key for record in records], [record.value for record in records]
    return RawRecords(topic, keys, values, np.zeros(len(records), np.int32), places, places)


def dump_of(rows: int, subscriptions: int, changes: int) -> Dump:
    """Load a table, register an audience, and return the state with the next batch."""
    catalog = catalog_of("stock")
    relation = catalog.relations["stock"]
    market, audience = Market(relation, rows), Audience(subscriptions, rows)
    spec = GroupSpec(0, relation.shard, catalog, TOPICS, PARTITIONS)
    loaded = process_group(spec, 0, None, [raw(list(market.load()), relation.topic)])
    registered = raw(list(audience.registrations(TOPICS, 0, relation, PARTITIONS)), TOPICS.registrations)
    before = process_group(spec, 1, loaded.state, [registered])
    assert before.state is not None, "a table that is declared keeps its state"
    return Dump(spec, before.state, parcels_of(list(market.changes(changes))))


def stages(dump: Dump) -> dict[str, float]:
    """Run the batch once, stage by stage; return the seconds of each."""
    spec, (shard,) = dump.spec, dump.spec.tables
    marks = [("", time.process_time())]

    def passed(name: str) -> None:
        marks.append((name, time.process_time()))

    records = dump.records()
    passed("unwrap")
    group = Group.open(spec.group, spec.tables, dump.state)
    member = group[shard]
    passed("open")
    rows = order(records, TOPICS.registrations, ["stock"]).rows["stock"]
    passed("order")
    decoded = decode(member, rows, spec.several)
    passed("decode")
    resolved = settle(member, decoded, rows)
    passed("settle")
    changes = resolved.changes
    moved = Moved(changes, member.table.replay(changes), changes.cause, resolved.causes)
    outgoing, *_ = outgoing_of(member, moved)
    passed("reformulate")
    told = Told(outgoing, route(member.listeners, outgoing.messages, PARTITIONS))
    passed("route")
    out = list(encode(spec, 2, member, {}, told))
    passed("encode")
    count_rows(member, decoded, resolved)
    count_messages(member, told)
    passed("count")
    group.dump()
    passed("dump")
    whole = list(frames(out, 10_000))
    passed("frames")
    for frame in whole:
        to_arrow(frame)
    passed("arrow_out")
    return {name: then - before for (_, before), (name, then) in pairwise(marks)}


def to_arrow(frame: pd.DataFrame) -> int:
    """Serialise as Spark's worker does; return the bytes."""
    batch = pa.RecordBatch.from_pandas(frame, schema=SINK, preserve_index=False)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return int(sink.getvalue().size)


def measure(rows: int = 50_000, subscriptions: int = 100_000, changes: int = 100_000) -> dict[str, object]:
    """Return the table of stages, in milliseconds, and what the batch is like."""
    warm()
    dump = dump_of(rows, subscriptions, changes)
    runs = [stages(dump) for _ in range(RUNS)]
    result = dump.run()
    sent = [(r.partition, r.value) for r in result.out if r.topic == TOPICS.notifications and r.value is not None]
    first = [value for partition, value in sent if partition == 0]
    messages = [part for part in map(unpack, first) if isinstance(part, PackedMessages)]
    return {
        "shard_ms": {name: round(float(np.median([run[name] for run in runs])) * 1e3, 1) for name in runs[0]},
        "shard_ms_whole": round(float(np.median([sum(run.values()) for run in runs])) * 1e3, 1),
        "messages_per_publication": round(sum(len(part.messages) for part in messages) / changes, 3),
        "affected_per_publication": round(Audience(subscriptions, rows).affected(messages) / changes, 3),
        "state_mb": round(len(result.state or b"") / 1e6, 2),
        "notifications_mb": round(sum(len(value) for _, value in sent) / 1e6, 1),
        "bytes_per_message": round(sum(map(len, first)) / sum(len(part.messages) for part in messages), 1),
    }


def profile(dump: Dump) -> None:
    """Print where one batch spends its time."""
    profiler = cProfile.Profile()
    profiler.runcall(dump.run)
    pstats.Stats(profiler).sort_stats("tottime").print_stats(25)


if __name__ == "__main__":
    if "--profile" in sys.argv:
        warm()
        profile(dump_of(50_000, 100_000, 100_000))
    else:
        print(json.dumps(measure(), indent=2))
