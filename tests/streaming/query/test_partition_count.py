"""Which topics have several partitions: recorded by batch, so that a replay decides as before."""

from __future__ import annotations

from streaming.checkpoint.checkpoint import SeveralFrom, Sidecar
from streaming.query.partition_count import (
    counts_at,
    counts_from,
    record_several,
    several_at,
    several_from,
    with_several,
)


def test_offsets_say_which_topics_have_several() -> None:
    assert with_several({"a": {"0": 1, "1": 0}, "b": {"0": 5}}) == {"a"}


def test_what_is_known_holds_from_the_first_batch_that_is_not_planned() -> None:
    sidecar = Sidecar(claim="x")
    assert not record_several(sidecar, [], {}, 0)
    assert record_several(sidecar, ["a"], {}, 0)
    assert not record_several(sidecar, ["a"], {}, 4)
    assert record_several(sidecar, ["b", "a"], {}, 4)
    assert sidecar.several == [SeveralFrom(0, ["a"]), SeveralFrom(4, ["a", "b"])]
    assert record_several(sidecar, ["b"], {}, 4)
    assert sidecar.several == [SeveralFrom(0, ["a"]), SeveralFrom(4, ["b"])]


def test_a_batch_that_is_replayed_finds_what_it_was_planned_with() -> None:
    entries = [SeveralFrom(0, ["a"]), SeveralFrom(4, ["b"]), SeveralFrom(6, [])]
    assert several_from(entries, 7) == ((6, frozenset()),)
    several = several_from(entries, 5)
    assert [several_at(several, batch) for batch in (4, 5, 6, 9)] == [{"b"}, {"b"}, set(), set()]
    assert several_from([], 3) == () and several_at((), 3) == set()
    assert several_at(((2, frozenset({"a"})),), 1) == set()


def test_how_many_partitions_streams_have_is_known_by_batch_too() -> None:
    sidecar = Sidecar(claim="x")
    assert record_several(sidecar, [], {"s": 1}, 0)
    assert not record_several(sidecar, [], {"s": 1}, 3)
    assert record_several(sidecar, ["s"], {"s": 2}, 3)
    counts = counts_from(sidecar.several, 2)
    assert [counts_at(counts, batch) for batch in (2, 3, 9)] == [{"s": 1}, {"s": 2}, {"s": 2}]
    assert counts_at((), 3) == {} and counts_at(((2, {"s": 1}),), 1) == {}
