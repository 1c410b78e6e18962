"""One sequence over all topics of a cell."""

from tests.tidewire.verification.scratch import SCRATCH
from tidewire.verification.input.cell_ordering import CellSequence, cell_sequence, in_cell_order
from tidewire.verification.input.declared import Declared, Table
from tidewire.verification.input.declared_cells import Cell
from tidewire.verification.input.ordering import Sequence, Taken, by_bucket
from tidewire.verification.records.journal import Record

DDL = """CREATE TABLE a (id INTEGER PRIMARY KEY) WITH ('topic'='z');
CREATE TABLE b (id INTEGER PRIMARY KEY) WITH ('topic'='y', 'buckets'='2', 'bucket.by'='id')"""
TABLES = Declared([Record(0, 0, 0, None, DDL.encode())], scratch=SCRATCH).at(0)


def taken(table: Table, *records: tuple[int, int, int], batch: int = 0) -> list[Taken]:
    """Each record is (partition, offset, timestamp)."""
    return [Taken(table, batch, Record(p, offset, time, b"%d" % offset, b"{}")) for p, offset, time in records]


def places(records: list[Taken]) -> list[tuple[str, int, int]]:
    return [(one.table.topic, one.record.partition, one.record.offset) for one in records]


def test_the_running_maximum_then_the_topic_then_partition_and_offset_decide() -> None:
    a = taken(TABLES["a"], (0, 0, 5), (0, 1, 3), (1, 0, 5))
    b = taken(TABLES["b"], (0, 7, 5), (0, 8, 4), (1, 0, 6), (1, 1, 1))
    assert places(in_cell_order([*a, *b])) == [
        ("y", 0, 7), ("y", 0, 8), ("z", 0, 0), ("z", 0, 1), ("z", 1, 0), ("y", 1, 0), ("y", 1, 1),
    ]  # fmt: skip
    assert places(in_cell_order([*b, *a][::-1])) == places(in_cell_order([*a, *b])), "whatever order they come in"


def sequence(first: int) -> CellSequence:
    tables = {name: Sequence(3, table) for name, table in TABLES.items()}
    for batch in range(2):
        for name, table in TABLES.items():
            times = [9, 1] if name == "b" else [5, 5]
            records = [Record(0, 2 * batch + i, time, b"%d" % i, b"{}") for i, time in enumerate(times)]
            tables[name].add(batch, table, by_bucket(table, [records]))
    return cell_sequence(Cell(("a", "b"), 4), tables, first)


def test_seqs_and_positions_are_of_all_topics() -> None:
    made = sequence(first=0)
    assert [made.end_of(batch) for batch in (-1, 0, 1, 5)] == [0, 4, 8, 8]
    assert made.subject == ("JOIN a, b", 4) and made.epoch == 3
    assert places(made.taken) == [
        ("z", 0, 0), ("z", 0, 1), ("y", 0, 0), ("y", 0, 1), ("z", 0, 2), ("z", 0, 3), ("y", 0, 2), ("y", 0, 3),
    ]  # fmt: skip
    assert (made.seq_of("y", 0, 2), made.seq_of("z", 0, 2), made.seq_of("y", 1, 2)) == (7, 5, None)
    assert made.seqs == {"a": [1, 2, 5, 6], "b": [3, 4, 7, 8]}
    assert [made.tables["b"].end_of(batch) for batch in (0, 1)] == [2, 4]


def test_before_the_cell_tables_were_read_by_their_shards() -> None:
    """Bucket after bucket, as the one of b did; from its first batch on the cell takes them as they stand."""
    made = sequence(first=1)
    own = [place for place in places(made.taken) if place[0] == "y"]
    by_shard = [one.record.offset for one in sequence_of_b().taken[:2]]
    assert [offset for _, _, offset in own] == [*by_shard, 2, 3]


def sequence_of_b() -> Sequence:
    made = Sequence(3, TABLES["b"])
    made.add(0, TABLES["b"], by_bucket(TABLES["b"], [[Record(0, i, 1, b"%d" % i, b"{}") for i in range(2)]]))
    return made


def test_what_limits_a_table_limits_the_cell() -> None:
    tables = {name: Sequence(3, table) for name, table in TABLES.items()}
    tables["b"].leave_unread("no registry")
    made = cell_sequence(Cell(("a", "b"), 4), tables, 0)
    assert (made.limit, made.unread) == ("no registry", True)
