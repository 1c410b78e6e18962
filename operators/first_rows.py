"""First answers of filters: the rows that meet their terms now, totals over them, or what tells whether they changed.

    asked for                              reply
    rows                                   Rows     each as `encode_row` writes it, in the order of the stored rows
    rows, and the digest of what was told  Same     where the rows have that digest, else Rows
    digest_only                            Digest   count, and sum of the rows' numbers (state/row_digest.py); or Same
    COUNT, SUM, AVG                        parts    a Tally for each channel that a range's shape of them would have

Rows beyond the quota (operators/answer_quota.py) are refused; digests and totals are of any size.

Cost: the search (operators/row_search.py); what projections say for each different row; 0.1 us a row that is sent,
20 ns one that is summed up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from catalog.query.channel import Channel
from catalog.query.filter_shape import FilterShape
from catalog.query.shape import Region, Shape
from operators.answer import Parts, Tally
from operators.answer_quota import QUOTA, AnswerQuota
from operators.coded_terms import CodedRows
from operators.exact_sums import ExactSums
from operators.projection import Projection
from operators.reply import Asked, Digest, Reply, Rows, Same
from operators.row_search import MANY, Found, search
from state.change_batch import I64
from state.row_digest import Digest as Told


@dataclass(frozen=True, slots=True)
class FirstAnswers:
    """Answers of n regions, each a reply or parts; `rows`: how many rows meet them, all together."""

    answers: list[Reply | Parts]
    rows: int


class FirstRows:
    """Answers filters over the rows of a table or a join as they are.

    `key`: the 16 bytes under which rows are hashed.
    """

    def __init__(self, rows: CodedRows, key: bytes, many: int = MANY, quota: AnswerQuota = QUOTA) -> None:
        self._relation = rows.relation
        self._rows = rows
        self._key = key
        self._quota = quota
        self._many = many

    def answers(self, regions: Sequence[Region], asked: Sequence[Asked]) -> FirstAnswers:
        """Return the answer of each region. Cost: see the module's header. Raises ValueError for unsound terms."""
        found = search(self._rows, regions, self._many)
        answers: dict[int, Reply | Parts] = {}
        for shape, which in _by_list(regions):
            if shape.outputs:
                answers |= dict(zip(which, self._tallies(shape, found.only(which)), strict=True))
            else:
                self._enter_rows(shape, found, which, asked, answers)
        return FirstAnswers([answers[i] for i in range(len(regions))], len(found.rows))

    def digest(self, region: Region, asked: Asked, rows: I64) -> Told:
        """Return the digest of `rows`, projected to what `region` shows. Cost: what projections say."""
        assert isinstance(region.shape, FilterShape)
        return Told.of(*self._projection(_hashed(region.shape, asked.by_keys)).hashes(self._key, rows))

    def _enter_rows(
        self,
        shape: FilterShape,
        found: Found,
        which: Sequence[int],
        asked: Sequence[Asked],
        answers: dict[int, Reply | Parts],
    ) -> None:
        """Write the answers of the regions `which`, all of which show the rows that `shape` shows."""
        sent = [i for i in which if asked[i].told is None and not asked[i].digest_only]
        for by_keys in (False, True):
            shown = _hashed(shape, by_keys)
            summed = [i for i in which if (asked[i].told or asked[i].digest_only) and asked[i].by_keys is by_keys]
            for i, digest in zip(summed, self._digests(shown, found.only(summed)), strict=True):
                if asked[i].told == digest:
                    answers[i] = Same(digest.count, digest.low, digest.high)
                elif asked[i].digest_only:
                    answers[i] = Digest(digest.count, digest.low, digest.high)
                else:
                    sent.append(i)
        answers |= dict(zip(sent, self._sent(shape.shown, found.only(sent)), strict=True))

    def _digests(self, shown: Sequence[str], found: Found) -> list[Told]:
        """Return the digest of what each filter finds, in the columns `shown`."""
        if not len(found):
            return []
        used, place = np.unique(found.rows, return_inverse=True)
        low, high = self._projection(shown).hashes(self._key, used)
        lanes = [found.sums(lane[place]).tolist() for lane in (low, high)]
        return [Told(*each) for each in zip(found.counts.tolist(), *lanes, strict=True)]

    def _sent(self, shown: Sequence[str], found: Found) -> list[Reply]:
        """Return what each filter finds as rows, or why they are not sent."""
        projection = self._projection(shown)
        used, place = np.unique(found.rows, return_inverse=True)
        counts, sizes = found.counts, found.sums(projection.sizes(used)[place])
        small = (counts <= self._quota.rows) & (sizes <= self._quota.bytes)
        replies: dict[int, Reply | None] = dict(enumerate(map(self._quota.why_not, counts.tolist(), sizes.tolist())))
        kept = found if small.all() else found.only(np.flatnonzero(small).tolist())
        used, place = np.unique(kept.rows, return_inverse=True)
        encoded, ends = projection.encoded(used), kept.starts.tolist()
        rows = list(map(encoded.__getitem__, place.tolist()))
        for k, i in enumerate(np.flatnonzero(small).tolist()):
            replies[i] = Rows(tuple(rows[ends[k] : ends[k + 1]]))
        return [reply for _, reply in sorted(replies.items()) if reply is not None]

    def _projection(self, shown: Sequence[str]) -> Projection:
        return Projection(self._relation, self._rows.rows, self._rows.still, shown)

    def _tallies(self, shape: FilterShape, found: Found) -> list[Parts]:
        """Return the parts of the totals over what each filter finds."""
        return list(zip(*(self._tally(channel, found) for channel in channels_of(shape)), strict=True))

    def _tally(self, channel: Channel, found: Found) -> list[Tally]:
        if channel.column is None:
            return [Tally.of(count, 0) for count in found.counts.tolist()]
        column, still = self._relation.index(channel.column), self._rows.still
        codes, there = still.codes[column][found.rows], still.valid[column][found.rows]
        counts = found.sums(there.astype(np.int64)).tolist()
        if channel.kind == "rows":
            return [Tally.of(count, 0) for count in counts]
        type_ = self._relation.columns[column].type
        if type_.coded:
            exact = ExactSums.of(type_, np.where(there, codes, 0))
        else:
            exact = ExactSums.of_texts(type_, codes, there, self._rows.rows, column)
        totals = exact.between(found.starts[:-1], found.starts[1:])
        return [Tally.of(count, total) for count, total in zip(counts, totals, strict=True)]


