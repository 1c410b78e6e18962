"""Regions on both sides in a space of 50 dimensions: the workload that subject spaces were measured with.

    python -m benchmarks --only subject

After Leung and Jacobsen (Figures 11 to 14): a publication is a region with constraints in 20 of 50 dimensions, one that is
updated in 25, a subscription is a region with constraints in 2; values are 0 to 99. Publications and subscriptions are
both stored, 10 to 100,000 of each. A dimension is a range column, which is two columns of codes, and a dimension without a
constraint is everything, as `'null.range'='everything'` has it; so more than a third of all subscriptions meet a
publication in both of their dimensions by nobody's constraining it, and the figures are dear for that.

Their processor was of 900 MHz, so what is over their time says less than what is over one another here. All figures are
the least processor time of several runs in turns; what is matched is the index of filters (`state/filter_index.py`) over
the codes of regions, and what is stored are rows (`state/row_store.py`).

`subject_ms_100k`          a publication among 100,000 subscriptions: one that comes (`insert`), one whose constraints all
                           get other values (`random`), or values that are one higher or lower (`step`); `..._matches`: whom
                           they are about
`subject_over_paper`       how many times as long theirs took for an insert, 776 ms
`subject_step_over_random` `step` over `random`
`subject_insert_fit`       cost of an insert against its matches, over publications with 0 to 50 constraints: `r2`, how
                           straight the line is; `ns_a_match` its slope, `us_without` where it begins
`subject_stored`           an update of a publication at the shard (found, compared, stored, its images) and matched, with
                           so many publications stored, in batches of 2,000: ms; `over`: with the most over with the fewest
`subject_insert_ms`        an insert, with so many subscriptions
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from catalog.schema.relation import Column, Relation
from catalog.types.column_type import ColumnType, Kind
from operators.batch_view import BatchView
from operators.row_images import find
from state.change_batch import I64, ChangeBatch
from state.filter_columns import FilterColumns
from state.filter_index import FilterIndex, Hits, warm
from state.order_code import INT64_MAX, INT64_MIN
from state.row_store import RowStore

DIMENSIONS, VALUES, WIDEST = 50, 100, 10
INSERTED, UPDATED, ASKED = 20, 25, 2
"""Constraints of a publication that comes, of one that is updated, and of a subscription."""
PUBLICATIONS, SAMPLE, STORED_BATCH, RUNS = 40, 4_096, 2_000, 7
THEIR_INSERT_MS = 776.0
EVERYTHING = (INT64_MIN + 1, INT64_MAX - 1)


class Subscriptions(NamedTuple):
    """n regions, int64[n, 2]: two dimensions each, and the least and greatest value that is asked for in it."""

    dimension: I64
    least: I64
    most: I64


def measure(crowd: int = 100_000) -> dict[str, Any]:
    """Return all figures; the largest number of publications and of subscriptions is `crowd`."""
    warm()
    source, name = np.random.default_rng(1), f"subject_ms_{crowd // 1000}k"
    index = laid_out(draw_subscriptions(source, crowd), source)
    ms, matches = _changes(source, index)
    stored = _stored(source, index, [crowd // 100, crowd // 10, crowd])
    return {
        name: ms | {f"{change}_matches": found for change, found in matches.items()},
        "subject_over_paper": round(THEIR_INSERT_MS / ms["insert"]),
        "subject_step_over_random": round(ms["step"] / ms["random"], 2),
        "subject_insert_fit": _fit(source, index),
        "subject_stored": stored,
        "subject_insert_ms": _inserts(source, [size for size in (10, 100, 1_000, 10_000) if size < crowd])
        | {str(crowd): ms["insert"]},
    }


def draw_subscriptions(source: np.random.Generator, n: int) -> Subscriptions:
    """Return n subscriptions, with constraints in two dimensions each."""
    dimension = np.argsort(source.random((n, DIMENSIONS)), axis=1)[:, :ASKED]
    ends = np.sort(source.integers(0, VALUES, (n, ASKED, 2)), axis=2)
    return Subscriptions(dimension, ends[:, :, 0], ends[:, :, 1])


def draw_publications(source: np.random.Generator, n: int, constraints: int) -> I64:
    """Return n regions, int64[n, 100]: of each dimension its lower bound, then of each its upper one."""
    lower, upper = np.full((n, DIMENSIONS), EVERYTHING[0]), np.full((n, DIMENSIONS), EVERYTHING[1])
    which = np.argsort(source.random((n, DIMENSIONS)), axis=1)[:, :constraints]
    row = np.arange(n)[:, None]
    lower[row, which], upper[row, which] = _values(source, which.shape)
    return np.concatenate([lower, upper], axis=1)


def with_other_values(source: np.random.Generator, regions: I64) -> I64:
    """Return regions with constraints in the same dimensions, and any other values."""
    lower, upper = regions[:, :DIMENSIONS], regions[:, DIMENSIONS:]
    bounded, (fresh, beyond) = lower > EVERYTHING[0], _values(source, lower.shape)
    return np.concatenate([np.where(bounded, fresh, lower), np.where(bounded, beyond, upper)], axis=1)


def one_step_on(source: np.random.Generator, regions: I64) -> I64:
    """Return regions each constraint of which is one higher or one lower."""
    bounded = regions[:, :DIMENSIONS] > EVERYTHING[0]
    step = np.where(bounded, source.choice([-1, 1], bounded.shape), 0)
    return regions + np.tile(step, 2)


def conditions_of(subscriptions: Subscriptions) -> FilterColumns:
    """Return the subscriptions as filters: `lower <= most AND upper >= least` in each dimension."""
    dimension, least, most = subscriptions
    n, nothing = len(dimension), np.full(dimension.shape, INT64_MIN)
    columns = np.concatenate([dimension, dimension + DIMENSIONS], axis=1)
    lo = np.concatenate([nothing, least], axis=1)
    hi = np.concatenate([most, np.full(dimension.shape, INT64_MAX)], axis=1)
    interest = np.bitwise_or.reduce(np.uint64(1) << (columns & 63).astype(np.uint64), axis=1)
    return FilterColumns.of_intervals(np.arange(n), interest, columns, lo, hi)


def laid_out(subscriptions: Subscriptions, source: np.random.Generator) -> FilterIndex:
    """Return an index of them that has seen publications."""
    index = FilterIndex(2 * DIMENSIONS)
    index.insert_all(conditions_of(subscriptions))
    sample = draw_publications(source, SAMPLE, INSERTED)
    index.relay((sample, np.ones(sample.shape, np.bool_)))
    return index


def matched(index: FilterIndex, old: I64 | None, new: I64) -> Hits:
    """Return whom publications are about that become `new`; without `old` they come."""
    there, valid = np.ones(len(new), np.bool_), np.ones(new.shape, np.bool_)
    had = there if old is not None else np.zeros(len(new), np.bool_)
    return index.match(new if old is None else old, valid, had, new, valid, there)


def least_ms(cases: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """Return the least processor time of each, milliseconds; they take turns."""
    least = dict.fromkeys(cases, np.inf)
    for _ in range(RUNS):
        for name, work in cases.items():
            begin = time.thread_time()
            work()
            least[name] = min(least[name], (time.thread_time() - begin) * 1e3)
    return least


def _values(source: np.random.Generator, shape: tuple[int, ...]) -> tuple[I64, I64]:
    lower = source.integers(0, VALUES, shape)
    return lower, np.minimum(lower + source.integers(0, WIDEST, shape), VALUES - 1)


def _changes(source: np.random.Generator, index: FilterIndex) -> tuple[dict[str, float], dict[str, int]]:
    """Return what a change costs, by what it is, and how many subscriptions it is about."""
    fresh, old = (draw_publications(source, PUBLICATIONS, many) for many in (INSERTED, UPDATED))
    images: dict[str, tuple[I64 | None, I64]] = {
        "insert": (None, fresh),
        "random": (old, with_other_values(source, old)),
        "step": (old, one_step_on(source, old)),
    }
    cases = {name: lambda pair=pair: matched(index, *pair) for name, pair in images.items()}
    matches = {name: len(matched(index, *pair).slot) // PUBLICATIONS for name, pair in images.items()}
    return {name: round(ms / PUBLICATIONS, 4) for name, ms in least_ms(cases).items()}, matches


def _fit(source: np.random.Generator, index: FilterIndex) -> dict[str, float]:
    """Return the straight line through the costs of inserts over their matches, and how well it fits."""
    drawn = {str(many): draw_publications(source, PUBLICATIONS, many) for many in range(0, DIMENSIONS + 1, 5)}
    matches = np.array([len(matched(index, None, new).slot) / PUBLICATIONS for new in drawn.values()])
    cases = {name: lambda new=new: matched(index, None, new) for name, new in drawn.items()}
    us = np.array(list(least_ms(cases).values())) / PUBLICATIONS * 1e3
    slope, begin = np.polyfit(matches, us, 1)
    return {
        "r2": round(float(np.corrcoef(matches, us)[0, 1]) ** 2, 4),
        "ns_a_match": round(slope * 1e3, 2),
        "us_without": round(begin, 1),
    }


def _stored(source: np.random.Generator, index: FilterIndex, sizes: list[int]) -> dict[str, float]:
    """Return what an update costs with so many publications stored, milliseconds."""
    shards = {str(size): Shard(source, size) for size in sizes}
    old = draw_publications(source, PUBLICATIONS, UPDATED)
    new = with_other_values(source, old)
    cases: dict[str, Callable[[], object]] = {name: shard.update for name, shard in shards.items()}
    ms = least_ms(cases | {"match": lambda: matched(index, old, new)})
    match = ms.pop("match") / PUBLICATIONS
    whole = {name: round(match + cost / STORED_BATCH, 4) for name, cost in ms.items()}
    few, many = whole[str(sizes[0])], whole[str(sizes[-1])]
    return whole | {"over": round(many / few, 3)}


def _inserts(source: np.random.Generator, sizes: list[int]) -> dict[str, float]:
    fresh = draw_publications(source, PUBLICATIONS, INSERTED)
    indexes = {str(size): laid_out(draw_subscriptions(source, size), source) for size in sizes}
    cases = {name: lambda index=index: matched(index, None, fresh) for name, index in indexes.items()}
    return {name: round(ms / PUBLICATIONS, 4) for name, ms in least_ms(cases).items()}


class Shard:
    """Stored publications, and a batch of updates of some of them."""

    def __init__(self, source: np.random.Generator, size: int) -> None:
        big = ColumnType(Kind.BIGINT)
        self._names = [f"d{i}" for i in range(2 * DIMENSIONS)]
        columns = [Column("id", big, False), *(Column(name, big) for name in self._names)]
        self._relation = Relation("publication", tuple(columns), ("id",), "publication")
        self._rows = RowStore(len(columns))
        regions = draw_publications(source, size, UPDATED)
        self._rows.commit(self._rows.replay(_batch(np.arange(size), regions)))
        which = source.integers(0, size, STORED_BATCH)
        self._turns = [_batch(which, draw(source, regions[which])) for draw in (with_other_values, one_step_on)]

    def update(self) -> None:
        """Take a batch of updates: each turn other values."""
        self._turns.reverse()
        replay = self._rows.replay(self._turns[0])
        find(BatchView(self._relation, self._rows, {}, replay), self._names)
        self._rows.commit(replay)


def _batch(keys: I64, regions: I64) -> ChangeBatch:
    nothing, codes = np.zeros(len(keys), np.int32), np.concatenate([keys[:, None], regions], axis=1).T.copy()
    valid, there = np.ones(codes.shape, np.bool_), np.ones(len(keys), np.bool_)
    return ChangeBatch([b"%d" % key for key in keys.tolist()], there, codes, valid, {}, nothing, np.arange(len(keys)))


if __name__ == "__main__":
    print(json.dumps(measure(), indent=2))
