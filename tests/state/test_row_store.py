from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from state import byte_table, row_store, text_rank
from state.change_batch import ChangeBatch
from state.order_code import INT64_MAX, INT64_MIN
from state.row_store import Replay, RowStore
from tests.effort import examples
from tests.oracle.plain_kernels import plain_kernels

COLUMNS, TEXTS = 3, (1,)
Image = tuple[int | str | None, ...]
Change = tuple[bytes, Image | None, tuple[bool, ...], int]


@pytest.fixture
def plain() -> Iterator[None]:
    with plain_kernels(byte_table, row_store, text_rank):
        yield


def batch_of(changes: list[Change]) -> ChangeBatch:
    m = len(changes)
    codes, valid, kept = np.full((COLUMNS, m), 99), np.zeros((COLUMNS, m), np.bool_), np.zeros((COLUMNS, m), np.bool_)
    texts: list[str | None] = [None] * m
    for i, (_, image, keep, _) in enumerate(changes):
        kept[:, i] = keep
        for column, value in enumerate(image or ()):
            valid[column, i] = value is not None
            if isinstance(value, str):
                texts[i] = value
            elif value is not None:
                codes[column, i] = value
    return ChangeBatch(
        [key for key, *_ in changes],
        np.array([image is not None for _, image, *_ in changes], np.bool_),
        codes,
        valid,
        {1: texts},
        np.array([partition for *_, partition in changes], np.int32),
        np.arange(m),
        kept if kept.any() else None,
    )


def image_of(store: RowStore, replay: Replay, version: int) -> Image | None:
    if version < 0:
        return None
    shown = replay.codes[:, version].tolist(), replay.valid[:, version]
    codes = [code if there else None for code, there in zip(*shown, strict=True)]
    return tuple(
        store.text(column, code) if column in TEXTS and code is not None else code for column, code in enumerate(codes)
    )


class Twin:
    """Rows as a dict, one change after the other."""

    def __init__(self) -> None:
        self.rows: dict[bytes, Image] = {}
        self.home: dict[bytes, int] = {}
        self.moved = 0

    def change(self, key: bytes, image: Image | None, keep: tuple[bool, ...], partition: int) -> None:
        old = self.rows.get(key)
        self.moved += old is not None and self.home[key] != partition
        if image is None:
            self.rows.pop(key, None)
            return
        stored = image if old is None else old
        self.home[key] = partition
        self.rows[key] = tuple(s if k else v for s, k, v in zip(stored, keep, image, strict=True))


NUMBERS = st.sampled_from([None, 0, 1, 300, INT64_MIN, INT64_MAX])
IMAGES = st.tuples(NUMBERS, st.sampled_from([None, "", "a", "é", "long text"]), NUMBERS)
KEEP = st.one_of(st.just((False,) * COLUMNS), st.tuples(*[st.booleans()] * COLUMNS))
CHANGES = st.tuples(
    st.sampled_from([b"a", b"b", b"c", b"a longer key", b""]),
    st.one_of(st.none(), IMAGES, IMAGES),
    KEEP,
    st.integers(0, 1),
)


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(CHANGES, max_size=8), max_size=4))
def test_images_before_and_after_are_those_of_a_dict(plain: None, batches: list[list[Change]]) -> None:
    store, twin = RowStore(COLUMNS, TEXTS), Twin()
    for changes in batches:
        replay = store.replay(batch_of(changes))
        for i, change in enumerate(changes):
            before = twin.rows.get(change[0])
            twin.change(*change)
            after = twin.rows.get(change[0])
            assert image_of(store, replay, int(replay.before[i])) == before
            assert image_of(store, replay, int(replay.after[i])) == after
            assert (before == after) == (replay.before[i] == replay.after[i])
        store.commit(replay)
        store.check()
        sections = store.sections()
        store.check()
        store = RowStore.from_sections(COLUMNS, TEXTS, as_stored(sections))
        store.check()
        again = store.sections()
        assert {name: bytes(memoryview(part).cast("B")) if len(part) else b"" for name, part in again.items()} == {
            name: bytes(memoryview(part).cast("B")) if len(part) else b"" for name, part in sections.items()
        }
        still = store.still()
        held = {store.key(row): image_of(store, still, row) for row in range(len(store))}
        assert held == twin.rows
        assert store.moved_partitions == twin.moved


def as_stored(sections: dict[str, bytes | np.ndarray]) -> dict[str, np.ndarray | memoryview]:
    stored: dict[str, np.ndarray | memoryview] = {}
    for name, part in sections.items():
        stored[name] = memoryview(part) if isinstance(part, bytes) else part.copy()
        if isinstance(part, np.ndarray):
            stored[name].flags.writeable = False  # type: ignore[union-attr]
    return stored


