"""Which virtual edges want versions of rows at a position of a join: their boxes, asked for many versions at once.

A version is a rectangle of ranges [.., x] to [x, ..] in the group of its equality values (`join_interest.py`); a box
that it meets may have a region that holds it. Virtual edges are bits: bit e % 64 of word e // 64 of each version.

Cost: a sieve a kind of boxes (state/box_sieve.py); 0.1 us a version and kind with 16 virtual edges.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from catalog.schema.join import Join
from operators.batch_view import BatchView
from operators.cell_view import CellView
from operators.equality_hashes import U32, equality_hashes, text_code
from operators.join_interest import JoinInterests, Kind
from operators.join_keys import distinct
from state.box_sieve import Sieve
from state.change_batch import I64, Bool
from state.order_code import INT64_MAX, INT64_MIN

U64 = npt.NDArray[np.uint64]
WORD = 64


class WantedVersions:
    """What the virtual edges below `partitions` want of one join."""

    def __init__(self, view: CellView, join: Join, interests: JoinInterests, partitions: int) -> None:
        self._views = [view.views[view.tables.index(table)] for table in join.tables]
        self._edges = {ve: each for ve, each in interests.of(join).items() if ve < partitions}
        self._words = -(-partitions // WORD)
        kinds = {kind for each in self._edges.values() for kind in each.boxes}
        self._kinds = [sorted(kind for kind in kinds if kind.position == p) for p in range(len(join.tables))]
        self._sieves: dict[Kind, tuple[list[int], Sieve]] = {}

    def at(self, position: int, versions: I64) -> U64:
        """Return uint64[versions, words]: the virtual edges that want each version at a position."""
        wanted = np.zeros((max(self._edges, default=0) + 1, len(versions)), np.bool_)
        for kind in self._kinds[position]:
            edges, sieve = self._sieve(kind)
            if kind.equal or kind.range:
                wanted[edges] |= self._met(kind, sieve, versions)
            else:
                wanted[edges] = True
        bits = np.packbits(wanted, axis=0, bitorder="little")
        packed = np.zeros((len(versions), self._words * WORD // 8), np.uint8)
        packed[:, : len(bits)] = bits.T
        return packed.view("<u8").astype(np.uint64, copy=False)

    def _met(self, kind: Kind, sieve: Sieve, versions: I64) -> Bool:
        """Return bool[edges, versions]: which meet a box; one with NULL in a column of the kind meets none."""
        view, count = self._views[kind.position], len(versions)
        columns = [view.relation.index(name) for name in kind.equal]
        there = np.ones(count, np.bool_)
        x = np.zeros(count, np.int64)
        if kind.range:
            number = view.relation.index(kind.range)
            x = view.replay.codes[number][versions]
            there &= view.replay.valid[number][versions]
        for number in columns:
            there &= view.replay.valid[number][versions]
        hashes = _hashes(view, columns, versions, there)
        least, most = np.full(count, INT64_MIN), np.full(count, INT64_MAX)
        group = np.arange(count, dtype=np.int32)
        return sieve.meets(hashes, np.zeros(count, np.int32), group, (least, x, x, most)) & there

    def _sieve(self, kind: Kind) -> tuple[list[int], Sieve]:
        """Return the virtual edges that have boxes of a kind, and these."""
        if kind not in self._sieves:
            edges = sorted(ve for ve, each in self._edges.items() if kind in each.boxes)
            self._sieves[kind] = edges, Sieve([[self._edges[ve].boxes[kind] for ve in edges]])
        return self._sieves[kind]


def _hashes(view: BatchView, columns: list[int], versions: I64, there: Bool) -> U32:
    """Return the hash of each version's equality values; of one with NULL any."""
    values = []
    for column in columns:
        codes = np.where(there, view.replay.codes[column][versions], 0)
        if not view.relation.columns[column].type.coded:
            codes = _text_codes(view, column, codes, there)
        values.append(codes)
    return equality_hashes(values, len(versions))


def _text_codes(view: BatchView, column: int, numbers: I64, there: Bool) -> I64:
    """Return the number that stands for each text in a hash."""
    used, place = distinct(numbers[there])
    strings = view.rows.strings_of(column)
    codes = np.zeros(len(numbers), np.int64)
    codes[there] = np.array([text_code(strings[number]) for number in used.tolist()], np.int64)[place]
    return codes
