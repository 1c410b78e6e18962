from __future__ import annotations

from pathlib import Path

import pytest

from connectors.record import OutRecord
from connectors.topics import Topics
from operators.control import ControlError, Progress, encode_control
from streaming.checkpoint.checkpoint import Checkpoint, CheckpointError
from streaming.checkpoint.files import LocalFiles
from streaming.epoch.progress import ProgressWriter, utc_now
from tests.streaming.memory_cluster import MemoryCluster
from tests.streaming.spark_logs import commit, plan

TOPICS = Topics("t.")


def held(batch: int) -> int:
    """The catalog changed between the first batch and the second."""
    return 3 if batch == 0 else 4


@pytest.fixture
def cluster() -> MemoryCluster:
    return MemoryCluster(TOPICS)


def make_writer(cluster: MemoryCluster, folder: Path, epoch: int = 7) -> ProgressWriter:
    return ProgressWriter(cluster, Checkpoint(LocalFiles(folder), "c"), TOPICS, 2, epoch, now=lambda: "now")


def told(cluster: MemoryCluster, *records: Progress) -> None:
    cluster.append([OutRecord(TOPICS.batches, 0, None, encode_control(record)) for record in records])


def batches(cluster: MemoryCluster) -> list[int]:
    return [record.batch for record in cluster.controls(TOPICS.batches) if isinstance(record, Progress)]


def test_each_committed_batch_goes_to_every_edge_and_then_to_batches(cluster: MemoryCluster, tmp_path: Path) -> None:
    commit(tmp_path, 0, {"a": {"0": 3}})
    commit(tmp_path, 1, {"a": {"0": 5}})
    plan(tmp_path, 2, {"a": {"0": 9}})
    writer = make_writer(cluster, tmp_path)
    writer.recover()
    assert writer.write_committed(4, held) == 2
    assert cluster.controls(TOPICS.batches) == [
        Progress(7, 0, 4, "now", {"a": {"0": 0}}, {"a": {"0": 3}}, holds=3),
        Progress(7, 1, 4, "now", {"a": {"0": 3}}, {"a": {"0": 5}}, holds=4),
    ]
    for edge in (0, 1):
        assert cluster.controls(TOPICS.notifications, edge) == [Progress(7, 0, 4, "now"), Progress(7, 1, 4, "now")]
    written = [record.topic for record in cluster.appended]
    assert written == [*[TOPICS.notifications] * 2, TOPICS.batches] * 2


def test_a_start_tells_what_was_committed_and_not_told(cluster: MemoryCluster, tmp_path: Path) -> None:
    commit(tmp_path, 0, {"a": {"0": 3}})
    first = make_writer(cluster, tmp_path)
    first.recover()
    first.write_committed(4, held)
    commit(tmp_path, 1, {"a": {"0": 5}})
    commit(tmp_path, 2, {"a": {"0": 6}})
    second = make_writer(cluster, tmp_path)
    second.recover()
    assert second.last == 0
    second.write_committed(4, held)
    assert batches(cluster) == [0, 1, 2]


def test_a_checkpoint_behind_batches_stops_the_start(cluster: MemoryCluster, tmp_path: Path) -> None:
    commit(tmp_path, 0, {"a": {"0": 3}})
    told(cluster, Progress(7, 3, 0, "", {}, {"a": {"0": 9}}))
    with pytest.raises(
        CheckpointError, match=r"has planned 1 batches, but `t\.batches` has batch 3 of the same epoch 7"
    ):
        make_writer(cluster, tmp_path).recover()
    for batch in (1, 2, 3):
        commit(tmp_path, batch, {"a": {"0": 10 + batch}})
    with pytest.raises(CheckpointError, match="with another end"):
        make_writer(cluster, tmp_path).recover()


def test_a_batch_that_was_told_may_run_again(cluster: MemoryCluster, tmp_path: Path) -> None:
    commit(tmp_path, 0, {"a": {"0": 3}})
    plan(tmp_path, 1, {"a": {"0": 9}})
    told(cluster, Progress(7, 1, 0, "", {}, {"a": {"0": 9}}))
    writer = make_writer(cluster, tmp_path)
    writer.recover()
    assert writer.last == 1
    assert writer.write_committed(0, held) == 0


def test_other_epochs_do_not_count(cluster: MemoryCluster, tmp_path: Path) -> None:
    commit(tmp_path, 0, {"a": {"0": 3}})
    told(cluster, Progress(7, 0, 0, "", {}, {"a": {"0": 3}}))
    told(cluster, *[Progress(6, 90, 0, "")] * 1_200)
    writer = make_writer(cluster, tmp_path)
    writer.recover()
    assert writer.last == 0


def test_repeats_differ_in_time_and_catalog_only(cluster: MemoryCluster, tmp_path: Path) -> None:
    writer = make_writer(cluster, tmp_path)
    writer.recover()
    writer.repeat(0)
    commit(tmp_path, 0, {"a": {"0": 3}})
    writer.write_committed(0, held)
    writer.repeat(1)
    ranges = ({"a": {"0": 0}}, {"a": {"0": 3}})
    assert cluster.controls(TOPICS.batches) == [
        Progress(7, -1, 0, "now"),
        Progress(7, 0, 0, "now", *ranges, holds=3),
        Progress(7, 0, 1, "now", *ranges, holds=3),
    ]


def test_where_batches_was_trimmed_what_the_log_still_has_is_told(cluster: MemoryCluster, tmp_path: Path) -> None:
    for batch in (40, 41, 42):
        commit(tmp_path, batch, {"a": {"0": batch}})
    writer = make_writer(cluster, tmp_path)
    writer.recover()
    writer.write_committed(0, held)
    assert batches(cluster) == [41, 42]


def test_batches_that_left_the_log_untold_are_told_without_their_ranges(cluster: MemoryCluster, tmp_path: Path) -> None:
    told(cluster, Progress(7, 37, 0, ""))
    for batch in (40, 41):
        commit(tmp_path, batch, {"a": {"0": batch}})
    writer = make_writer(cluster, tmp_path)
    writer.recover()
    assert not writer.pending()
    assert writer.write_overtaken(0) == 3
    assert writer.write_overtaken(0) == 0
    assert writer.write_committed(0, held) == 1
    assert [(p.batch, p.end) for p in cluster.controls(TOPICS.batches) if isinstance(p, Progress)][1:] == [
        (38, {}),
        (39, {}),
        (40, {}),
        (41, {"a": {"0": 41}}),
    ]


def test_the_time_is_utc_with_milliseconds() -> None:
    assert utc_now()[-1] == "Z"
    assert len(utc_now()) == len("2026-03-01T23:59:59.999Z")


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (None, "not a control record .*another `prefix`"),
        (b"{", "not a control record .*another `prefix`"),
        (b"\xff", "not a control record .*another `prefix`"),
        (b'{"kind":"progress","epoch":7}', "not a control record .*another `prefix`"),
        (b'{"kind":"progress","format":99}', "a newer tidewire wrote .*Run the version of tidewire that wrote it"),
    ],
)
def test_a_start_stops_at_a_record_that_it_cannot_read(
    cluster: MemoryCluster, tmp_path: Path, value: bytes | None, says: str
) -> None:
    told(cluster, Progress(7, 0, 3, "t"))
    cluster.append([OutRecord(TOPICS.batches, 0, None, value)])
    told(cluster, Progress(6, 9, 3, "t"))
    with pytest.raises(ControlError, match=rf"^`t.batches` \[0\] offset 1: {says}"):
        make_writer(cluster, tmp_path).recover()
