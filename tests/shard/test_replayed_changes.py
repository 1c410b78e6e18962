from __future__ import annotations

import json

import pytest

from connectors.unresolved import Position
from shard.replayed_changes import Repeats
from tests.shard.test_resolve import SAME, Shard

TOMBSTONE = ('{"id":5}', None)


def source(lsn: int, time: int | None = None, name: str = "x") -> str:
    sequence = json.dumps([None, str(lsn)], separators=(",", ":"))
    time = lsn if time is None else time
    return json.dumps({"connector": "postgresql", "name": name, "sequence": sequence, "ts_us": time})


def put(op: str, id: int, n: int, doc: str, lsn: int, time: int | None = None, name: str = "x"):
    after = f'{{"id":{id},"n":{n},"doc":{doc}}}'
    return f'{{"id":{id}}}', f'{{"op":"{op}","after":{after},"source":{source(lsn, time, name)}}}'


def gone(id: int, lsn: int):
    return f'{{"id":{id}}}', f'{{"op":"d","source":{source(lsn)}}}'


MOVES = [
    put("u", 5, 2, SAME, 3), gone(5, 4), TOMBSTONE, put("c", 7, 2, SAME, 4), gone(6, 5), ('{"id":6}', None),
    put("c", 5, 1, SAME, 5),
]  # fmt: skip


@pytest.mark.parametrize("start", [0, 1, 4])
@pytest.mark.parametrize("cuts", [1, 7])
def test_moves_that_are_published_again_leave_large_values_where_they_are(start, cuts):
    shard = Shard()
    shard(put("c", 5, 1, '"a"', 1), put("c", 6, 1, '"b"', 2))
    shard(*MOVES)
    held = {'{"id":7}': [2, "a"], '{"id":5}': [1, "b"]}
    assert shard.held == held
    again = MOVES[start:]
    for batch in [again] if cuts == 1 else [[one] for one in again]:
        assert not shard(*batch).dead
    assert shard.held == held


def test_a_truncate_that_is_published_again():
    shard = Shard()
    truncate = (None, f'{{"op":"t","source":{source(2)}}}')
    shard(put("c", 1, 1, '"a"', 1), truncate, put("c", 1, 2, '"b"', 3))
    resolved = shard(put("c", 1, 1, '"a"', 1), truncate)
    assert resolved.repeated.tolist() == [True, True] and len(resolved.changes) == 0
    assert shard.held == {'{"id":1}': [2, "b"]}


def test_what_stands_at_the_place_that_was_reached_is_taken_again():
    shard = Shard()
    shard(put("c", 1, 1, '"a"', 4), put("c", 2, 1, '"b"', 4))
    assert not shard(put("c", 2, 1, '"b"', 4), put("c", 3, 1, '"c"', 4)).repeated.any()
    assert len(shard.held) == 3


def test_a_database_that_was_restored_goes_on():
    shard = Shard()
    shard(put("c", 1, 1, '"a"', 100, 10))
    assert not shard(put("u", 1, 2, SAME, 50, 11), put("u", 1, 3, SAME, 60, 11)).repeated.any()
    assert shard.held == {'{"id":1}': [3, "a"]}


def test_snapshots_and_tombstones_alone_are_taken():
    shard = Shard()
    shard(put("c", 1, 1, '"a"', 9), put("c", 2, 1, '"b"', 9))
    resolved = shard(put("r", 1, 5, '"x"', 3), ('{"id":2}', None))
    assert not resolved.repeated.any() and shard.held == {'{"id":1}': [5, "x"]}


def test_two_connectors_may_feed_one_topic():
    shard = Shard()
    moved = shard(put("c", 1, 1, '"a"', 100), put("c", 2, 1, '"b"', 7, 90, "y"), put("c", 3, 1, '"c"', 8, 91, "y"))
    assert not moved.repeated.any()
    resolved = shard(put("c", 2, 1, '"b"', 7, 90, "y"), put("c", 4, 1, '"d"', 101), put("u", 3, 2, SAME, 9, 92, "y"))
    assert resolved.repeated.tolist() == [True, False, False] and len(shard.held) == 4
    shard(put("c", 5, 1, '"e"', 102), gone(5, 103), TOMBSTONE, put("c", 5, 2, '"f"', 104))
    mixed = [put("c", 5, 1, '"e"', 102), gone(5, 103), put("u", 3, 3, SAME, 10, 93, "y"), TOMBSTONE]
    assert shard(*mixed).repeated.tolist() == [True, True, False, True] and shard.held['{"id":5}'] == [2, "f"]


def test_whose_repeat_a_tombstone_ends_does_not_hang_on_which_came_first():
    """Two connectors in one partition, both with a delete of one key that was left out."""

    def left(*names: str):
        repeats = Repeats([(0, Position(name, 0, 9, 9), None) for name in "ab"])
        for name in names:
            assert repeats._is_repeat(0, Position(name, 0, 1, 1), b"k")
        assert repeats._ends_repeat(0, b"k")
        return repeats.stored()

    assert left("a", "b") == left("b", "a")
