"""What a joined row change costs a cell beside the replay: who needs which rows, found, and written for all edges.

    python -m benchmarks.join_shard_cost
    python -m benchmarks --only join_shard

Tables r and s of 50,000 rows with a key to join by, a number, and a text of sixty characters; half of the changes are of
each, 70 % of them new numbers and texts, 10 % each other keys, new rows, deletes. 16 virtual edges want ranges of both
numbers, all over them. Processor times, the least of several batches, in microseconds a change, by fan-out (how many
rows of a table have one key) and changes a batch:

`join_shard_us`        from the replay to the records, written once for the edges that get the same, until the orderings
                       that are kept take the batch over; with a window of `WINDOW` batches, and
                       `join_shard_alone_us` without one
`join_shard_parts_us`  of that by steps
`join_shard_rows`      rows that are sent or named, and `join_shard_bytes` bytes that they take, a change and virtual edge
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import box_of_intervals
from catalog.query.shape import Region
from catalog.schema.catalog import Catalog
from catalog.schema.cell import Cell
from catalog.schema.join import Join, relation_of_join
from catalog.schema.relation import Column, Relation
from catalog.types.column_type import ColumnType, Kind
from operators.batch_view import BatchView
from operators.cell_view import CellView
from operators.join_interest import JoinInterests
from operators.packed import Header
from operators.row_window import RowWindow, WindowBounds
from operators.semijoin_closure import send
from operators.timeline import Timeline
from operators.wire.timeline import pack, split
from state.change_batch import I64, ChangeBatch
from state.ordering import Ordering
from state.row_store import RowStore

ROWS = 50_000
FAN_OUTS = (1, 5, 20)
BATCHES = (1_000, 20_000)
RUNS = 7
EDGES = 16
REGIONS = 200
TOP = 1_000_000
WINDOW = 64
SHARES = (0.7, 0.1, 0.1, 0.1)
"""Of changes: new values, another key, a new row, a delete."""
_NAMES = ("id", "k", "a", "p", "note")
_TYPES = (Kind.BIGINT, Kind.BIGINT, Kind.BIGINT, Kind.BIGINT, Kind.VARCHAR)
_ID, _K, _A, _P, _NOTE = range(5)


def measure(rows: int = ROWS, batches: tuple[int, ...] = BATCHES, runs: int = RUNS) -> dict[str, Any]:
    """Return all costs, by changes a batch and fan-out."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for count in batches:
        for fan_out in FAN_OUTS:
            for name, figure in _measured(rows, count, fan_out, runs).items():
                found.setdefault(name, {}).setdefault(str(count), {})[str(fan_out)] = figure
    return found


def _measured(rows: int, count: int, fan_out: int, runs: int) -> dict[str, Any]:
    case, alone = Case(rows, fan_out, WINDOW), Case(rows, fan_out, 0)
    both = [(case.batch(count), alone.batch(count)) for _ in range(runs + 1)][1:]
    turns, without = zip(*both, strict=True)
    least = {step: min(turn[step] for turn in turns) / count * 1e6 for step in Case.STEPS}
    return {
        "join_shard_us": round(_whole(turns, count), 2),
        "join_shard_alone_us": round(_whole(without, count), 2),
        "join_shard_parts_us": {step: round(figure, 2) for step, figure in least.items()},
        "join_shard_rows": round(case.sent_rows / count, 2),
        "join_shard_bytes": round(case.sent_bytes / count, 1),
        "join_shard_alone_bytes": round(alone.sent_bytes / count, 1),
    }


def _whole(turns: Sequence[dict[str, float]], count: int) -> float:
    return min(sum(turn[step] for step in Case.STEPS) for turn in turns) / count * 1e6


