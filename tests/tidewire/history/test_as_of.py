from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from connectors.kafka.reader import Reader
from connectors.kafka.record import KafkaRecord
from connectors.log.cut import Place
from connectors.log.publication_log import PublicationLog, TooOld
from connectors.topics import Topics
from operators.control import Progress, encode_control
from tests.tidewire.history.test_backtest import QUESTIONS, RELATION, filled, value_of
from tidewire.client.records import At, Delivery
from tidewire.history.as_of import AsOf, HistoryDiffers, LogBehind, check_joint, cut_at, read_batches
from tidewire.history.backtest import Backtest

TOPICS = Topics()
BATCHES = [
    Progress(epoch, batch, 0, "", {}, {"stock": {"0": end}}) for epoch, batch, end in ((3, 0, 2), (3, 1, 3), (9, 0, 4))
]


class FakeReader:
    """Holds the topic `batches`, each record twice, as an idle engine writes it."""

    def read_to_end(self, topic: str) -> list[KafkaRecord]:
        return [KafkaRecord(topic, 0, n, 0, None, encode_control(one)) for n, one in enumerate([*BATCHES, *BATCHES])]


def snapshot(**more: Any) -> Delivery:
    return Delivery("q", "snapshot", 0, 1, At(3, 1), **more)


def test_history_ends_where_live_begins(tmp_path: Path) -> None:
    opened = PublicationLog(filled(tmp_path, [[(1, 5)], [(2, 4), (2, 3)], [(1, 1)]]).uri)
    past = AsOf(opened, [RELATION], value_of(QUESTIONS[0]), 0)
    test, history = past.history(cast(Reader, FakeReader()), TOPICS, At(3, 1), 1)
    assert [(one.n, one.new, one.offset) for one in history] == [(1, 5, None), (2, 4, 1), (3, 3, 2)]
    check_joint(test, snapshot(new=3))
    with pytest.raises(HistoryDiffers, match="ends with the answer 3, the live subscription begins with 4"):
        check_joint(test, snapshot(new=4))


def test_sets_are_compared_as_sets(tmp_path: Path) -> None:
    opened = PublicationLog(filled(tmp_path, [[(1, 5), (2, None)], [(3, 4)]]).uri)
    test, history = AsOf(opened, [RELATION], value_of(QUESTIONS[2]), 0).history(
        cast(Reader, FakeReader()), TOPICS, At(3, 1), 1
    )
    assert len(list(history)) == 2
    check_joint(test, snapshot(added=[5, 4], removed=[]))
    with pytest.raises(HistoryDiffers):
        check_joint(test, snapshot(added=[5], removed=[]))


class Ended:
    """A back-test that has come to an answer."""

    def __init__(self, answer: object) -> None:
        self.answer = answer


def test_rows_of_a_bag_are_compared_without_order_and_those_of_a_list_with_it() -> None:
    bag = snapshot(form="bag", removed=[], added=[("a", 1), ("b", 2), ("a", 1)])
    check_joint(cast(Backtest, Ended([("b", 2), ("a", 1), ("a", 1)])), bag)
    listed = snapshot(form="list", removed=[], added=[(0, ("a",)), (1, ("b",))])
    check_joint(cast(Backtest, Ended([("a",), ("b",)])), listed)
    check_joint(cast(Backtest, Ended([("a",)])), snapshot(form="bag", snapshot="none", removed=[], added=[]))
    for told, answer in ((bag, [("b", 2), ("a", 1)]), (listed, [("b",), ("a",)])):
        with pytest.raises(HistoryDiffers):
            check_joint(cast(Backtest, Ended(answer)), told)


def test_a_log_that_does_not_come_so_far(tmp_path: Path) -> None:
    opened = PublicationLog(filled(tmp_path, [[(1, 5)]]).uri)
    with pytest.raises(LogBehind, match="has not come to the subscription's beginning"):
        AsOf(opened, [RELATION], value_of(QUESTIONS[0]), 0).history(cast(Reader, FakeReader()), TOPICS, At(9, 0), 0.01)


def test_too_old_is_refused_before_anything_else(tmp_path: Path) -> None:
    opened = PublicationLog(filled(tmp_path, [[(1, 5)], [(1, 6)], [(1, 7)]]).uri)
    opened.versions = opened.versions[1:]
    with pytest.raises(TooOld, match="the earliest version that can be replayed is 2"):
        AsOf(opened, [RELATION], value_of(QUESTIONS[0]), 0)


def test_where_a_batch_ends(tmp_path: Path) -> None:
    opened = PublicationLog(filled(tmp_path, [[(1, 5)]]).uri)
    batches = read_batches(cast(Reader, FakeReader()), TOPICS)
    assert len(batches) == 3
    at = {(3, 0): {0: 2}, (3, 1): {0: 3}, (9, -1): {}, (9, 0): {0: 4}, (9, 7): {0: 4}}
    assert {key: cut_at(batches, At(*key), ["stock"], opened) for key in at} == {
        key: {"stock": Place(0, ends)} for key, ends in at.items()
    }
