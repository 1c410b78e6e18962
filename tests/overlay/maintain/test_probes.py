"""A message is asked for in every shape that has its channel, where somebody is in its group."""

from __future__ import annotations

import numpy as np
import pytest

from catalog.query.channel import Channel, channel_of
from catalog.query.shape import Output, Shape
from catalog.schema.relation import Column, Relation
from catalog.types.column_type import ColumnType, Kind
from operators.operator import Messages
from overlay.answers.answer_table import AnswerTable
from overlay.answers.shape_table import ShapeTable
from overlay.index.range_index import RangeIndex
from overlay.maintain.probes import Probes, probes

BIGINT, TEXT = ColumnType(Kind.BIGINT), ColumnType(Kind.VARCHAR)
TABLE = Relation("t", (Column("k", TEXT, False), Column("v", BIGINT)), ("k",), "t")
LEAST, COUNT = Output("min", "v"), Output("count", None)


def messages(channels: list[Channel], which: list[int], group: list[int], words: tuple[str, ...] = ()) -> Messages:
    m = len(which)
    nothing, no = np.zeros(m, np.int64), np.zeros(m, np.bool_)
    return Messages(
        channels, [b"a", b"b"], np.zeros(m, np.int32), np.array(which, np.int32), np.array(group, np.int32),
        nothing, nothing, no, nothing, no, nothing - 1, nothing, nothing - 1, nothing - 1, texts=list(words),
    )  # fmt: skip


def all_probes(messages: Messages, shapes: ShapeTable, index: RangeIndex, most: int = 100) -> Probes:
    parts = list(probes(messages, shapes, index, most))
    assert all(len(part.message) <= most for part in parts)
    message, group = (np.concatenate([getattr(p, name) for p in parts]) for name in ("message", "group"))
    return Probes(message, group, np.concatenate([part.bounds for part in parts], axis=1))


@pytest.mark.parametrize("most", [1, 3, 4, 100])
def test_a_message_is_paired_with_each_shape_that_has_somebody_in_its_group(most: int) -> None:
    shapes, answers = ShapeTable(), AnswerTable()
    index = RangeIndex(answers)
    one = shapes.enter(Shape("t", (LEAST,), ("k",), None), TABLE, [BIGINT])
    two = shapes.enter(Shape("t", (LEAST, COUNT), ("k",), None), TABLE, [BIGINT, None])
    zeros = np.zeros(3, np.int64)
    numbers = np.array([one.number, two.number, two.number])
    index.insert(np.arange(3), shapes.domains(numbers), [b"a", b"a", b"b"], numbers, zeros, zeros)
    least, rows = two.plan.channels
    nobody = channel_of("t", "max", "v", ("k",), None)
    heard = all_probes(messages([least, nobody, rows], [0, 1, 2, 0], [0, 0, 1, 1]), shapes, index, most)
    in_a, in_b = (index.groups.number(two.domain, group, two.number) for group in (b"a", b"b"))
    assert heard.message.tolist() == [0, 0, 2, 3]
    assert set(heard.group.tolist()[:2]) == {index.groups.number(one.domain, b"a", one.number), in_a}
    assert heard.group.tolist()[2:] == [in_b, in_b]
    assert heard.bounds.tolist() == [[-1] * 4, [0] * 4, [-1] * 4, [-1] * 4]


def test_nobody_hears_nothing() -> None:
    channel = channel_of("t", "rows", None, (), None)
    assert not list(probes(messages([channel], [0, 0], [0, 1]), ShapeTable(), RangeIndex(AnswerTable()), 100))
    assert not list(probes(messages([], [], []), ShapeTable(), RangeIndex(AnswerTable()), 100))


def test_cuts_at_texts_become_labels_of_the_shape() -> None:
    shapes, answers = ShapeTable(), AnswerTable()
    index = RangeIndex(answers)
    entry = shapes.enter(Shape("t", (COUNT,), (), "k"), TABLE, [None])
    answers.bound(0, b"x", b"z")
    zeros, number = np.zeros(1, np.int64), np.array([entry.number])
    index.insert(zeros, shapes.domains(number), [b"a"], number, zeros, zeros)
    heard = all_probes(messages(list(entry.plan.channels), [0], [0], ("y",)), shapes, index)
    message, slot = index.query(heard.group, *heard.bounds)
    assert (message.tolist(), slot.tolist()) == ([0], [0])
