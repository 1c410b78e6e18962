"""What is kept of single slots, and that its records make the same table again."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay.answers.answer import ListAnswer, SetAnswer, part_of, parts_of
from overlay.answers.answer_table import MAX_MEMBER_BYTES, AnswerTable, _Stored, list_records


def again(records: list[tuple[int, bytes]], dropped: tuple[int, ...] = ()) -> AnswerTable:
    table = AnswerTable()
    for slot, record in records:
        table.put(slot, record)
    for slot in dropped:
        table.drop(slot)
    return table


def test_bounds_are_kept_from_the_start() -> None:
    table = AnswerTable()
    table.bound(3, b"a", b"\xff")
    assert table.bounds(3) == (b"a", b"\xff") and table.bounds(4) is None and table.answer(3) is None
    table.start(
        3,
        (
            (1, 0),
            None,
        ),
    )
    assert list(again(table.changed()).all()) == list(table.all())
    assert again(list(table.all())).bounds(3) == (b"a", b"\xff")
    assert table.changed() == []


def test_what_was_told_last_is_kept_with_the_answer() -> None:
    table = AnswerTable()
    kept = table.start(0, ((2, 7),))
    kept.answer, kept.untold_changes = ((3, 9),), 4
    table.touch(0)
    kept = again(table.changed()).of(0)
    assert (kept.answer, kept.last_told, kept.untold_changes) == (((3, 9),), (2, 7), 4)


@given(
    st.lists(st.none() | st.text(max_size=3) | st.tuples(st.integers(), st.integers()), min_size=1, max_size=3),
    st.integers(0, 2**40),
)
def test_aggregates_are_written_as_their_parts_are(states: list, untold: int) -> None:
    table = AnswerTable()
    kept = table.start(0, tuple(states))
    kept.untold_changes = untold
    last = None if states[0] is None else part_of(states[0])
    ((_, record),) = table.all()
    assert record == msgspec.msgpack.encode(_Stored(True, None, parts_of(tuple(states)), last, untold))


def test_a_dropped_slot_writes_nothing_and_may_be_used_again() -> None:
    table = AnswerTable()
    table.start(0, SetAnswer({1}))
    table.drop(0)
    table.drop(1)
    assert table.changed() == [] and 0 not in table and len(table) == 0
    table.start(0, SetAnswer({2}))
    assert [slot for slot, _ in table.changed()] == [0]


@given(st.lists(st.tuples(st.sampled_from([None, 1, 2, 3]), st.booleans()), max_size=12))
def test_differences_of_members_add_up(steps: list[tuple[int | None, bool]]) -> None:
    table = AnswerTable()
    members = SetAnswer({1, 2})
    table.start(7, members)
    records = table.changed()
    for value, asked in steps:
        came = value not in members
        members.turn(value, came)
        table.note(7, value, came)
        if asked:
            records += table.changed()
    records += table.changed()
    assert list(again(records).all()) == list(table.all())
    assert list(again([*records, *records[-1:]]).all()) == list(table.all())


def records_of(rows: list[bytes], bounds: tuple[bytes, bytes] | None = None) -> list[tuple[int, bytes]]:
    return [(7, record) for record in list_records(bounds, rows)]


def test_a_long_list_is_kept_in_several_records_of_which_none_is_too_long() -> None:
    rows = [b"%03d" % i + bytes(30_000) for i in range(100)]
    records = records_of(rows, (b"a", b"b"))
    assert len(records) == 4 and all(len(record) <= MAX_MEMBER_BYTES + 100 for _, record in records)
    for read in (records, [*records, *records], [*records, records[-1]]):
        kept = again(read).of(7)
        assert kept.answer == rows and isinstance(kept.answer, ListAnswer) and kept.bounds == (b"a", b"b")
    with pytest.raises(ValueError, match="rows from place"):
        again([records[0], records[2]])


def test_a_list_that_has_become_shorter_leaves_nothing_of_what_it_was() -> None:
    records = records_of([bytes(30_000)] * 100) + records_of([bytes(30_000)])
    assert again(records).answer(7) == [bytes(30_000)]
    records += records_of([])
    assert again(records).answer(7) == [] and isinstance(again(records).answer(7), ListAnswer)


def test_lists_that_were_read_are_taken_and_only_bounds_stay() -> None:
    table = again([*records_of([b"a"], (b"x", b"y")), (8, records_of([])[0][1])])
    assert table.taken_lists() == {7: [b"a"], 8: []}
    assert table.taken_lists() == {} and 8 not in table and table.bounds(7) == (b"x", b"y")


def test_lists_are_stored_as_they_were_when_they_were_kept_one_by_one() -> None:
    rows, bounds = [b"\x92\x01\xa1a", b"\x92\xc0\xa1b"], (b"a", b"b\x00")
    with_bounds = (
        b"\x99\xc3\x92\xc4\x01a\xc4\x02b\x00\xc0\xc0\x00\x90\x90\x92\xc4\x04\x92\x01\xa1a\xc4\x04\x92\xc0\xa1b\x00"
    )
    without = b"\x99\xc3\xc0\xc0\xc0\x00\x90\x90\x91\xc4\x02\x91\x05\x00"
    assert list(list_records(bounds, rows)) == [with_bounds]
    assert list(list_records(None, [b"\x91\x05"])) == [without]
    assert list(list_records(None, [])) == [b"\x99\xc3\xc0\xc0\xc0\x00\x90\x90\x90\x00"]
    read = again([(7, with_bounds), (8, without)])
    assert (read.bounds(7), read.answer(7), read.answer(8)) == (bounds, rows, [b"\x91\x05"])
