"""The one place where Spark's stateful function meets the pure pipeline.

A group of `applyInPandasWithState` is a group of ours (shard/group.py), with the members that
`connectors/placement.py` says; today that is one shard of a table. Its records come in any number of parcels
(`shuffle_batch.py`); the answer may not depend on where they are cut, so all are collected first and handed over as
pieces. What the group writes goes back as rows of the sink (`streaming/query/sink_rows.py`). No number passes through a
pandas default type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import pandas as pd

from connectors.record import RawRecords
from connectors.schemas.schema_registry import Registry, use_registry
from connectors.topics import Topics
from operators.silenced import Silenced
from shard.bounds import Bounds
from shard.group_spec import GroupSpec
from shard.pipeline import GroupResult
from shard.snapshot import DIGEST_KEY
from streaming.query.batch_context import Catalogs, Placements, catalog_at, current_batch, placement_at
from streaming.query.partition_count import Counts, Several, counts_at, several_at
from streaming.query.shuffle_batch import unwrap
from streaming.query.sink_rows import frames


class Seed(Protocol):
    """What a group begins with, where the worker can get it: a broadcast of Spark's, which is read where it is used."""

    @property
    def value(self) -> bytes:
        """The state."""
        ...


Process = Callable[[GroupSpec, int, bytes | None, Sequence[RawRecords]], GroupResult]


class GroupState(Protocol):
    """The part of Spark's `GroupState` that is used: a state of one binary column."""

    exists: bool
    get: tuple[bytes]

    def update(self, value: tuple[bytes]) -> None:
        """Replace the state."""
        ...

    def remove(self) -> None:
        """Forget the state."""
        ...


@dataclass(frozen=True, slots=True)
class GroupFunction:
    """The function that Spark calls for each group that a batch touches.

    `sources` are the topics by the number that the plan gives them; `catalogs` are (first batch, catalog) in
    ascending order, so that a batch that is replayed finds the catalog it was planned with, and `placements` says in
    the same way which members a group has; `flush_rows` is the
    session's `spark.sql.execution.arrow.maxRecordsPerBatch`; `several` says by batch which
    topics have several partitions, `counts` how many those of streams have; `silenced` is where silences of streams
    have counted in earlier epochs; `seeds` are what groups begin with whose members have no state yet; `registry` is
    asked for schemas by tables that say so; `bounds` are what subscriptions may make a shard hold;
    `digest_key` is what rows are hashed under.
    """

    process: Process
    epoch: int
    sources: tuple[str, ...]
    catalogs: Catalogs
    placements: Placements
    topics: Topics
    partitions: int
    flush_rows: int
    several: Several = ()
    counts: Counts = ()
    silenced: Mapping[str, tuple[Silenced, ...]] = field(default_factory=dict)
    seeds: Mapping[str, Seed] = field(default_factory=dict)
    registry: Registry | None = None
    bounds: Bounds = field(default_factory=Bounds)
    digest_key: bytes = DIGEST_KEY

    def __call__(self, key: tuple[str], chunks: Iterable[pd.DataFrame], state: GroupState) -> Iterator[pd.DataFrame]:
        """Run one batch of the group `key`; yield the rows to write. `chunks` are rows of parcels."""
        use_registry(self.registry)
        batch = current_batch()
        parcels = [pair for chunk in chunks for pair in zip(chunk["parcel"], chunk["source"], strict=True)]
        records = [unwrap(parcel, self.sources[source]) for parcel, source in parcels]
        seed = self.seeds.get(key[0])
        spec = GroupSpec(
            self.epoch,
            key[0],
            catalog_at(self.catalogs, batch),
            self.topics,
            self.partitions,
            several_at(self.several, batch),
            placement_at(self.placements, batch).members(key[0]),
            None if seed is None else seed.value,
            self.bounds,
            self.digest_key,
            counts_at(self.counts, batch),
            self.silenced,
        )
        before = bytes(state.get[0]) if state.exists else None
        result = self.process(spec, batch, before, records)
        if result.state is not None:
            state.update((result.state,))
        elif state.exists:
            state.remove()
        yield from frames(result.out, self.flush_rows)
