"""A store and the deltas since are the store of now, to the byte, wherever the store is from."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from state import byte_table, row_store, text_rank
from state.blob import write_blob
from state.row_delta import RowDelta
from state.row_store import Net, RowStore
from tests.effort import examples
from tests.oracle.plain_kernels import plain_kernels
from tests.state.test_row_store import CHANGES, COLUMNS, TEXTS, Change, as_stored, batch_of, image_of

KEEP = (False,) * COLUMNS


@pytest.fixture
def plain() -> Iterator[None]:
    with plain_kernels(byte_table, row_store, text_rank):
        yield


def dumped(store: RowStore) -> bytes:
    return write_blob(b"TWTESTS\x00", 1, "", store.sections())


def stored(delta: RowDelta) -> RowDelta:
    return RowDelta.from_sections(COLUMNS, TEXTS, as_stored(delta.sections()))


@settings(max_examples=examples(80), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(CHANGES, max_size=8), max_size=5), st.integers(0, 5))
def test_base_and_deltas_are_the_store(plain: None, batches: list[list[Change]], ranked_from: int) -> None:
    store, followers = RowStore(COLUMNS, TEXTS), [RowStore(COLUMNS, TEXTS)]
    for number, changes in enumerate(batches):
        if number == ranked_from:
            for each in (store, *followers):
                each.rank({1: False})
        before = {store.key(row): image_of(store, store.still(), row) for row in range(len(store))}
        delta = store.delta(store.commit(store.replay(batch_of(changes))))
        after = {store.key(row): image_of(store, store.still(), row) for row in range(len(store))}
        gone = {delta.gone[i] for i in range(len(delta.gone))}
        assert gone == before.keys() - after.keys()
        assert {key for key in after if before.get(key) != after[key]} <= {
            delta.keys[i] for i in range(len(delta.keys))
        }
        for each in followers:
            each.commit(each.replay_delta(stored(delta)))
            each.check()
            assert dumped(each) == dumped(store)
        ranked, again = store.ranked, RowStore.from_sections(COLUMNS, TEXTS, as_stored(store.sections()))
        again.ranked = ranked
        followers.append(again)


def test_what_comes_and_goes_within_a_batch_is_not_told(plain: None) -> None:
    store = RowStore(COLUMNS, TEXTS)
    old: list[Change] = [(b"1", (1, "a", 1), KEEP, 0), (b"2", (2, "b", 2), KEEP, 0), (b"3", (3, "c", 3), KEEP, 0)]
    store.commit(store.replay(batch_of(old)))
    changes: list[Change] = [
        (b"9", (9, "z", 9), KEEP, 0),
        (b"1", (7, "y", 7), KEEP, 0),
        old[0],
        (b"9", None, KEEP, 0),
        (b"2", None, KEEP, 0),
        (b"3", (3, "x", 3), KEEP, 0),
    ]
    delta = store.delta(store.commit(store.replay(batch_of(changes))))
    assert [delta.gone[i] for i in range(len(delta.gone))] == [b"2"]
    assert [delta.keys[i] for i in range(len(delta.keys))] == [b"1", b"3"], "1 has another version, with the same image"
    assert [delta.texts[1][i] for i in range(len(delta.texts[1]))] == [b"a", b"x"]


def test_texts_stand_by_number_not_by_row(plain: None) -> None:
    store = RowStore(COLUMNS, TEXTS)
    store.commit(store.replay(batch_of([(b"1", (1, None, 1), KEEP, 0), (b"2", (2, None, 2), KEEP, 0)])))
    again = RowStore.from_sections(COLUMNS, TEXTS, as_stored(store.sections()))
    changes: list[Change] = [(b"2", (2, "b", 2), KEEP, 0), (b"1", (1, "a", 1), KEEP, 0)]
    delta = store.delta(store.commit(store.replay(batch_of(changes))))
    assert delta.codes[1].tolist() == [1, 0]
    again.commit(again.replay_delta(delta))
    assert dumped(again) == dumped(store)


def test_another_partition_is_a_change(plain: None) -> None:
    store = RowStore(COLUMNS, TEXTS)
    store.commit(store.replay(batch_of([(b"1", (1, "a", 1), KEEP, 0)])))
    delta = store.delta(store.commit(store.replay(batch_of([(b"1", (1, "a", 1), KEEP, 5)]))))
    assert (delta.home.tolist(), delta.moved) == ([5], 1)
    assert len(store.delta(Net.nothing())) == 0


def test_columns_that_came_later_are_null(plain: None) -> None:
    store = RowStore(COLUMNS, TEXTS)
    delta = store.delta(store.commit(store.replay(batch_of([(b"1", (1, "a", 1), KEEP, 0)]))))
    wider = RowStore(5, (1, 4))
    wider.commit(wider.replay_delta(RowDelta.from_sections(5, (1, 4), as_stored(delta.sections()))))
    wider.check()
    assert wider.still().valid[:, 0].tolist() == [True, True, True, False, False]
    assert np.array_equal(wider.still().codes[:3, 0], store.still().codes[:, 0])
