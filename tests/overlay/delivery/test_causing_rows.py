"""The `at` of deliveries: of a table by its topic, of a view by what the record says."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from operators.wire.header import Header
from overlay.delivery.causing_rows import CausingRows
from overlay.delivery.delivery import Position, row_at
from state.change_batch import I64

POSITION = Position(3, 7)


@dataclass
class Record:
    header: Header
    topic: I64 | None
    partition: I64
    offset: I64


def record(topics: list[str], topic: list[int] | None) -> Record:
    places = None if topic is None else np.array(topic, np.int64)
    return Record(Header("messages", 3, "v/0", topics=topics), places, np.array([0, 1, 0]), np.array([5, 6, 7]))


def at(topic: str, partition: int, offset: int) -> str:
    return f'{{"epoch":3,"batch":7,"topic":"{topic}","partition":{partition},"offset":{offset}}}'


def check(rows: CausingRows, packed: Record, said: list[str]) -> None:
    every = np.arange(3)
    assert rows.of(every) == said and [rows.one(i) for i in range(3)] == said
    assert rows.of(np.array([2, 0])) == [said[2], said[0]]
    places = zip(rows.starts(every).tolist(), packed.partition.tolist(), packed.offset.tolist(), strict=True)
    assert [row_at(*place) for place in places] == said


def test_of_a_table_it_is_the_topic_that_the_edge_knows() -> None:
    for topics in ([], ["t"], ["other"]):
        packed = record(topics, None)
        check(CausingRows(packed, POSITION, '"t"'), packed, [at("t", 0, 5), at("t", 1, 6), at("t", 0, 7)])


def test_of_a_view_each_row_says_its_own() -> None:
    packed = record(["a", 'b"'], [1, 0, 1])
    said = [at('b\\"', 0, 5), at("a", 1, 6), at('b\\"', 0, 7)]
    check(CausingRows(packed, POSITION, '""'), packed, said)
    packed = record(["a"], None)
    check(CausingRows(packed, POSITION, '""'), packed, [at("a", 0, 5), at("a", 1, 6), at("a", 0, 7)])
