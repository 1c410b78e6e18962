"""`tidewire unsubscribe`: ids that no subscription has, that nobody asked for, that have ended, and one that lives."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from connectors.kafka.partitioner import home_partition
from tests.tidewire.commands.in_memory import TOPICS, InMemory, Refusals, connected, refusals, run
from tidewire.commands import unsubscribe as module


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Refusals:
    return refusals(monkeypatch, capfd, tmp_path, module)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Missing argument"),
        ([""], "id"),
        (["x" * 10_000], "id"),
        (["\udcff"], "id"),
        (["a", "b"], "unexpected extra argument"),
    ],
)
def test_ids_that_no_subscription_has(refused: Refusals, arguments: list[str], said: str) -> None:
    assert said in refused.of("unsubscribe", *arguments)


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> InMemory:
    monkeypatch.chdir(tmp_path)
    made = InMemory()
    connected(monkeypatch, module, made)
    for id in (b"live", b"gone", b"over"):
        made.write(TOPICS.subscriptions, home_partition(id, 2), id, b'{"sql":"SELECT 1"}')
    made.write(TOPICS.subscriptions, home_partition(b"gone", 2), b"gone", None)
    for record in [one for part in made.logs[TOPICS.subscriptions].values() for one in part]:
        if record.key == b"over":
            ack = {"id": "over", "version": record.offset, "status": "ended", "reason": "expired"}
            made.write(TOPICS.acks, record.partition, b"over", json.dumps(ack).encode())
    return made


def test_one_that_lives_is_asked_to_end(cluster: InMemory, capfd: pytest.CaptureFixture[str]) -> None:
    assert run("unsubscribe", "live") == 0
    assert cluster.ended == ["live"]
    assert capfd.readouterr().out == "live: asked to end; its last delivery says so\n"
    assert run("unsubscribe", "live", "--json") == 0
    assert json.loads(capfd.readouterr().out) == {"id": "live", "status": "unsubscribing"}


@pytest.mark.parametrize(
    ("id", "said"),
    [
        ("never", "there is no such subscription: `never`."),
        ("gone", "there is no such subscription: `gone`."),
        ("over", "there is no such subscription any more, it has ended (expired): `over`."),
    ],
)
def test_where_there_is_none_nothing_is_written(
    cluster: InMemory, capfd: pytest.CaptureFixture[str], id: str, said: str
) -> None:
    assert run("unsubscribe", id) == 2
    out, err = capfd.readouterr()
    assert out == "" and said in " ".join(err.split()) and "`tidewire subscriptions`" in err and not cluster.ended
