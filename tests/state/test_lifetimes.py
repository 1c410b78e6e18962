from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from state import byte_table, row_store, text_rank
from state.change_batch import ChangeBatch
from state.lifetimes import NEVER, STORED, Lifetimes
from state.row_store import Replay, RowStore
from tests.effort import examples
from tests.oracle.plain_kernels import plain_kernels

Change = tuple[int, int | None, bool]
"""Key, value (None: a delete), whether it has the cause of the change before it."""

CHANGES = st.lists(st.tuples(st.integers(0, 3), st.none() | st.integers(0, 1), st.booleans()), max_size=8)
TABLES = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 2), st.none() | st.integers(0, 1)), max_size=10)


@pytest.fixture
def plain() -> Iterator[None]:
    with plain_kernels(byte_table, row_store, text_rank):
        yield


def batch_of(changes: list[tuple[int, int | None]], cause: list[int]) -> ChangeBatch:
    m = len(changes)
    return ChangeBatch(
        [b"%d" % key for key, _ in changes],
        np.array([value is not None for _, value in changes], np.bool_),
        np.array([[value or 0 for _, value in changes]], np.int64),
        np.ones((1, m), np.bool_),
        {},
        np.zeros(m, np.int32),
        np.arange(m),
        cause=np.array(cause, np.int32),
    )


def numbered(changes: list[Change]) -> list[int]:
    """The cause of each change, from 0."""
    cause: list[int] = []
    for _, _, joined in changes:
        cause.append(0 if not cause else cause[-1] + (not joined))
    return cause


def moments(replay: Replay, causes: int) -> list[set[int]]:
    """The versions that are there before the first cause and after each one, by walking the changes."""
    there = set(range(replay.rows))
    found = [set(there)]
    for cause in range(causes):
        for i in np.flatnonzero(replay.cause == cause).tolist():
            there.discard(int(replay.before[i]))
            there |= {int(replay.after[i])} - {-1}
        found.append(set(there))
    return found


@settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(CHANGES, max_size=4))
def test_a_version_is_there_as_long_as_a_walk_over_the_changes_finds_it(
    plain: None, batches: list[list[Change]]
) -> None:
    store = RowStore(1)
    for changes in batches:
        cause = numbered(changes)
        replay = store.replay(batch_of([(key, value) for key, value, _ in changes], cause))
        lifetimes = replay.lifetimes()
        lifetimes.check()
        walked = moments(replay, max(cause, default=-1) + 1)
        written = {version for there in walked for version in there} | {
            int(version) for version in replay.after[replay.after != replay.before] if version >= 0
        }
        versions = np.array(sorted(written), np.int64)
        born, died = lifetimes.at(versions)
        for at in range(len(walked) - 1):
            assert set(versions[(born < at) & (at <= died)].tolist()) == walked[at]
            assert set(versions[(born <= at) & (at < died)].tolist()) == walked[at + 1]
        untouched = set(range(replay.rows)) - set(replay.before[replay.after != replay.before].tolist())
        assert set(lifetimes.versions.tolist()) == written - untouched
        assert set(versions[died == NEVER].tolist()) == set(replay.current[replay.current >= 0].tolist())
        store.commit(replay)
        assert not len(store.still().lifetimes().versions)


@settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TABLES, TABLES)
def test_versions_of_two_tables_met_if_the_later_birth_is_before_the_earlier_death(
    plain: None, stored: list[tuple[int, int, int | None]], changes: list[tuple[int, int, int | None]]
) -> None:
    """As a join will use them: causes are numbered over both tables, and a pair is there while both are."""
    replays, walks = [], []
    for table in (0, 1):
        store = RowStore(1)
        base = [(key, value) for which, key, value in stored if which == table]
        store.commit(store.replay(batch_of(base, [*range(len(base))])))
        own = [(cause, key, value) for cause, (which, key, value) in enumerate(changes) if which == table]
        replay = store.replay(batch_of([(key, value) for _, key, value in own], [cause for cause, _, _ in own]))
        replays.append(replay)
        walks.append(moments(replay, len(changes)))
    pairs = {pair for left, right in zip(*walks, strict=True) for pair in product(left, right)}
    versions = [np.arange(replay.codes.shape[1]) for replay in replays]
    known = [{version for there in walk for version in there} for walk in walks]
    (a_born, a_died), (b_born, b_died) = (replay.lifetimes().at(v) for replay, v in zip(replays, versions, strict=True))
    met = np.maximum(a_born[:, None], b_born) < np.minimum(a_died[:, None], b_died)
    assert {(a, b) for a, b in np.argwhere(met).tolist() if a in known[0] and b in known[1]} == pairs


def test_the_example_of_the_header() -> None:
    before, after = np.array([0, 3, 4, -1]), np.array([3, 4, -1, 6])
    lifetimes = Lifetimes.of(3, before, after, np.arange(4, dtype=np.int32))
    assert lifetimes.versions.tolist() == [0, 3, 4, 6]
    assert lifetimes.born.tolist() == [STORED, 0, 1, 3]
    assert lifetimes.died.tolist() == [0, 1, 2, NEVER]
    assert [part.tolist() for part in lifetimes.at(np.array([6, 1, 0]))] == [[3, STORED, STORED], [NEVER, NEVER, 0]]


def test_what_comes_and_goes_in_one_cause_never_was() -> None:
    before, after = np.array([-1, 1, 0]), np.array([1, -1, -1])
    lifetimes = Lifetimes.of(1, before, after, np.array([5, 5, 6], np.int32))
    lifetimes.check()
    assert (lifetimes.born.tolist(), lifetimes.died.tolist()) == ([STORED, 5], [6, 5])