class Case:
    """Two copies, and the interests of virtual edges; `sent_rows` and `sent_bytes` are an edge's of the last batch."""

    STEPS = ("send", "write", "orderings", "window")

    def __init__(self, rows: int, fan_out: int, window: int = 0) -> None:
        self._bounds, self._batch = WindowBounds(window, 10**9), 0
        self._window = RowWindow.load(RowWindow().dump(self._bounds))
        self._rng = np.random.default_rng(3)
        self._rows, self._keys, self._fresh = rows, max(rows // fan_out, 1), rows
        columns = tuple(Column(name, ColumnType(kind), name != "id") for name, kind in zip(_NAMES, _TYPES, strict=True))
        self._relations = [Relation(name, columns, ("id",), name) for name in ("r", "s")]
        self._stores = [RowStore(len(_NAMES), (_NOTE,)) for _ in self._relations]
        for store in self._stores:
            store.commit(store.replay(self._changes(np.arange(rows), np.zeros(rows, np.int64))))
        self._interests = self._asked()
        self._orders = [
            {key: Ordering.of(*key, store.still()) for key in self._interests.orderings(relation.name, relation)}
            for store, relation in zip(self._stores, self._relations, strict=True)
        ]
        self.sent_rows = self.sent_bytes = 0

    def batch(self, count: int) -> dict[str, float]:
        """Run a batch; return the seconds of each step."""
        half = count // 2
        kinds = [self._rng.choice(4, half, p=SHARES) for _ in self._stores]
        rows = [self._rng.integers(0, self._rows, half) for _ in self._stores]
        for row, kind in zip(rows, kinds, strict=True):
            row[kind == 2] = self._fresh + np.arange(np.count_nonzero(kind == 2))
        self._fresh += half
        batches = [self._changes(row, kind) for row, kind in zip(rows, kinds, strict=True)]
        views = [
            BatchView(relation, store, orders, store.replay(changes))
            for relation, store, orders, changes in zip(
                self._relations, self._stores, self._orders, batches, strict=True
            )
        ]
        places = [2 * np.arange(half) + i for i in range(2)]
        view = CellView.of(("r", "s"), views, batches, places)
        sent: list[tuple[Timeline, list[int]]] = []
        seconds = {"send": _seconds(lambda: sent.extend(self._send(view)))}
        seconds["write"] = _seconds(lambda: self._write(sent))
        seconds["orderings"] = _seconds(lambda: _take_over(view))
        seconds["window"] = _seconds(self._reopen)
        for store, each in zip(self._stores, views, strict=True):
            store.commit(each.replay)
        return seconds

    def _send(self, view: CellView) -> list[tuple[Timeline, list[int]]]:
        self._batch += 1
        self._window.begin(0, self._batch, EDGES)
        self._window.tell({table: self._interests.told(table) for table in view.tables})
        return send(view, self._interests, EDGES, 0, self._window)

    def _reopen(self) -> None:
        """Write what edges have, and read it as the next batch does."""
        self._window = RowWindow.load(self._window.dump(self._bounds))

    def _write(self, sent: list[tuple[Timeline, list[int]]]) -> None:
        header = Header("", 0, "cell/r+s/0", self._batch, window=self._window.window)
        self.sent_rows = self.sent_bytes = 0
        for timeline, who in sent:
            size = sum(len(pack(header, part)) for part in split(timeline))
            self.sent_rows += sum(map(len, timeline.rows + timeline.named)) * len(who) // EDGES
            self.sent_bytes += size * len(who) // EDGES

    def _changes(self, row: I64, kind: I64) -> ChangeBatch:
        count = len(row)
        codes = np.zeros((len(_NAMES), count), np.int64)
        codes[_ID], codes[_A] = row, self._rng.integers(0, TOP, count)
        codes[_K], codes[_P] = (row * 7_919) % self._keys, self._rng.integers(0, 1_000, count)
        codes[_K][kind == 1] = self._rng.integers(0, self._keys, np.count_nonzero(kind == 1))
        notes = [f"payload of row {r} that is sixty characters long, more or less" for r in row.tolist()]
        keys = [b"%d" % r for r in row.tolist()]
        valid = np.ones((len(_NAMES), count), np.bool_)
        return ChangeBatch(
            keys, kind != 3, codes, valid, {_NOTE: notes}, np.zeros(count, np.int32), np.arange(count)
        )  # fmt: skip

    def _asked(self) -> JoinInterests:
        """Return the interests of filters `r.a BETWEEN ... AND s.a BETWEEN ...` that show all columns."""
        join, _ = Join.of(["r", "s"], [((0, "k"), (1, "k"))])
        catalog = Catalog(0, {relation.name: relation for relation in self._relations})
        relation = relation_of_join(join, Cell(("r", "s"), 0), catalog.relations.__getitem__)
        shown = tuple(column.name for column in relation.columns)
        shape, interests = FilterShape(join.name, shown, (), ("0.a", "1.a"), (), ()), JoinInterests()
        for ve in range(EDGES):
            los = self._rng.integers(0, TOP, (REGIONS, 2)).tolist()
            terms = [box_of_intervals((i, lo, lo + TOP // 20) for i, lo in enumerate(pair)) for pair in los]
            interests.widen(ve, [Region(shape, b"[]", terms=each) for each in terms], relation)
        return interests


def _take_over(view: CellView) -> None:
    """Let the orderings take the batch over, as a table does."""
    for each in view.views:
        for order in each.orderings.values():
            order.follow(each.replay)


def _seconds(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


if __name__ == "__main__":
    print(json.dumps(measure(), indent=2))