def _by_list(regions: Sequence[Region]) -> list[tuple[FilterShape, list[int]]]:
    """Part regions by what they show or total, whatever they compare; return a shape and the places of each."""
    shapes = {id(region.shape): region.shape for region in regions}
    lists: dict[tuple[object, ...], tuple[FilterShape, list[int]]] = {}
    of_shape: dict[int, list[int]] = {}
    for name, shape in shapes.items():
        assert isinstance(shape, FilterShape)
        of_shape[name] = lists.setdefault((shape.shown, shape.outputs, shape.keys), (shape, []))[1]
    for i, region in enumerate(regions):
        of_shape[id(region.shape)].append(i)
    return list(lists.values())


def _hashed(shape: FilterShape, by_keys: bool) -> Sequence[str]:
    """Return the columns of rows that digests are over."""
    return [shape.shown[place] for place in shape.keys] if by_keys else shape.shown


def columns_of(shape: FilterShape) -> set[str]:
    """Return the columns of which the shape needs images: those that it shows, compares or sums up."""
    summed = {output.column for output in shape.outputs if output.column is not None}
    return {*shape.shown, *shape.tested, *summed}


def channels_of(shape: FilterShape) -> tuple[Channel, ...]:
    """Return the channels that a range's shape of the same outputs has: a filter's parts are in their order."""
    return Shape(shape.relation, shape.outputs, (), None).channels
