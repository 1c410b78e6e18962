"""What is kept of single slots, and that its records make the same table again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from overlay.answers.answer import SetAnswer
from overlay.answers.answer_table import AnswerTable


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
