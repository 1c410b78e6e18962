from __future__ import annotations

from typing import Any

import pytest

from connectors.log.mark import Gap, LogMark
from connectors.record import OutRecord
from connectors.topics import Topics
from streaming.log.query import LogForeignError, LogStart
from tests.streaming.memory_cluster import MemoryCluster

TOPICS = Topics()
HOME = "id-2"


def cluster_with(stock: int = 3) -> MemoryCluster:
    cluster = MemoryCluster(TOPICS)
    cluster.create("stock", 2)
    cluster.append([OutRecord("stock", 0, None, b"x")] * stock)
    return cluster


def mark_of(cluster: MemoryCluster, end: dict[str, int], **more: Any) -> LogMark:
    ids = cluster.ids(["stock"])
    return LogMark(home=HOME, writer="w", number=4, time="", ids=ids, end={"stock": end}, **more)


def test_a_new_log_begins_at_what_is_kept() -> None:
    cluster = cluster_with()
    cluster.first["stock"] = {0: 2}
    start = LogStart.plan(None, cluster, ["bond", "stock"], HOME)
    assert start.begin == {"stock": {"0": 2, "1": 0}}
    assert start.mark.gaps == [Gap("stock", 0, 0, 2)]
    assert (start.mark.number, start.mark.home) == (-1, HOME)
    assert start.mark.end == start.begin


def test_a_start_goes_on_from_the_newest_mark() -> None:
    cluster = cluster_with()
    start = LogStart.plan(mark_of(cluster, {"0": 2, "1": 0}), cluster, ["stock"], HOME)
    assert start.begin == {"stock": {"0": 2, "1": 0}}
    assert (start.mark.number, start.mark.gaps) == (4, [])
    assert start.mark.writer != "w"


def test_what_was_trimmed_unread_is_a_gap() -> None:
    cluster = cluster_with(9)
    cluster.first["stock"] = {0: 5}
    before = mark_of(cluster, {"0": 2, "1": 0}, gaps=[Gap("bond", 0, 1, 2)])
    start = LogStart.plan(before, cluster, ["stock"], HOME)
    assert start.begin["stock"]["0"] == 5
    assert start.mark.gaps == [Gap("bond", 0, 1, 2), Gap("stock", 0, 2, 5)]


def test_a_topic_that_was_created_again_is_read_from_its_beginning() -> None:
    cluster = cluster_with()
    before = mark_of(cluster, {"0": 3, "1": 0})
    cluster.delete("stock")
    cluster.create("stock", 1)
    start = LogStart.plan(before, cluster, ["stock"], HOME)
    assert start.begin == {"stock": {"0": 0}}
    assert start.mark.ids == cluster.ids(["stock"])
    assert start.mark.end == {"stock": {"0": 0}}


def test_a_topic_that_is_gone_keeps_its_place_in_the_mark() -> None:
    cluster = cluster_with()
    before = mark_of(cluster, {"0": 3, "1": 0})
    cluster.delete("stock")
    start = LogStart.plan(before, cluster, ["stock"], HOME)
    assert start.begin == {}
    assert start.mark.end == before.end


def test_a_log_that_is_ahead_of_kafka_stops_the_start() -> None:
    cluster = cluster_with(3)
    with pytest.raises(LogForeignError, match=r"ahead of Kafka.*up to offset 4, the topic ends at 3"):
        LogStart.plan(mark_of(cluster, {"0": 4}), cluster, ["stock"], HOME)


def test_the_log_of_another_tidewire_stops_the_start() -> None:
    cluster = cluster_with()
    with pytest.raises(LogForeignError, match="expected the catalog topic with id id-2, got other"):
        LogStart.plan(mark_of(cluster, {}), cluster, ["stock"], "other")
