"""The topic `batches`: repeats, horizon, catalog versions, what is missing."""

import json

import pytest

from tidewire.verification.records.batches import Batches, Position, UnreadableBatches
from tidewire.verification.records.journal import Record


def read(*bodies: tuple[int, int, int]) -> Batches:
    records = [{"epoch": e, "batch": b, "catalog": c, "start": {}, "end": {"t": {"0": b}}} for e, b, c in bodies]
    return Batches([Record(0, i, 0, None, json.dumps(body).encode()) for i, body in enumerate(records)])


def test_repeats_count_once_and_announce() -> None:
    found = read((3, -1, 0), (3, 0, 0), (3, 0, 1), (3, 1, 1), (7, 0, 1), (3, 2, 1))
    assert [batch.at for batch in found.epochs[3]] == [(3, 0), (3, 1), (3, 2)]
    assert [batch.catalog for batch in found.epochs[3]] == [0, 1, 1], "the first record says what the batch ran under"
    assert (found.horizon, found.announced) == (Position(7, 0), 1)
    assert [found.catalog_at(Position(3, b)) for b in (-1, 0, 1, 9)] == [0, 1, 1, 1]
    assert found.catalog_at(Position(5, 0)) == -1
    assert found.missing() == []


def test_what_is_missing_and_where_it_begins() -> None:
    found = read((1, 4, 0), (1, 7, 0))
    assert found.missing() == [(1, 5), (1, 6)]
    assert (found.floor(1), found.floor(2)) == (3, -1)
    assert read().horizon is None


def test_a_batch_may_say_which_version_it_ran_under() -> None:
    body = {"epoch": 1, "batch": 0, "catalog": 5, "holds": 2, "start": {}, "end": {"t": {"0": 1}}}
    found = Batches([Record(0, 0, 0, None, json.dumps(body).encode())])
    assert (found.epochs[1][0].catalog, found.announced) == (2, 5)


SOUND = {"kind": "progress", "epoch": 1, "batch": 0, "catalog": 5, "start": {}, "end": {"t": {"0": 1}}}
DAMAGED = [
    None, b"", b"{}", b"[]", b"null", b"7", b"\xff", json.dumps(SOUND).encode()[:-2], b"[" * 100_000,
    *(
        json.dumps(SOUND | change).encode()
        for change in (
            {"epoch": "1"}, {"batch": None}, {"batch": 1.5}, {"batch": True}, {"catalog": 2**64}, {"holds": []},
            {"end": 3}, {"end": {"t": 3}}, {"end": {"t": {"zero": 3}}}, {"end": {"t": {"0": "3"}}}, {"start": [1]},
            {"kind": 7},
        )
    ),
]  # fmt: skip


@pytest.mark.parametrize("value", DAMAGED)
def test_a_record_that_cannot_be_read_ends_the_verification_with_a_sentence(value) -> None:
    sound = Record(0, 0, 0, None, json.dumps(SOUND).encode())
    with pytest.raises(
        UnreadableBatches, match=r"^`batches` \[0\] offset 8 is none that an engine writes|newer tidewire"
    ):
        Batches([sound, Record(0, 8, 0, None, value)])


@pytest.mark.parametrize("change", [{"format": 99}, {"format": 2, "epoch": {}}, {"kind": "images"}])
def test_a_record_of_a_newer_engine_ends_it_too(change) -> None:
    newer = Record(0, 8, 0, None, json.dumps(SOUND | change).encode())
    with pytest.raises(UnreadableBatches, match=r"offset 8 was written by a newer tidewire"):
        Batches([newer])
