from __future__ import annotations

from operators.counters import Counters
from shard.cell import CellState
from shard.cell_batch import Told, advance
from shard.order import order
from tests.shard.cell_stack import TOPICS, raw
from tests.shard.test_cell_register import GROUP, region, stack_of


def cell_of(*edges: int) -> CellState:
    """Four rows of a and four of b, all of key 1; the edges follow those whose a.x is up to 3. Nothing was told yet."""
    stack = stack_of()
    for ve in edges:
        stack.register(GROUP, ve, [1], [region(0, 3)])
    stack.run()
    cell = stack.cell(GROUP)
    cell.begin()
    cell.seq, cell.counters = -1, Counters()
    return cell


def row(id: int, k: int, x: int = 0) -> bytes:
    return b'{"id":%d,"k":%d,"x":%d}' % (id, k, x)


def run(cell: CellState, **topics: list[tuple[int, int, bytes | None, int]]) -> Told:
    """Take records of each topic: partition, id, value and time; in each partition offsets are 100, 110 and so on."""
    pieces = []
    for topic, records in topics.items():
        for partition in {record[0] for record in records}:
            mine = [(b'{"id":%d}' % id, value, stamp) for p, id, value, stamp in records if p == partition]
            pieces.append(raw(topic, partition, [(100 + 10 * i, record) for i, record in enumerate(mine)]))
    return advance(cell, order(pieces, TOPICS.registrations, {"a", "b"}), frozenset(), 3)


def test_changes_of_all_topics_are_numbered_by_the_places_of_their_records():
    cell = cell_of(1)
    [(timeline, who)] = run(
        cell,
        a=[(0, 0, row(0, 1, 3), 10), (0, 1, b"{", 11), (1, 2, row(2, 1, 9), 12), (0, 3, None, 14)],
        b=[(0, 0, row(0, 2), 13), (0, 7, row(7, 1), 15)],
    )
    assert who == [1] and (timeline.number.tolist(), timeline.cause.tolist()) == ([0, 1, 2, 3, 4],) * 2
    assert timeline.table.tolist() == [0, 0, 1, 0, 1] and timeline.topics == ["a", "b"]
    places = [*zip(timeline.topic.tolist(), timeline.partition.tolist(), timeline.offset.tolist(), strict=True)]
    assert places == [(0, 0, 100), (0, 1, 100), (1, 0, 100), (0, 0, 120), (1, 0, 110)], "not what could not be read"
    assert cell.seq == 4 and timeline.seq.tolist() == [0, 1, 2, 3, 4]


def test_what_nobody_needs_has_numbers_and_is_counted_as_kept_from_edges():
    cell = cell_of(0, 2)
    [(timeline, who)] = run(cell, a=[(0, 0, row(0, 1, 2), 10), (0, 9, row(9, 5), 11)])
    assert who == [0, 2] and timeline.number.tolist() == [0]
    counters = cell.counters
    assert (counters.messages, counters.suppressed, counters.routed, cell.seq) == (2, 1, 2, 1)
    assert counters.shipped == 2 * sum(map(len, timeline.rows)) == 2 * (2 + 4)


def test_a_cell_that_nobody_asks_of_takes_the_rows_all_the_same():
    cell = cell_of()
    assert run(cell, b=[(0, 9, row(9, 1), 10), (0, 0, None, 11)]) == []
    assert (cell.rows, cell.seq, cell.counters.suppressed) == (8, 1, 2)
    cell.copies["b"].table.check()


def test_no_rows_no_changes():
    cell = cell_of(0)
    assert run(cell) == [] and run(cell, a=[(0, 1, b"{", 10)]) == [] and cell.seq == -1
