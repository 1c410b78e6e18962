from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from state import byte_table
from state.byte_table import ByteTable, Strings
from tests.effort import examples
from tests.oracle.plain_kernels import plain_kernels

CALM = settings(max_examples=examples(50), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
VALUES = st.lists(st.one_of(st.binary(max_size=3), st.binary(min_size=7, max_size=18)), max_size=12)


@pytest.fixture
def plain() -> Iterator[None]:
    with plain_kernels(byte_table):
        yield


@CALM
@given(st.lists(VALUES, max_size=4))
def test_numbers_are_those_of_a_dict(plain: None, batches: list[list[bytes]]) -> None:
    table, twin = ByteTable(), dict[bytes, int]()
    for batch in batches:
        unknown = [twin.get(value, -1) for value in batch]
        assert table.look_up(Strings.of(batch)).tolist() == unknown
        expected = [twin.setdefault(value, len(twin)) for value in batch]
        assert table.intern(Strings.of(batch)).tolist() == expected
        table.check()
        assert [table.strings[i] for i in range(len(table))] == list(twin)


@CALM
@given(VALUES, st.data())
def test_keep_drops_and_renumbers_in_order(plain: None, values: list[bytes], data: st.DataObject) -> None:
    table = ByteTable()
    table.intern(Strings.of(values))
    before = [table.strings[i] for i in range(len(table))]
    kept = np.array(data.draw(st.lists(st.booleans(), min_size=len(before), max_size=len(before))), np.bool_)
    new = table.keep(kept)
    table.check()
    assert table.strings.dense
    after = [table.strings[i] for i in range(len(table))]
    assert after == [value for value, keep in zip(before, kept, strict=True) if keep]
    assert all(after[new[i]] == before[i] if kept[i] else new[i] == -1 for i in range(len(before)))


def test_one_hash_is_not_one_key(plain: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(byte_table, "_hash_bytes", lambda data, start, stop: np.uint64(7))
    table = ByteTable()
    values = [b"", b"a", b"b", b"ab", b"ba", b"a", b"abcdefgh", b"abcdefgi"]
    assert table.intern(Strings.of(values)).tolist() == [0, 1, 2, 3, 4, 1, 5, 6]


def test_compiled_agrees_with_a_dict_on_many_keys() -> None:
    rng = np.random.default_rng(1)
    table, twin = ByteTable(), dict[bytes, int]()
    for _ in range(3):
        values = [b'{"id":%d}' % i for i in rng.integers(0, 5000, 4000)]
        assert table.intern(Strings.of(values)).tolist() == [twin.setdefault(value, len(twin)) for value in values]
    table.check()


def test_text_is_utf8() -> None:
    strings = Strings.of(["é", "", "漢字"])
    assert [strings[i].decode() for i in range(3)] == ["é", "", "漢字"]
    assert len(Strings.of([])) == 0
    assert [Strings.of([b"\x00", b""])[i] for i in range(2)] == [b"\x00", b""]


@given(st.lists(st.text("aé漢 ", max_size=3), max_size=6), st.data())
def test_texts_are_those_that_were_laid_out_wherever_they_stand(texts: list[str], data: st.DataObject) -> None:
    strings, which = Strings.of(texts), data.draw(st.permutations(range(len(texts))))
    assert strings.texts == texts
    taken = Strings(strings.data, strings.starts[which], strings.stops[which]) if texts else strings
    assert taken.texts == [texts[i] for i in which]
