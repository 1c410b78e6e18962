"""What virtual edges make alike of messages about first rows is made once, and only of the very same records."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from operators.packed import Header, PackedBest
from overlay.delivery.causing_rows import CausingRows
from overlay.delivery.delivery import Position
from overlay.maintain import shared_best
from overlay.maintain.shared_best import joined_runs, record_of
from tests.operators.wire.test_best import CHANNELS, messages_of, said

MESSAGE = {"channel": 0, "kind": 1, "box": (0, 1, 2, 3), "base": 0, "left": [1], "right": [], "cands": [(5, 2)],
           "old": 0, "new": -1}  # fmt: skip


def record(shard: str = "t/0", texts: tuple[str, ...] = ()) -> PackedBest:
    messages = replace(messages_of([MESSAGE] * 2, [0, 1]), texts=[*texts])
    at = np.arange(2)
    return PackedBest(Header("best", 0, shard, channels=CHANNELS), at, at, at, messages)


def test_a_record_is_read_once_for_all_who_have_the_very_same() -> None:
    one, other = record(), record()
    assert record_of(one.messages) is record_of(one.messages) is not record_of(other.messages)
    for _ in range(20):
        record_of(record().messages)
    assert record_of(one.messages).messages is one.messages


def test_neighbours_of_one_shard_are_joined_once() -> None:
    one, other = record(), record()
    (both,) = joined_runs([one, other])
    assert said(both.messages) == said(one.messages) + said(other.messages)
    (again,), (turned,) = joined_runs([one, other]), joined_runs([other, one])
    assert again is both is not turned
    assert next(iter(joined_runs([one]))) is one and not [*joined_runs([])]


def test_joined_records_of_a_view_tell_the_causing_rows_that_each_told() -> None:
    records = [of_view(["a", "b"], topic) for topic in ([1, 1], [0, 1])]
    (both,) = joined_runs(records)
    each = [row for one in records for row in causing(one)]
    assert causing(both) == each and '"topic":"b"' in each[0] and '"topic":"a"' in each[2]
    assert [len(one) for one in joined_runs([*records, of_view(["a"], None)])] == [4, 2]


def of_view(topics: list[str], topic: list[int] | None) -> PackedBest:
    one = record()
    header = Header("best", 0, "v/0", channels=CHANNELS, topics=topics)
    return replace(one, header=header, topic=None if topic is None else np.array(topic, np.int64))


def causing(packed: PackedBest) -> list[str]:
    return CausingRows(packed, Position(3, 7), '""').of(np.arange(len(packed)))


def test_what_is_not_alike_is_not_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    one, far, spoken = record(), record("t/1"), record(texts=("a",))
    assert [*map(id, joined_runs([one, far, spoken, one]))] == [*map(id, [one, far, spoken, one])]
    short = replace(one, messages=replace(one.messages, images={"id": one.messages.images["id"]}))
    assert len([*joined_runs([one, short])]) == 2
    monkeypatch.setattr(shared_best, "MOST_MESSAGES", 4)
    assert [len(each) for each in joined_runs([one, one, one])] == [4, 2]


def test_rectangles_are_narrowed_once_for_the_same_limits() -> None:
    read = record_of(record().messages)
    own = [read.messages.lo_min, read.messages.lo_max, read.messages.hi_min, read.messages.hi_max]
    first = read.rectangles((1, 0), own)
    assert read.rectangles((1, 0), own) is first is not read.rectangles((2, 0), own)
    assert [column.tolist() for column in first] == [[2, 2], [1, 1], [2, 2], [3, 3]]
    labels = [column.copy() for column in own]
    assert read.rectangles((1, 0), labels) is not read.rectangles((1, 0), labels)
