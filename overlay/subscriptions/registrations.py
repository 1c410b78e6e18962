"""What a virtual edge tells the shards: regions to register, channels that nobody needs any more, and summaries.

All go to the virtual edge's partition of `registrations` with the shard as key, so a shard takes them in the order in
which they were written. A `withdraw` is decided only when a step ends and the channel is still unused, hence never
races with a registration of the same channel.

A cell is told with the first registration after a loss, or of a process, that none of the rows that it sent before are
here any more (`Header.anew`), which is always right: it only costs their bytes once more.

Summaries (`subscriptions/summaries.py`) come last: they say all that is wanted, the step's own registrations among it.

What is queued is looked at only when the step ends: who went in between, or has the snapshot already, is passed over.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from catalog.query.channel import Channel
from catalog.schema.catalog import Catalog
from catalog.schema.cell import tables_of_cell
from catalog.sql.notify import NONE
from connectors.record import OutRecord
from operators.control import Withdraw, encode_control
from operators.needed_format import format_of_channels
from operators.packed import MAX_REGISTRATIONS, Header, RegionColumns, pack_region_columns
from operators.wire.registrations import encode_have
from overlay.answers.answer_table import AnswerTable
from overlay.answers.shape_table import ShapeEntry, ShapeTable
from overlay.subscriptions.slot_shards import SlotShards
from overlay.subscriptions.summaries import Summaries
from overlay.table.slot_table import SlotTable
from state.byte_runs import byte_runs
from state.change_batch import I64

_ROW_BYTES = 40
_HAVE_BYTES = 40


class Registrations:
    """What is to be sent when the step ends: queued slots, in order, and channels that lost their last shape."""

    def __init__(self, slots: SlotTable, shapes: ShapeTable, answers: AnswerTable, summaries: Summaries) -> None:
        self.unused: dict[Channel, ShapeEntry] = {}
        self._slots = slots
        self._shapes = shapes
        self._answers = answers
        self._shards = SlotShards(slots, shapes)
        self._summaries = summaries
        self._queued: list[I64] = []
        self._told_anew: set[str] = set()

    def queue(self, slots: I64) -> None:
        """Let slots that await a snapshot be registered at the end of the step."""
        self._queued.append(slots)

    def clear(self) -> None:
        """Forget what was to be sent, and what the shards were told before."""
        self._sent()
        self._summaries.clear()
        self._told_anew.clear()

    def _sent(self) -> None:
        self._queued.clear()
        self.unused.clear()

    def queued(self) -> I64:
        """Return the slots that will be registered, each once, in the order in which they were queued."""
        if not self._queued:
            return np.empty(0, np.int64)
        slots = np.concatenate(self._queued)
        slots = slots[self._slots.is_used(slots) & (self._slots.eras[slots] != self._slots.era)]
        return slots[np.sort(np.unique(slots, return_index=True)[1])]

    def records(self, catalog: Catalog, to: Header, topic: str) -> list[OutRecord]:
        """Return the records to write, and forget what they say.

        `to` has epoch, virtual edge and catalog version. Cost: 0.4 us a registration, 2 us where bounds are bytes.
        """
        out = list(self._withdrawals(catalog, to, topic))
        slots = self.queued()
        for shard, mine in self._shards.parted(slots, catalog):
            anew = tables_of_cell(shard) is not None and shard not in self._told_anew
            header = Header("register", to.epoch, shard, ve=to.ve, catalog=to.catalog, anew=anew)
            self._told_anew.add(shard)
            for part in self._parts(mine):
                value = pack_region_columns(header, self._slots.version[part], self._columns(part))
                out.append(OutRecord(topic, to.ve, shard.encode(), value))
        self._summaries.came(slots)
        self._sent()
        return [*out, *self._summaries.records(catalog, to, topic)]

    def looks(self, asked: dict[int, int], catalog: Catalog, to: Header, topic: str) -> Iterator[OutRecord]:
        """Yield the records that ask for the rows of slots, each under its number, and for nothing else."""
        for shard, part in self._looked_at(asked, catalog):
            columns = replace(self._columns(part), have=[], digest_only=None, by_keys=None)
            yield self._look(asked, part, shard, columns, to, topic)

    def comparisons(self, asked: dict[int, int], catalog: Catalog, to: Header, topic: str) -> Iterator[OutRecord]:
        """Yield the records that ask whether slots have their answers still: of bags no more than a digest."""
        for shard, part in self._looked_at(asked, catalog):
            columns = self._columns(part)
            told = np.array([digest is not None for digest in columns.have], np.bool_)
            columns = replace(columns, digest_only=told if len(told) else None)
            yield self._look(asked, part, shard, columns, to, topic)

    def _looked_at(self, asked: dict[int, int], catalog: Catalog) -> Iterator[tuple[str, I64]]:
        for shard, mine in self._shards.parted(np.array(list(asked), np.int64), catalog):
            for part in self._parts(mine):
                yield shard, part

    def _look(
        self, asked: dict[int, int], part: I64, shard: str, columns: RegionColumns, to: Header, topic: str
    ) -> OutRecord:
        """Return a record of the looks at `part`, each under its number."""
        header = Header("register", to.epoch, shard, ve=to.ve, catalog=to.catalog)
        numbers = np.array([asked[slot] for slot in part.tolist()], np.int64)
        return OutRecord(topic, to.ve, shard.encode(), pack_region_columns(header, numbers, columns))

    def _withdrawals(self, catalog: Catalog, to: Header, topic: str) -> Iterator[OutRecord]:
        by_shard: dict[str, list[Channel]] = {}
        for channel, entry in self.unused.items():
            relation = catalog.relation(channel.relation)
            if not self._shapes.shapes_of(channel) and relation is not None and entry.stands(catalog):
                for shard in relation.shards:
                    by_shard.setdefault(shard, []).append(channel)
        for shard, gone in by_shard.items():
            withdrawn = Withdraw(to.epoch, to.ve, gone, format_of_channels(gone))
            yield OutRecord(topic, to.ve, shard.encode(), encode_control(withdrawn))

    def _parts(self, slots: I64) -> Iterator[I64]:
        """Cut slots so that a record has at most RECORD_BYTES, even if every group's text is another one."""
        sizes = _ROW_BYTES + self._slots.group_sizes(slots) + self._bound_sizes(slots)
        if len(self._slots.filters):
            sizes += _HAVE_BYTES + self._slots.filters.sizes(slots)
        return (slots[run] for run in byte_runs(sizes, items=MAX_REGISTRATIONS))

    def _bound_sizes(self, slots: I64) -> I64 | int:
        if not len(self._answers):
            return 0
        bounds = [self._answers.bounds(slot) for slot in slots.tolist()]
        return np.array([0 if pair is None else len(pair[0]) + len(pair[1]) for pair in bounds], np.int64)

    def _columns(self, slots: I64) -> RegionColumns:
        table = self._slots
        numbers, shape = np.unique(table.shape[slots], return_inverse=True)
        distinct, first, group = np.unique(table.group[slots], return_index=True, return_inverse=True)
        bounds = [self._answers.bounds(slot) for slot in slots.tolist()] if len(self._answers) else []
        ends = [[None if pair is None else pair[i] for pair in bounds] if any(bounds) else [] for i in (0, 1)]
        return RegionColumns(
            [self._shapes[number].shape for number in numbers.tolist()],
            shape,
            table.groups_of(slots[first]) if len(distinct) else [],
            group,
            table.lo[slots],
            table.hi[slots],
            table.empty[slots],
            table.n[slots] > 0,
            low=ends[0],
            high=ends[1],
            **self._of_filters(slots),
        )

    def _of_filters(self, slots: I64) -> dict[str, Any]:
        """Return the columns that only filters have, none where none of `slots` is one.

        A bag that is live says by a digest what was told of it: where that still holds, nothing needs to be sent.
        """
        table = self._slots
        mine = table.filters.are(slots)
        if not mine.any():
            return {}
        bags = mine & np.isin(table.shape[slots], [entry.number for entry in self._shapes if entry.bag])
        told = bags & (table.n[slots] > 0)
        have: list[bytes | None] = [None] * len(slots)
        for i in told.nonzero()[0].tolist():
            have[i] = encode_have(table.filters.digest(int(slots[i])))
        terms, place = np.unique(table.terms.number[slots], return_inverse=True)
        kinds = [table.terms.value(number) for number in terms.tolist()]
        return {
            "terms": table.filters.constants(slots),
            "have": have if told.any() else [],
            "digest_only": bags & np.array([terms.snapshot == NONE for terms in kinds])[place],
            "by_keys": bags & np.array([terms.by_key for terms in kinds])[place],
        }
