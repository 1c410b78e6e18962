"""Which virtual edges want versions of rows at a position of a join: their boxes, asked for many versions at once.

    kind of boxes        a version is                                        asked of
    range x alone        the number x; a box holds lo_min <= x <= hi_max     state/stabbed_edges.py, 30 ns a version
    with equalities      the rectangle [.., x] to [x, ..] in its group       state/box_sieve.py, 0.1 us and the hashes

A version that is NULL in a column of the kind is wanted by nobody for it (`join_interest.py` sees to that). Virtual
edges are bits: edge e is bit e % 64 of word e // 64.
"""

from __future__ import annotations

import numpy as np

from catalog.schema.join import Join
from operators.batch_view import BatchView
from operators.cell_view import CellView
from operators.equality_hashes import U32, equality_hashes, text_code
from operators.join_interest import JoinInterests, Kind
from operators.join_keys import distinct
from state.box_sieve import Sieve
from state.change_batch import I64, Bool
from state.order_code import INT64_MAX, INT64_MIN
from state.stabbed_edges import U64, WORD, StabbedEdges, words_of


class WantedVersions:
    """What the virtual edges below `partitions` want of one join."""

    def __init__(self, view: CellView, join: Join, interests: JoinInterests, partitions: int) -> None:
        self._views = [view.views[view.tables.index(table)] for table in join.tables]
        self._edges = {ve: each for ve, each in interests.of(join).items() if ve < partitions}
        self._words = -(-partitions // WORD)
        kinds = {kind for each in self._edges.values() for kind in each.boxes}
        self._kinds = [sorted(kind for kind in kinds if kind.position == p) for p in range(len(join.tables))]
        self._stabbed: dict[Kind, StabbedEdges] = {}
        self._sieves: dict[Kind, Sieve] = {}

    def at(self, position: int, versions: I64) -> U64:
        """Return uint64[versions, words]: the virtual edges that want each version at a position."""
        wanted = np.zeros((len(versions), self._words), np.uint64)
        for kind in self._kinds[position]:
            there, x = self._ranged(kind, versions)
            met = self._met(kind, versions, there, x) if kind.equal else self._holding(kind).at(x)
            wanted |= met if there.all() else np.where(there[:, None], met, np.uint64(0))
        return wanted

    def _ranged(self, kind: Kind, versions: I64) -> tuple[Bool, I64]:
        """Return which versions have values in all columns of a kind, and their values of the range."""
        view = self._views[kind.position]
        valid, index = view.replay.valid, view.relation.index
        there = np.ones(len(versions), np.bool_)
        for name in (*kind.equal, *((kind.range,) if kind.range else ())):
            there &= valid[index(name)][versions]
        if not kind.range:
            return there, np.zeros(len(versions), np.int64)
        return there, view.replay.codes[index(kind.range)][versions]

    def _met(self, kind: Kind, versions: I64, there: Bool, x: I64) -> U64:
        """Return the virtual edges that have a box which a version's rectangle meets in its group."""
        view, count = self._views[kind.position], len(versions)
        hashes = _hashes(view, [view.relation.index(name) for name in kind.equal], versions, there)
        least, most = np.full(count, INT64_MIN), np.full(count, INT64_MAX)
        group = np.arange(count, dtype=np.int32)
        edges, sieve = self._sieve(kind)
        met = np.zeros((count, self._words * WORD), np.bool_)
        met[:, edges] = sieve.meets(hashes, np.zeros(count, np.int32), group, (least, x, x, most)).T
        return words_of(met)

    def _holding(self, kind: Kind) -> StabbedEdges:
        """Return which virtual edges hold a number, of a kind without equalities."""
        if kind not in self._stabbed:
            boxes = {ve: each.boxes[kind] for ve, each in self._edges.items() if kind in each.boxes}
            bounds = np.concatenate([each.bounds for each in boxes.values()])
            edge = np.repeat(list(boxes), [len(each) for each in boxes.values()])
            self._stabbed[kind] = StabbedEdges.of(edge, bounds[:, 0], bounds[:, 3], self._words)
        return self._stabbed[kind]

    def _sieve(self, kind: Kind) -> tuple[list[int], Sieve]:
        """Return the virtual edges that have boxes of a kind, and these."""
        edges = [ve for ve, each in self._edges.items() if kind in each.boxes]
        if kind not in self._sieves:
            self._sieves[kind] = Sieve([[self._edges[ve].boxes[kind] for ve in edges]])
        return edges, self._sieves[kind]


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
