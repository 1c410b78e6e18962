"""The order rule, and what cannot be known when input is gone."""

import json

from tests.tidewire.verification.simulated_engine import DDL
from tidewire.verification.input.declared import Declared
from tidewire.verification.input.ordering import in_order, sequences, slice_of
from tidewire.verification.input.registry_schemas import Told
from tidewire.verification.records.batches import Batches
from tidewire.verification.records.journal import Record, TopicLog


def record(partition: int, offset: int, timestamp: int) -> Record:
    return Record(partition, offset, timestamp, b"1", None)


def places(records: list[Record]) -> list[tuple[int, int]]:
    return [(r.partition, r.offset) for r in records]


def test_the_running_maximum_decides_and_offsets_never_change_places() -> None:
    one = [record(0, 0, 10), record(0, 1, 3), record(0, 2, 11)]
    other = [record(1, 0, 9), record(1, 1, 10), record(1, 2, 12)]
    assert places(in_order([one, other])) == [(1, 0), (0, 0), (0, 1), (1, 1), (0, 2), (1, 2)]
    assert in_order([]) == []


def batches(*ends: int, start: int = 0) -> Batches:
    cuts = [start, *ends]
    bodies = [
        {"epoch": 1, "batch": i, "catalog": 0, "start": {"points": {"0": cuts[i]}}, "end": {"points": {"0": end}}}
        for i, end in enumerate(ends)
    ]
    return Batches([Record(0, i, 0, None, json.dumps(body).encode()) for i, body in enumerate(bodies)])


def log(count: int, begin: int = 0) -> TopicLog:
    made = TopicLog.of("points", [record(0, offset, offset) for offset in range(count)], 1)
    made.records[0], made.begin[0] = made.records[0][begin:], begin
    return made


DECLARED = Declared([Record(0, 0, 0, None, DDL.encode())])


def test_seqs_positions_and_places() -> None:
    [sequence] = sequences(DECLARED, batches(2, 2, 5), {"points": log(7)}, Told()).values()
    assert [sequence.end_of(b) for b in (-1, 0, 1, 2, 9)] == [0, 2, 2, 5, 5]
    assert [taken.batch for taken in sequence.taken] == [0, 0, 2, 2, 2]
    assert (sequence.seq_of("points", 0, 3), sequence.seq_of("points", 0, 5), sequence.limit) == (4, None, None)


def test_an_epoch_that_passes_over_records_began_with_what_they_made() -> None:
    [sequence] = sequences(DECLARED, batches(5, 6, start=3), {"points": log(7)}, Told()).values()
    assert [sequence.end_of(b) for b in (-2, -1, 0, 1)] == [0, 3, 5, 6]
    assert sequence.limit is None


def test_an_epoch_that_begins_where_the_topic_does_began_empty() -> None:
    [sequence] = sequences(DECLARED, batches(5, 6, start=3), {"points": log(7, begin=3)}, Told()).values()
    assert [sequence.end_of(b) for b in (-1, 0, 1)] == [0, 2, 3]
    assert sequence.limit is None


def test_how_many_partitions_the_topic_had_is_known_by_batch() -> None:
    bodies = [{"epoch": 1, "batch": i, "catalog": 0, "start": {}, "end": {"points": end}}
              for i, end in enumerate([{"0": 1}, {"0": 2, "1": 0}])]  # fmt: skip
    told = Batches([Record(0, i, 0, None, json.dumps(body).encode()) for i, body in enumerate(bodies)])
    [sequence] = sequences(DECLARED, told, {"points": log(1)}, Told()).values()
    assert [taken.partitions for taken in sequence.taken] == [1, 2]


def test_limits_name_what_is_gone() -> None:
    def limit(log: TopicLog) -> str:
        [sequence] = sequences(DECLARED, batches(3, 5), {"points": log}, Told()).values()
        return sequence.limit or ""

    assert "nothing before offset 2" in limit(log(7, begin=2))
    assert "ends at 4, but was read up to 5" in limit(log(4))
    assert "ends at 0" in limit(TopicLog("points"))
    holes = log(7)
    del holes.records[0][1]
    assert limit(holes) == "", "a transaction's marker takes an offset too"
    holes.compacted = True
    assert "is compacted and has lost records between 0 and 3" in limit(holes)


def test_slices_are_by_offset_not_by_place() -> None:
    holes = log(6, begin=2)
    assert places(slice_of(holes, 0, 0, 4)) == [(0, 2), (0, 3)]
    assert slice_of(holes, 7, 0, 4) == []
