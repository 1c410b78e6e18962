"""Held-back records against a plain list, and what is noted of them against what it is to add up to."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.subscriptions.held_records import Held, HeldRecords
from tests.effort import examples

keys = st.sampled_from([b"a", b"b", b"c"])
versions = st.integers(0, 9)
cells = st.sampled_from([None, None, ("r", "s"), ("t",)])
steps = st.one_of(
    st.tuples(st.just("put"), versions, keys, cells),
    st.tuples(st.just("drop"), versions),
    st.tuples(st.just("forget"), versions, keys),
    st.tuples(st.just("changes")),
)


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(steps, max_size=30))
def test_a_list_says_the_same(history: list[tuple]) -> None:
    records, twin, stored = HeldRecords(), list[Held](), dict[int, Held]()
    cells: dict[int, tuple[str, ...] | None] = {}
    for name, *what in history:
        if name == "put":
            version, key, cell = what
            there = any(held.version == version for held in twin)
            twin = twin if there else sorted([*twin, Held(version, key, b"v")])
            records.put(Held(version, key, b"another" if there else b"v"), cell)
            cells[version] = cell
        elif name == "drop":
            twin = [held for held in twin if held.version != what[0]]
            records.drop(what[0])
        elif name == "forget":
            old = [held for held in twin if held.key == what[1] and held.version <= what[0]]
            twin = [held for held in twin if held not in old]
            assert records.forget(what[1], what[0]) == old
        else:
            went, came = records.changes()
            assert went == sorted(went) and came == sorted(came)
            stored = {version: held for version, held in stored.items() if version not in went}
            stored |= {held.version: held for held in came}
            assert sorted(stored.values()) == twin and records.changes() == ([], [])
        records.check()
        assert list(records) == twin and len(records) == len(twin)
        final = [held for held in twin if cells[held.version] is None]
        for through, most in ((4, None), (None, 2), (4, 1)):
            older = [held for held in final if through is None or held.version <= through]
            assert records.oldest(through, most) == older[:most]
        assert records.through == max((held.version for held in final), default=None)
        assert records.cells == {cells[held.version] for held in twin} - {None}
        for key in (b"a", b"b", b"c"):
            assert records.newest(key) == max((held.version for held in twin if held.key == key), default=None)


def test_records_may_go_while_they_are_listed() -> None:
    records = HeldRecords()
    for version in (3, 1, 2):
        records.put(Held(version, b"a", b"v"))
    for held in records:
        records.drop(held.version)
    assert not len(records) and records.forget(b"a", 9) == []
