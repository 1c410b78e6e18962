"""Rows and their totals from the past on: history and live deliveries join, whatever the question and its policy."""

from __future__ import annotations

from typing import cast

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.kafka.reader import Reader
from connectors.kafka.record import KafkaRecord
from connectors.log.publication_log import PublicationLog
from tests.effort import deep_examples
from tests.tidewire.history.test_backtest import RELATION, VERSIONS, Change, filled
from tests.tidewire.history.test_backtest_rows import Live, deliveries, facts, questions
from tidewire.client.records import At, read_ack
from tidewire.history.as_of import AsOf, HistoryDiffers, check_joint


class LogReader:
    """Reads what stands in a chain's topic `batches`."""

    def __init__(self, live: Live) -> None:
        self._live = live

    def read_to_end(self, topic: str) -> list[KafkaRecord]:
        log = self._live.pipeline.logs[topic][0]
        return [KafkaRecord(topic, 0, n, 0, key, value or b"") for n, (key, value) in enumerate(log)]


def asked(sql: str, versions: list[list[Change]], first: int) -> Live:
    """Return a chain that is asked when the first versions of a log are published, and told the others then."""
    live = Live()
    for version in versions[: first + 1]:
        live.publish(version)
    live.ask(sql)
    for version in versions[first + 1 :]:
        live.publish(version)
    return live


def began(live: Live) -> At:
    acks = [read_ack(value or b"") for _, value in live.pipeline.logs[live.pipeline.topics.acks][0]]
    (at,) = [ack.at for ack in acks if ack.status == "live"]
    assert at is not None
    return at


@pytest.mark.deep
@settings(max_examples=deep_examples(100), deadline=None)
@given(VERSIONS, questions, st.integers(0, 3), st.integers(0, 3))
def test_history_ends_where_live_deliveries_begin(
    tmp_path_factory: pytest.TempPathFactory, versions: list[list[Change]], question: tuple[str, str], a: int, b: int
) -> None:
    sql, _ = question
    begin, end = sorted(min(each, len(versions) - 1) for each in (a, b))
    opened = PublicationLog(filled(tmp_path_factory.mktemp("log"), versions).uri)
    live = asked(sql, versions, end)
    past = AsOf(opened, [RELATION], msgspec.json.encode({"sql": sql}), begin)
    reader, topics = cast(Reader, LogReader(live)), live.pipeline.topics
    test, history = past.history(reader, topics, began(live), 1)
    told = [facts(one) for one in history]
    assert told == [facts(one) for one in deliveries(asked(sql, versions[: end + 1], begin))]
    check_joint(test, deliveries(live)[0])


@pytest.mark.parametrize("policy", ["TRANSITIONS", "ENTER"])
def test_rows_told_by_their_keys_are_compared_by_these(tmp_path_factory: pytest.TempPathFactory, policy: str) -> None:
    """Changes within are not told, and under ENTER none that leaves: what is held of the past is no whole answer."""
    sql = f"SELECT id, price FROM stock WHERE price > 0 NOTIFY {policy}"
    versions: list[list[Change]] = [[(1, 5), (2, 5)], [(1, 6), (3, 1)], [(3, None)], [(4, 4)]]
    opened = PublicationLog(filled(tmp_path_factory.mktemp("log"), versions).uri)
    live = asked(sql, versions[:3], 2)
    past = AsOf(opened, [RELATION], msgspec.json.encode({"sql": sql}), 0)
    test, history = past.history(cast(Reader, LogReader(live)), live.pipeline.topics, began(live), 1)
    assert len(list(history)) == (3 if policy == "TRANSITIONS" else 2)
    check_joint(test, deliveries(live)[0])
    for other in (versions, [[(1, 6)]], [[(1, 6), (7, 5)]]):
        with pytest.raises(HistoryDiffers):
            check_joint(test, deliveries(asked(sql, other, len(other) - 1))[0])
