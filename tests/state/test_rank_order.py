"""RankOrder against sorting: every version has its place, and the permutation is what sorting gives."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cmp_to_key

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from state import byte_table, rank_order, row_store
from state.change_batch import ChangeBatch
from state.order_code import INT64_MAX, INT64_MIN
from state.rank_order import RankKey, RankOrder
from state.row_store import Replay, RowStore
from tests.effort import examples
from tests.oracle.plain_kernels import plain_kernels
from tests.state.test_ordering import CALM, Change

ID = 2
KEYS: list[RankKey] = [
    ((ID, False, False),),
    ((0, False, False), (ID, True, False)),
    ((0, True, True), (ID, False, True)),
    ((1, False, True), (0, True, False), (ID, False, False)),
]
VALUES = st.sampled_from([None, INT64_MIN, INT64_MAX, 0, -5])
CHANGES = st.tuples(st.integers(0, 8), st.one_of(st.none(), st.tuples(VALUES, VALUES)))


@pytest.fixture
def plain() -> Iterator[None]:
    with plain_kernels(byte_table, row_store, rank_order):
        yield


def batch_of(changes: list[Change]) -> ChangeBatch:
    """Return changes of rows whose third column is their key."""
    m = len(changes)
    codes, valid = np.zeros((3, m), np.int64), np.zeros((3, m), np.bool_)
    for i, (key, image) in enumerate(changes):
        for column, value in enumerate(() if image is None else (*image, key)):
            codes[column, i], valid[column, i] = value or 0, value is not None
    live = np.array([image is not None for _, image in changes], np.bool_)
    return ChangeBatch([b"%d" % key for key, _ in changes], live, codes, valid, {}, np.zeros(m, np.int32), np.arange(m))


def before(replay: Replay, key: RankKey, one: int, other: int) -> int:
    """Compare two versions by the meaning of ORDER BY; of equal ones the later is first."""
    for column, descending, nulls_first in key:
        a, b = (replay.codes[column][v] if replay.valid[column][v] else None for v in (one, other))
        if a == b:
            continue
        if a is None or b is None:
            return -1 if (a is None) == nulls_first else 1
        return -1 if (a < b) != descending else 1
    return other - one


@CALM
@given(st.lists(st.lists(CHANGES, max_size=9), max_size=4), st.sampled_from(KEYS))
def test_merging_gives_what_sorting_gives(plain: None, batches: list[list[Change]], key: RankKey) -> None:
    store = RowStore(3)
    kept = RankOrder.of(key, store.still())
    for changes in batches:
        replay = store.replay(batch_of(changes))
        ranks = kept.ranks(replay)
        made = replay.rows + np.arange(len(changes))
        versions = [*range(replay.rows), *made[replay.after == made].tolist()]
        truth = sorted(versions, key=cmp_to_key(lambda one, other, replay=replay: before(replay, key, one, other)))
        assert ranks.version.tolist() == truth
        assert ranks.rank[ranks.version].tolist() == list(range(len(truth)))
        assert (np.delete(ranks.rank, ranks.version) == -1).all()
        kept.commit(ranks, replay)
        store.commit(replay)
        kept.check(store.still())


@pytest.mark.parametrize("seed", range(2))
def test_compiled(seed: int) -> None:
    rng = np.random.default_rng(seed)
    store = RowStore(3)
    orders = [RankOrder.of(key, store.still()) for key in KEYS]
    for _ in range(examples(20)):
        drawn = rng.integers(0, [40, 4, 4], (60, 3)).tolist()
        changes = [(key, (x or None, y) if y < 3 else None) for key, x, y in drawn]
        replay = store.replay(batch_of(changes))
        for order in orders:
            order.commit(order.ranks(replay), replay)
        store.commit(replay)
        for order in orders:
            order.check(store.still())
