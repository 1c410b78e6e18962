from tests.tidewire.verification.input.test_declared import declared
from tidewire.verification.input.ordering import Sequence
from tidewire.verification.input.rows import Rows
from tidewire.verification.records.journal import Record

ITEM = "CREATE TABLE t (id INT PRIMARY KEY, doc VARCHAR) WITH ('format'='debezium-json')"
SAME = b"__debezium_unavailable_value"


def walked(*batches: list[tuple[bytes | None, bytes | None]], ddl: str = ITEM, limit: str | None = None):
    table = declared(ddl).at(0)["t"]
    sequence, offset = Sequence(0, table, limit=limit), 0
    for number, pairs in enumerate(batches):
        records = [Record(0, offset + i, 0, key, value) for i, (key, value) in enumerate(pairs)]
        offset += len(pairs)
        sequence.add(number, table, records)
    rows = Rows()
    steps = [(seq, row.pk, row.values if row.live else None) for seq, row in rows.steps(sequence)]
    return steps, [dead for _, dead in rows.verdicts(sequence)]


def put(id: int, doc: bytes, lsn: int) -> tuple[bytes, bytes]:
    key = b'{"id":%d}' % id
    return key, b'{"op":"c","after":{"id":%d,"doc":"%s"},"source":{"lsn":%d}}' % (id, doc, lsn)


def gone(id: int, lsn: int) -> tuple[bytes, bytes]:
    return b'{"id":%d}' % id, b'{"op":"d","source":{"lsn":%d}}' % lsn


def test_a_value_moves_with_its_row() -> None:
    steps, dead = walked([put(1, b"long", 1)], [gone(1, 2), (b'{"id":1}', None)], [put(2, SAME, 2)])
    assert steps[-1] == (4, '["2"]', ["2", "long"]) and dead == [False] * 4
    before, _ = walked([put(1, b"long", 1)], [put(2, SAME, 2), gone(1, 2)])
    assert before[-2:] == [(2, '["2"]', ["2", "long"]), (3, '["1"]', None)]


def test_a_truncate_deletes_all_at_once() -> None:
    steps, _ = walked([put(1, b"a", 1), put(2, b"b", 2), (None, b'{"op":"t"}')])
    assert steps[2:] == [(3, '["1"]', None), (3, '["2"]', None)]


def test_a_value_that_nobody_has_is_a_dead_letter_unless_the_beginning_is_gone() -> None:
    assert walked([put(1, SAME, 1)])[1] == [True]
    assert walked([put(1, SAME, 1)], limit="trimmed")[1] == [None]


def test_what_is_published_again_does_nothing() -> None:
    def source(lsn: int) -> bytes:
        return rb'"source":{"connector":"postgresql","name":"x","sequence":"[null,\"%d\"]","ts_us":%d}}' % (lsn, lsn)

    def move(old: int, new: int, lsn: int) -> list[tuple[bytes, bytes | None]]:
        after = b'{"op":"c","after":{"id":%d,"doc":"%s"},' % (new, SAME)
        gone = b'{"id":%d}' % old
        return [(gone, b'{"op":"d",' + source(lsn)), (gone, None), (b'{"id":%d}' % new, after + source(lsn))]

    again = [*move(5, 7, 3), *move(6, 5, 4)]
    steps, dead = walked([put(5, b"a", 1), put(6, b"b", 2)], again, again)
    held = {pk: values for _, pk, values in steps if values is not None}
    assert held['["7"]'] == ["7", "a"] and held['["5"]'] == ["5", "b"] and not any(dead)
    assert {seq for seq, _, _ in steps if seq > 8} == {12, 13, 14}


def test_what_nobody_can_read_is_not_judged() -> None:
    table = declared(ITEM.replace("debezium-json'", "protobuf', 'schema'='registry'")).at(0)["t"]
    sequence = Sequence(0, table)
    sequence.leave_unread("nobody says by which schemas")
    sequence.add(0, table, [Record(0, 0, 0, None, b"1,x")])
    assert [dead for _, dead in Rows().verdicts(sequence)] == [None]


def test_lines_are_rows_by_themselves() -> None:
    lines = [(None, b"1,x"), (b"1", b"1,"), (b"1", b"2,y"), (b"1", None), (None, b"3")]
    steps, dead = walked(lines, ddl=ITEM.replace("debezium-json", "csv"))
    assert dead == [False, False, True, False, False]
    assert steps == [
        (1, '["1"]', ["1", "x"]), (2, '["1"]', ["1", None]), (4, '["1"]', None), (5, '["3"]', ["3", None]),
    ]  # fmt: skip
