"""Logs of topics: which records are there, which offsets have none."""

from __future__ import annotations

from itertools import combinations

from tidewire.verification.records.journal import Record, TopicLog


def record(partition: int, offset: int) -> Record:
    return Record(partition, offset, 0, None, b"")


def test_records_in_any_order_make_a_log_by_partition() -> None:
    log = TopicLog.of("t", [record(2, 1), record(0, 3), record(2, 0), record(0, 1)], 2)
    assert [(one.partition, one.offset) for one in log.all()] == [(0, 1), (0, 3), (2, 0), (2, 1)]
    assert log.begin == {0: 0, 1: 0, 2: 0} and log.end == {0: 4, 1: 0, 2: 2}
    assert not any(log.trimmed(partition) for partition in (0, 1, 2, 7)) and not log.compacted


def test_which_offsets_have_no_record() -> None:
    for count in range(5):
        for offsets in combinations(range(4), count):
            log = TopicLog.of("t", [record(0, offset) for offset in offsets])
            for start, end in combinations(range(6), 2):
                assert log.has_lost(0, start, end) is not set(range(start, end)).issubset(offsets), (
                    offsets,
                    start,
                    end,
                )
            assert not log.has_lost(0, 3, 3)
    assert TopicLog("t").has_lost(0, 0, 1) and not TopicLog("t").has_lost(0, 0, 0)


def test_what_is_trimmed_has_lost_its_beginning() -> None:
    log = TopicLog.of("t", [record(0, 4)], 2)
    log.begin[0] = 4
    assert log.trimmed(0) and not log.trimmed(1)
