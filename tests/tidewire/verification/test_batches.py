"""The topic `batches`: repeats, horizon, catalog versions, what is missing."""

import json

from tidewire.verification.batches import Batches, Position
from tidewire.verification.journal import Record


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
