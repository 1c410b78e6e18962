"""First answers of filters of a join: the joined rows that meet their terms now, as replies (`first_rows.py`).

What many regions ask is found together: rows that none of them may hold go, then rows without partners; the joined
rows of what is left are made once, and searched as the rows of a table are. Where these are too many for so few regions
(a key that thousands of rows have, narrow questions), regions are divided, and with them the rows:

    regions   |--|  |---|       |-|   |--|         4 regions, 9,000 joined rows in their hull
                       |                           by the column that they are narrowest in
    2 and 2   |--|  |---|   |   |-|   |--|         300 joined rows, and 500

One region alone has its rows by its own conditions, so that its joined rows are counted before any is made: what is
beyond the quota is refused with that count, and digests are summed up in parts. Never are more than `at_once` joined
rows in memory; a region for whose digest more than `MOST_SUMMED` would be walked is refused.

Cost: 5 ns a row of the tables at each division; 1 to 5 us a joined row made for many regions, and what first rows cost.
A region alone 5 ns a row of the tables, and 0.5 ms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from catalog.query.shape import Region
from catalog.schema.join import Join
from catalog.schema.relation import Relation
from operators.answer import Parts
from operators.answer_quota import QUOTA, AnswerQuota
from operators.coded_terms import CodedRows
from operators.first_rows import FirstAnswers, FirstRows
from operators.join_rows import AT_ONCE, JoinRows
from operators.joined_rows import JoinedRows
from operators.region_hulls import ColumnPlaces, Hull, intervals_of
from operators.reply import Asked, Digest, Reply, Same
from operators.row_search import scan, search
from state.change_batch import I64
from state.filter_columns import CodedBox
from state.row_digest import Digest as Told

MOST_SUMMED = 10_000_000
_ALONE = 8
"""So many regions are answered one by one: to lay out what they ask takes longer."""
_MANY = 500
"""From so many regions on they are found by an index."""
_JOINED_A_REGION, _FEW_JOINED = 300, 5_000
_NARROWER = 0.9
"""Regions that are wider than this part of what they hold together are not narrowed by a division."""
_FEW = 16
_HITS_AT_ONCE = 1_000_000
_MOST_REGIONS = 50_000
_ROWS_A_WORK = 64


class FirstJoinedRows:
    """Answers filters of the join `relation` over the rows of `tables`, by name, as they are.

    `key`: the 16 bytes under which rows are hashed.
    """

    def __init__(
        self,
        relation: Relation,
        join: Join,
        tables: Mapping[str, CodedRows],
        joined: JoinRows,
        key: bytes,
        quota: AnswerQuota = QUOTA,
        at_once: int = AT_ONCE,
    ) -> None:
        self._relation = relation
        self._join = join
        self._tables = tables
        self._joined = joined
        self._key = key
        self._quota = quota
        self._at_once = max(at_once, quota.rows + 1)
        self._looked_at = 0
        self._none = self._view([np.zeros(0, np.int64)] * joined.positions)
        self._places: dict[int, ColumnPlaces] = {}

    @property
    def work(self) -> int:
        """How many rows were made, and one for every `_ROWS_A_WORK` rows that were looked at."""
        return self._joined.made + self._looked_at // _ROWS_A_WORK

    def answers(self, regions: Sequence[Region], asked: Sequence[Asked]) -> FirstAnswers:
        """Return the answer of each region; what several ask alike is looked for once.

        Cost: see the module's header. Raises ValueError for unsound terms.
        """
        places: dict[tuple[int, bytes, bool, Asked], int] = {}
        alike = [
            places.setdefault((id(region.shape), region.terms, region.empty, how), len(places))
            for region, how in zip(regions, asked, strict=True)
        ]
        first = np.unique(alike, return_index=True)[1].tolist()
        task = _Task([regions[i] for i in first], [asked[i] for i in first])
        self._answer(task)
        return FirstAnswers([task.answers[i] for i in alike], task.hits)

    def _answer(self, task: _Task) -> None:
        if len(task.regions) <= _ALONE:
            for i in range(len(task.regions)):
                self._alone(task, i)
            return
        task.hulls = self._hulls(task.regions)
        rows = [np.arange(len(self._tables[table])) for table in self._join.tables]
        self._divide(task, np.arange(len(task.regions)), rows)

    def _hulls(self, regions: Sequence[Region]) -> dict[int, Hull]:
        """Return by column of the join what each region asks of it."""
        hulls = {}
        for column, (lo, hi, null) in intervals_of(self._none, regions).items():
            if column not in self._places:
                table, number, _ = self._none.side(column)
                self._places[column] = ColumnPlaces(table, number)
            hulls[column] = Hull(self._places[column], *self._places[column].between(lo, hi), null)
        return hulls

    def _divide(self, task: _Task, which: I64, rows: Sequence[I64]) -> None:
        """Answer the regions `which`, of which no more than `rows` may meet any."""
        self._looked_at += sum(map(len, rows))
        hulls = {column: hull.take(which) for column, hull in task.hulls.items()}
        left = self._joined.reduced(self._held(hulls, rows))
        count = self._joined.count(left)
        if len(which) == 1:
            self._alone(task, int(which[0]))
            return
        narrow = min(hulls, key=lambda column: hulls[column].narrowness, default=None)
        narrows = narrow is not None and hulls[narrow].narrowness < _NARROWER
        few = count <= _JOINED_A_REGION * len(which) + _FEW_JOINED
        if count <= self._at_once and (few or not narrows):
            self._together(task, which, hulls, left)
            return
        middles = which if narrow is None else hulls[narrow].first + hulls[narrow].stop
        order = which[np.argsort(middles, kind="stable")]
        for half in np.array_split(order, 2):
            self._divide(task, half, left)

    def _held(self, hulls: Mapping[int, Hull], rows: Sequence[I64]) -> list[I64]:
        """Return the rows that some region may hold."""
        held = list(rows)
        for column, hull in hulls.items():
            position = self._none.side(column).position
            held[position] = held[position][hull.may_hold(held[position])]
        return held

    def _together(self, task: _Task, which: I64, hulls: Mapping[int, Hull], rows: Sequence[I64]) -> None:
        """Answer regions by one list of all joined rows, a few at a time, those first that may hold most."""
        first_rows = FirstRows(self._view(self._all(rows)), self._key, _MANY, self._quota)
        share = np.ones(len(which))
        for hull in hulls.values():
            share *= (hull.widths + hull.null) / (hull.places.count + 1)
        order = which[np.argsort(-share, kind="stable")].tolist()
        done = hits = 0
        while done < len(order):
            step = _FEW if not done else max(_FEW, _HITS_AT_ONCE * done // max(hits, 1))
            run = order[done : done + min(step, _MOST_REGIONS)]
            found = first_rows.answers([task.regions[i] for i in run], [task.asked[i] for i in run])
            task.answers |= zip(run, found.answers, strict=True)
            done, hits = done + len(run), hits + found.rows
        task.hits += hits

    def _alone(self, task: _Task, i: int) -> None:
        """Answer one region by the rows that meet its own conditions."""
        region, asked = task.regions[i], task.asked[i]
        self._looked_at += sum(len(self._tables[table]) for table in self._join.tables)
        (boxes,) = self._none.boxes([region])
        own = [self._projected(boxes, position) for position in range(self._joined.positions)]
        rows = self._joined.reduced([scan(self._tables[t], its) for t, its in zip(self._join.tables, own, strict=True)])
        count = self._joined.count(rows)
        exact = self._joined.exact and len(boxes) == int(np.prod([len(its) for its in own]))
        summed = asked.digest_only or (asked.told is not None and asked.told.count == count)
        if exact and not summed and count > self._quota.rows:
            task.answers[i] = self._quota.beyond(count)
        elif count > self._at_once:
            task.answers[i] = self._large(region, asked, rows, count if exact else 0)
            task.hits += self._quota.rows
        else:
            found = FirstRows(self._view(self._all(rows)), self._key, _MANY, self._quota).answers([region], [asked])
            task.answers[i], task.hits = found.answers[0], task.hits + found.rows

    def _projected(self, boxes: Sequence[CodedBox], position: int) -> list[CodedBox]:
        """Return what boxes say of the table at a position, each once."""
        found: dict[object, CodedBox] = {}
        for box in boxes:
            mine = [(self._none.side(column), intervals, null) for column, intervals, null in box]
            its = [(side.column, intervals, null) for side, intervals, null in mine if side.position == position]
            found[repr(its)] = its
        return list(found.values())

    def _large(self, region: Region, asked: Asked, rows: Sequence[I64], count: int) -> Reply | Parts:
        """Answer a region of `count` joined rows, 0 where that is not known: more than there may be in memory."""
        if count > MOST_SUMMED:
            return self._quota.beyond(count)
        total, before, kept = Told(), self._joined.made, [[np.zeros(0, np.int64)] * self._joined.positions]
        for part in self._joined.pairs(rows, self._at_once):
            view = self._view(part)
            met = search(view, [region]).rows
            total += FirstRows(view, self._key).digest(region, asked, met)
            if total.count <= self._quota.rows:
                kept.append([each[met] for each in part])
            if self._joined.made - before > MOST_SUMMED:
                return self._quota.beyond(total.count, "more than ")
        if asked.told == total:
            return Same(total.count, total.low, total.high)
        if asked.digest_only:
            return Digest(total.count, total.low, total.high)
        if total.count > self._quota.rows:
            return self._quota.beyond(total.count)
        view = self._view([np.concatenate(each) for each in zip(*kept, strict=True)])
        return FirstRows(view, self._key, quota=self._quota).answers([region], [asked]).answers[0]

    def _all(self, rows: Sequence[I64]) -> list[I64]:
        """Return all joined rows of `rows`, which are few enough."""
        none = [np.zeros(0, np.int64)] * self._joined.positions
        return [np.concatenate(each) for each in zip(none, *self._joined.pairs(rows, self._at_once), strict=True)]

    def _view(self, rows: Sequence[I64]) -> JoinedRows:
        return JoinedRows(self._relation, self._join, self._tables, rows)


class _Task:
    """Regions that are being answered. `hits`: how many joined rows met them."""

    def __init__(self, regions: Sequence[Region], asked: Sequence[Asked]) -> None:
        self.regions = regions
        self.asked = asked
        self.hulls: Mapping[int, Hull] = {}
        self.answers: dict[int, Reply | Parts] = {}
        self.hits = 0