def test_the_order_of_rows_is_that_of_first_appearance(plain: None) -> None:
    store, keep = RowStore(COLUMNS, TEXTS), (False,) * COLUMNS
    rows: list[Change] = [(key, (1, "a", 1), keep, 0) for key in (b"1", b"2", b"3", b"4")]
    store.commit(store.replay(batch_of(rows)))
    store.commit(
        store.replay(batch_of([(b"2", None, keep, 0), (b"5", (2, None, 2), keep, 0), (b"1", (7, "b", 7), keep, 0)]))
    )
    assert [store.key(row) for row in range(len(store))] == [b"1", b"3", b"4", b"5"]


def test_unused_texts_are_swept_and_numbers_keep_their_order(plain: None) -> None:
    store, keep = RowStore(COLUMNS, TEXTS), (False,) * COLUMNS
    for text in ("first", "second", "third"):
        changes: list[Change] = [(b"1", (1, text, 1), keep, 0), (b"2", (1, "z", 1), keep, 0)]
        store.commit(store.replay(batch_of([*changes, (b"2", (1, "not for long", 1), keep, 0), changes[1]])))
        store.check()
    assert store.numbers_of(1, ["first", "second", "third", "z", "not for long"]).tolist() == [-1, -1, 1, 0, -1]
    store.commit(store.replay(batch_of([(b"2", (1, "not for long", 1), keep, 0), (b"2", (1, "z", 1), keep, 0)])))
    assert store.numbers_of(1, ["third", "z", "not for long"]).tolist() == [1, 0, -1], "no row has another text"


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(CHANGES, max_size=5), max_size=5), st.integers(0, 4))
def test_ranked_numbers_are_in_the_order_of_the_texts(plain: None, batches: list[list[Change]], since: int) -> None:
    store, twin = RowStore(COLUMNS, TEXTS), Twin()
    for number, changes in enumerate(batches):
        if number == since:
            store.rank({1: False})
        replay = store.replay(batch_of(changes))
        for i, change in enumerate(changes):
            assert image_of(store, replay, int(replay.before[i])) == twin.rows.get(change[0])
            twin.change(*change)
            assert image_of(store, replay, int(replay.after[i])) == twin.rows.get(change[0])
        store.commit(replay)
        store.check()
        still = store.still()
        assert {store.key(row): image_of(store, still, row) for row in range(len(store))} == twin.rows
        if number % 2:
            ranked, sections = store.ranked, as_stored(store.sections())
            store = RowStore.from_sections(COLUMNS, TEXTS, sections)
            store.ranked = ranked


def test_a_new_text_renumbers_rows_that_the_batch_leaves_alone(plain: None) -> None:
    store, keep = RowStore(COLUMNS, TEXTS), (False,) * COLUMNS
    rows: list[Change] = [(b"1", (1, "c", 1), keep, 0), (b"2", (1, "b", 1), keep, 0), (b"3", (1, "b", 1), keep, 0)]
    store.commit(store.replay(batch_of(rows)))
    assert store.rank({1: False}) == {1}
    assert store.rank({1: False}) == set()
    assert store.still().codes[1].tolist() == [1, 0, 0]
    store.commit(store.replay(batch_of([(b"2", (1, "a", 1), keep, 0)])))
    assert store.still().codes[1].tolist() == [2, 0, 1]
    assert store.texts_of(1, np.array([2, 0, 2])) == ["c", "a", "c"]
    assert store.places_of(1, [b"", b"a", b"b", b"z"], [False, True, False, False]).tolist() == [0, 1, 1, 3]


def test_columns_that_came_later_are_null(plain: None) -> None:
    store, keep = RowStore(COLUMNS, TEXTS), (False,) * COLUMNS
    store.commit(store.replay(batch_of([(b"1", (1, "a", 1), keep, 0)])))
    wider = RowStore.from_sections(5, (1, 4), as_stored(store.sections()))
    wider.check()
    assert wider.still().valid[:, 0].tolist() == [True, True, True, False, False]


def test_ten_thousand_changes_compiled() -> None:
    rng = np.random.default_rng(3)
    store, twin, keep = RowStore(COLUMNS, TEXTS), Twin(), (False,) * COLUMNS
    changes: list[Change] = []
    for key, x, what in rng.integers(0, [800, 50, 10], (10_000, 3)).tolist():
        changes.append((b"%d" % key, None if what == 0 else (x, f"t{x}", what), keep, 0))
    store.commit(store.replay(batch_of(changes)))
    store.check()
    for change in changes:
        twin.change(*change)
    still = store.still()
    assert {store.key(row): image_of(store, still, row) for row in range(len(store))} == twin.rows
