"""The view that all channels of a relation stand on for one batch: rows, their replay, orderings and layouts.

Layouts are made when they are first asked for and shared from then on. Groups of the wire (JSON arrays of order codes
and texts) are translated here to the numbers that groups have in a layout, and back; bounds that are order keys, to
ranks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np

from catalog.query.shape import Region, group_key
from catalog.schema.relation import Relation
from catalog.types.column_type import Kind
from catalog.types.order_key import text_of_key
from operators.channel_binding import OrderingKey
from state.change_batch import I64, Bool
from state.ordering import Layout, Ordering
from state.rank_order import RankKey, RankOrder, Ranks
from state.row_store import Replay, RowStore


@dataclass(frozen=True, slots=True)
class Places:
    """Where regions lie: region i is of the group groups[group[i]], and its range is lo[i] <= x <= hi[i]."""

    groups: list[bytes]
    group: I64
    lo: I64
    hi: I64

    def __len__(self) -> int:
        return len(self.group)

    def at(self, chosen: Bool) -> Places:
        """Return where the chosen regions lie."""
        return Places(self.groups, self.group[chosen], self.lo[chosen], self.hi[chosen])


@dataclass(slots=True)
class BatchView:
    """One batch of one relation. `replay` is what its changes do, or that of no changes."""

    relation: Relation
    rows: RowStore
    orderings: dict[OrderingKey, Ordering]
    replay: Replay
    orders: dict[RankKey, RankOrder] = field(default_factory=dict)
    layouts: dict[OrderingKey, Layout] = field(default_factory=dict)
    ranked: dict[RankKey, Ranks] = field(default_factory=dict)

    def layout(self, key: OrderingKey) -> Layout:
        """Return the layout of an ordering. Cost: O(n) the first time."""
        if key not in self.layouts:
            self.layouts[key] = self.orderings[key].layout(self.replay)
        return self.layouts[key]

    def ranks(self, key: RankKey) -> Ranks:
        """Return the ranks of an order. Cost: O(n) the first time."""
        if key not in self.ranked:
            self.ranked[key] = self.orders[key].ranks(self.replay)
        return self.ranked[key]

    def places(self, key: OrderingKey, regions: Sequence[Region]) -> Places:
        """Return where `regions`, all about the range of the ordering `key`, lie. Cost: 1 us each."""
        numbers = {group: i for i, group in enumerate(dict.fromkeys(region.group for region in regions))}
        group = np.fromiter((numbers[region.group] for region in regions), np.int64, len(regions))
        lows, highs = [region.lo for region in regions], [region.hi for region in regions]
        return Places(list(numbers), group, self._bounds(key[1], lows, 0), self._bounds(key[1], highs, -1))

    def seek(self, key: OrderingKey, groups: Sequence[bytes]) -> I64:
        """Return the number of each group in the layout of `key`, -1 for those that have no row."""
        order = self.orderings[key]
        return order.seek(self.layout(key), self.replay, self._codes(order.equal, groups))

    def bundles(self, key: OrderingKey, width: int, groups: Sequence[bytes]) -> tuple[I64, I64]:
        """Return the numbers [first, stop) of the groups in the layout of `key` that begin with each of `groups`.

        `width` says how many columns `groups` have.
        """
        order, layout = self.orderings[key], self.layout(key)
        firsts = order.bundles(layout, self.replay, width)
        found = order.seek(layout, self.replay, self._codes(order.equal[:width], groups), firsts)
        there = found >= 0
        return np.where(there, firsts[found], 0), np.where(there, firsts[found + 1], 0)

    def groups(self, key: OrderingKey, width: int, numbers: I64) -> list[bytes]:
        """Return the canonical bytes of the first `width` columns of groups. Cost: 1 us each."""
        layout = self.layout(key)
        heads = layout.version[layout.starts[numbers]]
        if not width:
            return [group_key(())] * len(numbers)
        columns: list[list[int] | list[str]] = []
        for column in self.orderings[key].equal[:width]:
            codes = self.replay.codes[column][heads]
            coded = self.relation.columns[column].type.coded
            columns.append(codes.tolist() if coded else self.rows.texts_of(column, codes))
        return [group_key(values) for values in zip(*columns, strict=True)]

    def _codes(self, columns: Sequence[int], groups: Sequence[bytes]) -> list[list[int]]:
        """Return each group's equality codes; a text that no row holds has code -1, and finds no group."""
        values = [msgspec.json.decode(group) for group in groups]
        for place, column in enumerate(columns):
            if not self.relation.columns[column].type.coded:
                texts = self.rows.numbers_of(column, [value[place] for value in values]).tolist()
                for value, number in zip(values, texts, strict=True):
                    value[place] = number
        return values

    def _bounds(self, column: int | None, bounds: Sequence[int | bytes], shift: int) -> I64:
        """Return bounds as codes; order keys as how many texts are below them, plus `shift`."""
        numbers = np.array([0 if isinstance(bound, bytes) else bound for bound in bounds], np.int64)
        keys = [bound for bound in bounds if isinstance(bound, bytes)]
        if keys and column is not None:
            type_, past = self.relation.columns[column].type, [False] * len(keys)
            if type_.kind is Kind.DECIMAL:
                past = [len(key) > 16 for key in keys]
                keys = [text_of_key(type_, key).encode() for key in keys]
            which = [i for i, bound in enumerate(bounds) if isinstance(bound, bytes)]
            numbers[which] = self.rows.places_of(column, keys, past) + shift
        return numbers
