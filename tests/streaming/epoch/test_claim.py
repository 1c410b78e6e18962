from __future__ import annotations

from pathlib import Path

import pytest

from connectors.record import OutRecord
from connectors.topics import Topics
from operators.control import EpochBegins, RegisterAll
from streaming.checkpoint.checkpoint import Checkpoint, CheckpointError, Sidecar
from streaming.checkpoint.files import LocalFiles
from streaming.epoch.claim import (
    STILL_SECONDS,
    ClaimConflictError,
    ClaimWatch,
    EpochOpening,
    LivenessProbe,
    SupersededError,
    claim,
)
from tests.streaming.memory_cluster import MemoryCluster
from tests.streaming.spark_logs import plan

TOPICS = Topics("t.")


@pytest.fixture
def cluster() -> MemoryCluster:
    return MemoryCluster(TOPICS)


def make_checkpoint(folder: Path) -> Checkpoint:
    return Checkpoint(LocalFiles(folder), str(folder))


def test_the_epoch_is_the_offset_of_the_claim_and_stays(cluster: MemoryCluster, tmp_path: Path) -> None:
    cluster.append([OutRecord(TOPICS.engines, 0, b"stock/0", b"{}")] * 5)
    first = claim(cluster, TOPICS, make_checkpoint(tmp_path))
    again = claim(cluster, TOPICS, make_checkpoint(tmp_path))
    assert first.epoch == 5
    assert again == first
    assert cluster.end(TOPICS.engines) == 6


def test_it_says_how_many_groups_begin_with_what_the_log_had(cluster: MemoryCluster, tmp_path: Path) -> None:
    claim(cluster, TOPICS, make_checkpoint(tmp_path / "bare"))
    checkpoint = make_checkpoint(tmp_path / "rebuilt")
    checkpoint.store(Sidecar(claim="claim-x", seeds={"stock/0": "stock", "bond/0": "bond"}))
    claim(cluster, TOPICS, checkpoint)
    bare, rebuilt = (record.value or b"" for record in cluster.logs[TOPICS.engines][0])
    assert b"from_log" not in bare and b'"from_log":2' in rebuilt


def test_a_crash_between_id_and_epoch_claims_again(cluster: MemoryCluster, tmp_path: Path) -> None:
    checkpoint = make_checkpoint(tmp_path)
    sidecar = claim(cluster, TOPICS, checkpoint)
    sidecar.epoch = -1
    checkpoint.store(sidecar)
    again = claim(cluster, TOPICS, checkpoint)
    assert again.claim == sidecar.claim
    assert again.epoch == 1
    ClaimWatch(cluster, TOPICS, again).check()


def test_batches_without_our_file_refuse_the_start(cluster: MemoryCluster, tmp_path: Path) -> None:
    plan(tmp_path, 4, {})
    with pytest.raises(CheckpointError, match=r"batches up to 4 but not `tidewire/engine\.json`"):
        claim(cluster, TOPICS, make_checkpoint(tmp_path))


def test_the_higher_epoch_wins(cluster: MemoryCluster, tmp_path: Path) -> None:
    old = claim(cluster, TOPICS, make_checkpoint(tmp_path / "a"))
    watch = ClaimWatch(cluster, TOPICS, old)
    watch.check()
    cluster.append([OutRecord(TOPICS.engines, 0, b"stock/0", b'{"kind":"counters","claim":1}')])
    watch.check()
    new = claim(cluster, TOPICS, make_checkpoint(tmp_path / "b"))
    with pytest.raises(SupersededError, match=r"epoch 2 was claimed at .* ours is 0"):
        watch.check()
    ClaimWatch(cluster, TOPICS, new).check()


@pytest.mark.parametrize("moves", [True, False])
def test_whoever_still_writes_batches_is_alive(cluster: MemoryCluster, moves: bool) -> None:
    slept: list[float] = []
    still = LivenessProbe.begin(cluster, TOPICS, clock=lambda: 100.0)
    if moves:
        cluster.append([OutRecord(TOPICS.batches, 0, None, b"{}")])
        with pytest.raises(ClaimConflictError, match="another engine is at work"):
            still.check(cluster, TOPICS, clock=lambda: 101.0, sleep=slept.append)
    else:
        still.check(cluster, TOPICS, clock=lambda: 101.0, sleep=slept.append)
    assert slept == [STILL_SECONDS - 1]


class TestOpening:
    @pytest.fixture
    def opening(self, cluster: MemoryCluster, tmp_path: Path) -> EpochOpening:
        return EpochOpening(cluster, make_checkpoint(tmp_path), TOPICS, 2)

    def test_an_epoch_begins_once_and_notes_the_ends(self, cluster: MemoryCluster, opening: EpochOpening) -> None:
        cluster.create("a", 2)
        cluster.append([OutRecord("a", 1, None, b"")] * 3)
        sidecar = claim(cluster, TOPICS, opening.checkpoint)
        opening.begin(sidecar, 4, ["a", "not there"])
        opening.begin(opening.checkpoint.load() or sidecar, 5, ["a"])
        for edge in (0, 1):
            assert cluster.controls(TOPICS.notifications, edge) == [EpochBegins(sidecar.epoch, 4)]
        assert sidecar.catch_up == {"a": {"0": 0, "1": 3}, "not there": {}}

    def test_edges_register_past_the_noted_ends_and_once(self, cluster: MemoryCluster, opening: EpochOpening) -> None:
        cluster.create("a", 2)
        cluster.append([OutRecord("a", 1, None, b"")] * 3)
        sidecar = claim(cluster, TOPICS, opening.checkpoint)
        opening.begin(sidecar, 4, ["a"])
        assert not opening.register(sidecar, 4, ["a"], {})
        assert not opening.register(sidecar, 4, ["a"], {"a": {"0": 9, "1": 2}})
        assert opening.register(sidecar, 4, ["a"], {"a": {"1": 3}})
        assert opening.register(sidecar, 4, ["a"], {"a": {"1": 3}})
        assert cluster.controls(TOPICS.notifications, 1)[1:] == [RegisterAll(sidecar.epoch, 4)]
        stored = opening.checkpoint.load()
        assert stored is not None
        assert stored.registered

    def test_a_topic_that_left_the_catalog_is_not_waited_for(
        self, cluster: MemoryCluster, opening: EpochOpening
    ) -> None:
        cluster.create("a")
        cluster.append([OutRecord("a", 0, None, b"")])
        sidecar = claim(cluster, TOPICS, opening.checkpoint)
        opening.begin(sidecar, 4, ["a"])
        assert opening.register(sidecar, 5, [], {})
