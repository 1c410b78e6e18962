from __future__ import annotations

import pytest

from connectors.record import OutRecord
from streaming.query import sink_rows
from streaming.query.sink_rows import FILLER_TOPIC, frames


def test_records_become_rows_without_nulls_in_number_columns() -> None:
    (frame,) = frames([OutRecord("a", None, None, b"v"), OutRecord("b", 3, b"k", None)], 10)
    assert frame["partitions"].tolist() == [[-1], [3]]
    assert frame["topic"].tolist() == ["a", "b"]
    assert frame["key"].tolist() == [None, b"k"]
    assert frame["value"].tolist() == [b"v", None]


def test_what_many_partitions_get_is_one_row() -> None:
    value, other = b"shared" * 3, b"own" * 3
    out = [
        OutRecord("a", 0, b"k", value),
        OutRecord("a", 1, b"k", other),
        OutRecord("a", 1, b"k", value),
        OutRecord("a", 1, b"k", value),
        OutRecord("b", 1, b"k", value),
        OutRecord("a", 1, b"l", value),
        OutRecord("a", 4, b"k", None),
        OutRecord("a", 5, b"k", None),
    ]
    (frame,) = frames(out, 10)
    assert list(zip(frame["topic"], frame["partitions"], frame["key"], frame["value"], strict=True)) == [
        ("a", [0, 1, 1], b"k", value),
        ("a", [1], b"k", other),
        ("b", [1], b"k", value),
        ("a", [1], b"l", value),
        ("a", [4], b"k", None),
        ("a", [5], b"k", None),
    ]


def test_nothing_to_write_is_no_frame() -> None:
    assert list(frames([], 10)) == []


def test_fillers_stand_between_frames_of_bounded_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sink_rows, "FLUSH_BYTES", 10)
    out = [OutRecord("a", 0, b"k", bytes([number]) * 4) for number in range(5)]
    made = list(frames(out, 3))
    assert [len(frame) for frame in made] == [2, 4, 2, 4, 1]
    assert set(made[1]["topic"]) == {FILLER_TOPIC} and not any(made[1]["partitions"])
    assert [v for frame in made if frame["topic"][0] for v in frame["value"]] == [record.value for record in out]
