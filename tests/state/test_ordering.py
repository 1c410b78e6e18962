from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from state import byte_table, ordering, row_store
from state.change_batch import ChangeBatch
from state.order_code import INT64_MAX, INT64_MIN
from state.ordering import Ordering
from state.row_store import RowStore
from tests.effort import examples
from tests.oracle.plain_kernels import plain_kernels

KEYS = [((), None), ((), 2), ((0,), None), ((0,), 2), ((0, 1), 2), ((1, 0), None)]
Change = tuple[int, tuple[int | None, ...] | None]


@pytest.fixture
def plain() -> Iterator[None]:
    with plain_kernels(byte_table, row_store, ordering):
        yield


def batch_of(changes: list[Change]) -> ChangeBatch:
    m = len(changes)
    codes, valid = np.zeros((3, m), np.int64), np.zeros((3, m), np.bool_)
    for i, (_, image) in enumerate(changes):
        for column, value in enumerate(image or ()):
            codes[column, i], valid[column, i] = value or 0, value is not None
    live = np.array([image is not None for _, image in changes], np.bool_)
    return ChangeBatch([b"%d" % key for key, _ in changes], live, codes, valid, {}, np.zeros(m, np.int32), np.arange(m))


VALUES = st.sampled_from([None, 0, 1, 2, -5])
CHANGES = st.tuples(st.integers(0, 8), st.one_of(st.none(), st.tuples(VALUES, VALUES, VALUES)))
CALM = settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@CALM
@given(st.lists(st.lists(CHANGES, max_size=9), max_size=4), st.sampled_from(KEYS))
def test_merging_gives_what_sorting_gives(
    plain: None, batches: list[list[Change]], key: tuple[tuple[int, ...], int | None]
) -> None:
    store = RowStore(3)
    kept = Ordering.of(*key, store.still())
    for changes in batches:
        replay = store.replay(batch_of(changes))
        layout = kept.layout(replay)
        columns = [*key[0], *([] if key[1] is None else [key[1]])]
        for version in np.unique([*replay.before[replay.before >= 0], *replay.after[replay.after >= 0]]).tolist():
            slot = int(layout.slot[version])
            assert (slot >= 0) == bool(replay.valid[columns, version].all())
            if slot >= 0:
                made = int(layout.version[slot])
                assert replay.codes[columns, version].tolist() == replay.codes[columns, made].tolist()
                assert layout.starts[layout.group[slot]] <= slot < layout.starts[layout.group[slot] + 1]
        follower = Ordering(*key, kept.rows)
        follower.follow(replay)
        store.commit(replay)
        kept.commit(layout, replay)
        kept.check(store.still())
        assert np.array_equal(kept.rows, Ordering.of(*key, store.still()).rows)
        assert np.array_equal(kept.rows, follower.rows) and follower.rows.dtype == np.int32


def test_a_change_in_place_keeps_its_slot_and_a_move_gets_its_own(plain: None) -> None:
    store = RowStore(3)
    store.commit(store.replay(batch_of([(1, (0, 0, 10)), (2, (0, 0, 20)), (3, (0, None, 30))])))
    kept = Ordering.of((0,), 2, store.still())
    replay = store.replay(batch_of([(1, (0, 7, 10)), (1, (0, 7, 25)), (1, (0, 7, 10)), (3, None)]))
    layout = kept.layout(replay)
    slots = [layout.slot[version] for version in (*replay.before[:1], *replay.after[:3])]
    assert layout.fresh == 2
    assert slots[0] == slots[1]
    assert len(set(slots[1:])) == 3
    assert layout.x.tolist() == [10, 10, 20, 25, 30]


@CALM
@given(st.sets(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), max_size=30))
def test_seek_finds_each_group_and_no_other(plain: None, groups: set[tuple[int, int]]) -> None:
    store = RowStore(3)
    rows: list[Change] = [(i, (a, b, i)) for i, (a, b) in enumerate([*groups, *groups])]
    store.commit(store.replay(batch_of(rows)))
    kept, still = Ordering.of((0, 1), 2, store.still()), store.still()
    layout = kept.layout(still)
    wanted = [(a, b) for a in range(-4, 5) for b in range(-4, 5)]
    found = kept.seek(layout, still, wanted).tolist()
    numbers = {group: i for i, group in enumerate(sorted(groups))}
    assert found == [numbers.get(group, -1) for group in wanted]


@CALM
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(-3, 3)), max_size=20))
def test_bundles_are_runs_of_groups_and_spans_are_runs_of_slots(plain: None, rows: list[tuple[int, int, int]]) -> None:
    store = RowStore(3)
    store.commit(store.replay(batch_of(list(enumerate(rows)))))
    kept, still = Ordering.of((0, 1), 2, store.still()), store.still()
    layout = kept.layout(still)
    groups = sorted({row[:2] for row in rows})
    for width in range(3):
        firsts = kept.bundles(layout, still, width)
        heads = [group[:width] for group in groups]
        wanted = sorted(set(heads))
        assert firsts.tolist() == [heads.index(head) for head in wanted] + [len(groups)]
        found = kept.seek(layout, still, [*wanted, (9,) * width] if width else wanted, firsts)
        assert found.tolist() == [*range(len(wanted)), *([-1] if width else [])]
    bounds = [INT64_MIN, *range(-4, 5), INT64_MAX]
    asked = [(g, lo, hi) for g in range(-1, len(groups)) for lo in bounds for hi in bounds]
    first, stop = layout.spans(*np.array(asked, np.int64).T.copy())
    for (g, lo, hi), begin, end in zip(asked, first.tolist(), stop.tolist(), strict=True):
        inside = (layout.group == g) & (layout.x >= lo) & (layout.x <= hi)
        assert np.flatnonzero(inside).tolist() == list(range(begin, end)) if inside.any() else begin == end


@CALM
@given(
    st.lists(st.tuples(st.integers(0, 4), st.just(0), st.sampled_from([INT64_MIN, -1, 0, 2, INT64_MAX])), max_size=12),
    st.lists(st.tuples(*[st.integers(0, 5)] * 2, *[st.sampled_from([INT64_MIN, -1, 0, 1, 2, INT64_MAX])] * 2)),
)
def test_groups_that_are_present_in_a_range(
    plain: None, rows: list[tuple[int, int, int]], asked: list[tuple[int, int, int, int]]
) -> None:
    store = RowStore(3)
    store.commit(store.replay(batch_of(list(enumerate(rows)))))
    layout = Ordering.of((0,), 2, store.still()).layout(store.still())
    numbers = sorted({group for group, _, _ in rows})
    held = [{x for group, _, x in rows if group == number} for number in numbers]
    asked = [(min(first, len(held)), min(stop, len(held)), lo, hi) for first, stop, lo, hi in asked]
    count, groups = layout.present(*np.array(asked, np.int64).reshape(-1, 4).T.copy())
    expected = [
        [group for group in range(first, stop) if any(lo <= x <= hi for x in held[group])]
        for first, stop, lo, hi in asked
    ]
    assert count.tolist() == [len(each) for each in expected]
    assert groups.tolist() == [group for each in expected for group in each]
