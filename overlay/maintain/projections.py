"""Rows as filters' subscribers see them: of each row change and SELECT list, the texts and hashes of old and new row.

    change 7    stock ACME 10.25 -> 9.75      SELECT symbol, price     ["ACME","10.25"]  ["ACME","9.75"]      differ
                                              SELECT symbol            ["ACME"]          ["ACME"]             same

Whoever hears of a change with one SELECT list hears the same, so all of it is made once for each such *pair*, however
many subscriptions there are. Those who are told by the primary key (NOTIFY TRANSITIONS and ENTER) have pairs of their
own: there rows are told apart by the key alone, in digests too.
Cost: 0.1 ms a SELECT list, 1 us a pair and column, 20 ns a hit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from catalog.types.column_type import ColumnType
from operators.packed import PackedImages
from operators.row_images import ImageColumn
from overlay.answers.shape_table import ShapeEntry, ShapeTable
from overlay.delivery.row_text import RowColumn, RowTexts, turned
from overlay.table.slot_filters import U64
from state.change_batch import I32, I64, Bool
from state.distinct_numbers import distinct_numbers
from state.row_digest import hashes

SelectList = tuple[tuple[str, ...], tuple[int, ...]]


@dataclass(slots=True)
class Side:
    """The old or the new rows of pairs: as they are told, by what they are told apart, and the lanes of their hashes.

    Where there is no such row, all of it means nothing.
    """

    texts: list[str]
    names: list[str]
    low: U64
    high: U64

    @classmethod
    def joined(cls, sides: Sequence[Side]) -> Side:
        """Return the rows of all `sides`, in order."""
        texts = [text for side in sides for text in side.texts]
        names = [name for side in sides for name in side.names]
        low, high = (np.concatenate([getattr(side, lane) for side in sides]) for lane in ("low", "high"))
        return cls(texts, names, low, high)


@dataclass(slots=True)
class Pairs:
    """Pairs of a change and a SELECT list.

    change: its index in the record.  of_list: the SELECT list.  same: whether old and new row are one to who hears.
    lists: what is shown, and where the primary key stands in it if rows go by that, else ().
    """

    change: I64
    of_list: I64
    lists: list[SelectList]
    old: Side
    new: Side
    same: Bool

    def keys(self, pair: int) -> tuple[int, ...]:
        """Return where the primary key stands in the rows of a pair, if they go by it, else ()."""
        return self.lists[int(self.of_list[pair])][1]


class Projector:
    """Makes the pairs of hits on bags; `digest_key` has 16 bytes."""

    def __init__(self, shapes: ShapeTable, digest_key: bytes) -> None:
        self._shapes = shapes
        self._digest_key = digest_key

    def project(self, packed: PackedImages, change: I64, shape: I32, keyed: Bool) -> tuple[I64, Pairs]:
        """Return the place of each hit's pair, and the pairs.

        A hit is a change, the number of its subscriber's shape, and whether that is told by the key.
        """
        kinds, kind = distinct_numbers(shape.astype(np.int64) * 2 + keyed)
        entries: dict[SelectList, tuple[int, ShapeEntry]] = {}
        number_of = np.zeros(len(kinds), np.int64)
        for i, one in enumerate(kinds.tolist()):
            entry = self._shapes[one // 2]
            name = entry.shown_list, entry.keys if one % 2 else ()
            number_of[i], _ = entries.setdefault(name, (len(entries), entry))
        lists, width = list(entries), len(packed)
        pairs, place = distinct_numbers(number_of[kind] * width + change)
        number, changes = np.divmod(pairs, width)
        ends = np.searchsorted(number, np.arange(len(lists) + 1)).tolist()
        sides, same = [], []
        for (_, keys), (one, entry) in entries.items():
            columns = _columns(packed, entry, changes[ends[one] : ends[one + 1]])
            sides.append(self._sides(entry, bool(keys), columns))
            same.append(_same([columns[i] for i in keys] or columns))
        old, new = (Side.joined([pair[i] for pair in sides]) for i in (0, 1))
        return place, Pairs(changes, number, lists, old, new, np.concatenate(same))

    def hashed(self, entry: ShapeEntry, keyed: bool, rows: Sequence[Sequence[int | str | None]]) -> tuple[U64, U64]:
        """Return the lanes of the hashes of rows as a shard answers with: order codes, texts, and None for NULL."""
        types = [type_ for type_ in entry.types if type_ is not None]
        columns = [_column_of(values, type_) for values, type_ in zip(turned(rows), types, strict=True)]
        return self.hashes([columns[i] for i in entry.keys] if keyed else columns)

    def hashes(self, columns: Sequence[RowColumn]) -> tuple[U64, U64]:
        """Return the lanes of the hashes of rows, given as columns."""
        codes, valid = [column.codes for column in columns], [column.known for column in columns]
        return hashes(self._digest_key, codes, valid, [column.texts for column in columns])

    def _sides(self, entry: ShapeEntry, by_key: bool, columns: list[ImageColumn]) -> tuple[Side, Side]:
        """Return the old and the new rows of some changes, which are written and hashed together."""
        rows = [_both(column) for column in columns]
        texts = names = entry.rows.texts(rows)
        if by_key:
            rows = [rows[i] for i in entry.keys]
            names = _key_texts(entry).texts(rows)
        low, high = self.hashes(rows)
        half = len(texts) // 2
        old, new = slice(0, half), slice(half, None)
        return Side(texts[old], names[old], low[old], high[old]), Side(texts[new], names[new], low[new], high[new])


def _columns(packed: PackedImages, entry: ShapeEntry, changes: I64) -> list[ImageColumn]:
    taken = {name: packed.columns[name].take(changes) for name in dict.fromkeys(entry.shown_list)}
    return [taken[name] for name in entry.shown_list]


def _both(column: ImageColumn) -> RowColumn:
    """Return the old values of a column, and behind them the new ones."""
    codes, known = np.concatenate([column.old, column.new]), np.concatenate([column.old_known, column.new_known])
    return RowColumn(codes, known, column.listed)


def _column_of(values: Sequence[int | str | None], type_: ColumnType) -> RowColumn:
    """Return values as codes, or as places among texts where the type has none, even if none of them is known."""
    known = np.array([value is not None for value in values], np.bool_)
    there = [value for value in values if value is not None]
    codes = np.zeros(len(values), np.int64)
    if type_.coded:
        codes[known] = there
        return RowColumn(codes, known)
    places: dict[int | str, int] = {}
    codes[known] = [places.setdefault(value, len(places)) for value in there]
    return RowColumn(codes, known, [str(text) for text in places])


def _key_texts(entry: ShapeEntry) -> RowTexts:
    types = [entry.types[i] for i in entry.keys]
    return RowTexts([type_ for type_ in types if type_ is not None])


def _same(columns: Sequence[ImageColumn]) -> Bool:
    """Return whether the old and the new values of each change are alike in all columns."""
    alike = np.ones(len(columns[0].old), np.bool_)
    for column in columns:
        alike &= (column.old_known == column.new_known) & (column.old == column.new)
    return alike
