"""Records between engine and edge are lost: what a resync or an end admits is no fault, but counted as not judged."""

from __future__ import annotations

import dataclasses

import msgspec
import pytest

from tests.tidewire.test_chain_interrupted import journal
from tidewire.pure_pipeline import PurePipeline
from tidewire.verification.compare.report import Report
from tidewire.verification.records.journal import TopicLog
from tidewire.verification.verify import verify

DDL = "CREATE TABLE t (k BIGINT PRIMARY KEY, v BIGINT)"
QUESTIONS = [
    "SELECT MIN(v) FROM t",
    "SELECT COUNT(*), SUM(v) FROM t NOTIFY LATEST",
    "SELECT DISTINCT v FROM t",
    "SELECT k, v FROM t WHERE v <> 0",
    "SELECT k, v FROM t WHERE v <> 0 NOTIFY TRANSITIONS",
    "SELECT k FROM t ORDER BY v, k LIMIT 2",
]


class Lossy:
    """A chain whose edge reads no word of one batch, and has read the next one when what `then` does happens."""

    def __init__(self, sql: str) -> None:
        self.chain = PurePipeline(1)
        self.chain.apply(DDL)
        self.chain.append(self.chain.topics.subscriptions, b"q", msgspec.json.encode({"sql": sql}))
        self.chain.settle()
        self.publish(1, 9)
        self.chain.settle()

    def publish(self, key: int, value: int) -> None:
        self.chain.append("t", b'{"k":%d}' % key, b'{"k":%d,"v":%d}' % (key, value))

    def lose(self, seconds: int = 0) -> None:
        chain, topic = self.chain, self.chain.topics.notifications
        self.publish(2, 5)
        chain.run_batch()
        lost = len(chain.logs[topic][0])
        self.publish(3, 3)
        chain.clock += seconds
        chain.run_batch()
        chain._fed[topic, 0] = lost
        chain.edges[0].notifications_lost()
        chain.run_edge(0)

    def judged(self) -> Report:
        self.chain.settle()
        self.publish(4, 1)
        self.chain.settle()
        self.chain.tell_progress()
        self.chain.settle()
        return verify(journal(self.chain, "t"))


@pytest.mark.parametrize("sql", QUESTIONS)
def test_a_loss_before_an_epoch_is_admitted_by_its_resync(sql: str) -> None:
    lossy = Lossy(sql)
    lossy.lose()
    lossy.chain.begin_epoch()
    report = lossy.judged()
    assert report.clean and report.unjudged == 2, report.faults


@pytest.mark.parametrize("sql", QUESTIONS)
def test_a_loss_within_an_epoch(sql: str) -> None:
    lossy = Lossy(sql)
    lossy.lose()
    report = lossy.judged()
    assert report.clean and not report.unjudged, report.faults


@pytest.mark.parametrize("sql", QUESTIONS)
@pytest.mark.parametrize("anew", [False, True])
def test_an_end_by_time_amid_a_loss_says_where_it_was_followed(sql: str, anew: bool) -> None:
    lossy = Lossy(f"{sql} TTL 5 SECONDS")
    lossy.lose(seconds=9)
    if anew:
        lossy.chain.begin_epoch()
    report = lossy.judged()
    assert report.clean and report.unjudged == 1, report.faults


@pytest.mark.parametrize("sql", ["SELECT MIN(v) FROM t", "SELECT k FROM t ORDER BY v, k LIMIT 2"])
def test_a_change_that_was_not_told_and_is_not_admitted_is_missed(sql: str) -> None:
    """The resync says that what the change has made was told last."""
    lossy = Lossy(sql)
    lossy.publish(2, 5)
    lossy.chain.settle()
    lossy.chain.begin_epoch()
    assert lossy.judged().clean
    whole = journal(lossy.chain, "t")
    told = list(whole.deliveries.all())
    _, second, *_ = (record for record in told if b'"change"' in (record.value or b""))
    others = TopicLog.of(lossy.chain.topics.deliveries, [record for record in told if record is not second], 1)
    report = verify(dataclasses.replace(whole, deliveries=others))
    assert report.missed == 1 and not report.clean
