"""Range questions over one relation: rows change, and the ranges whose answers change are named.

A subscription is `SELECT <outputs> FROM r WHERE e1 = .. AND e2 = .. AND x BETWEEN lo AND hi`; without its constants it
is a shape, which is made from channels (query/shape.py). Nothing is kept here: rows and orderings are a table's
(shard/tables.py), and a batch is a view of them (operators/batch_view.py), in which every change has the version that
it found and the one that it left, and every version its slot in each ordering:

    channels   min, max       one A2B-tree runs through the changes that touch it   range_extremum.py
               distinct       the same with a constant, value by value              range_distinct.py
               rows, values   at most three rectangles a change                     range_sums.py
    merge      the messages of all channels by cause                                message_merge.py

Channels that compare the same columns share an ordering and its layout; MIN and MAX of one measure are two trees.
A row with NULL in an equality column or in x meets nobody; one with NULL in y is in the ordering, not in the tree.
Texts and wide decimals that a channel orders by have ranks within a batch (state/row_store.py); messages have texts.

Source: Interface paper, 2.4 (S-CN) and 3.1. Checked against tests/oracle/naive_range_questions.py.
Cost of a batch of m changes on n rows: O(n) to lay out; per change and channel what the modules say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from catalog.query.channel import Channel
from catalog.query.shape import AnyShape, Region, Shape
from operators.answer import Part
from operators.batch_view import BatchView
from operators.channel_binding import ChannelBinding, ChannelError
from operators.channel_kind import RangeKind
from operators.channel_kinds import answered_by, is_plain, kind_of
from operators.message_merge import MessageMerge
from operators.operator import Answers, Messages

Bindings = Mapping[Channel, ChannelBinding]
"""The channels listened to, in canonical order."""
_Asked = tuple[Channel, RangeKind]


def messages(view: BatchView, bindings: Bindings) -> Messages:
    """Return the messages that the changes of `view` cause for the channels of `bindings`.

    Messages of one change are adjacent; no message is about a range whose answer does not change. A change to an
    identical row causes none. Cost: see the module's header.
    """
    merge = MessageMerge(view, list(bindings.values()))
    for number, bound in enumerate(bindings.values()):
        kind = kind_of(bound.channel)
        for found in kind.find(view, bound) if isinstance(kind, RangeKind) else ():
            merge.add(number, found)
    return merge.messages()


def snapshot(view: BatchView, bindings: Bindings, regions: Sequence[Region]) -> Answers:
    """Return the answers of `regions` of ranges over the rows of `view`, which has no changes.

    Cost: O(n) for each channel among them, 2 us for each region and channel (DISTINCT: range_distinct.py).
    Raises ChannelError for a region with a channel that is not among `bindings`.
    """
    answers = Answers(np.zeros(len(regions), np.int64), np.zeros(len(regions), np.bool_), {})
    shapes = dict.fromkeys(region.shape for region in regions)
    ranges = [shape for shape in shapes if isinstance(shape, Shape)]
    kinds: dict[AnyShape, tuple[_Asked, ...]] = {shape: answered_by(shape) for shape in ranges}
    plain = {shape for shape in ranges if _is_plain(view, shape)}
    asked: dict[_Asked, list[int]] = {}
    for i, region in enumerate(regions):
        for one in kinds[region.shape] if not region.empty else ():
            asked.setdefault(one, []).append(i)
    parts: dict[_Asked, dict[int, Part]] = {}
    for one, which in asked.items():
        channel, kind = one
        if channel not in bindings:
            raise ChannelError(f"channel `{channel.key}` is not listened to; call `listen` before `snapshot`")
        shaped = np.array([regions[i].shape in plain for i in which], np.bool_)
        parts[one] = _answer(view, bindings[channel], kind, regions, which, shaped, answers)
    for i, region in enumerate(regions):
        if region.shape not in plain:
            answers.parts[i] = tuple(one[1].nothing if region.empty else parts[one][i] for one in kinds[region.shape])
    return answers


def _is_plain(view: BatchView, shape: Shape) -> bool:
    column = shape.outputs[0].column
    known = column is not None and any(column == each.name for each in view.relation.columns)
    return is_plain(shape, known and view.relation.column(column or "").type.coded)


def _answer(
    view: BatchView, bound: ChannelBinding, kind: RangeKind, regions: Sequence[Region], which: list[int],
    plain: np.ndarray, answers: Answers,
) -> dict[int, Part]:  # fmt: skip
    """Write one channel's answers of the regions `which` into `answers` where `plain`; return the others."""
    places = view.places(bound.order, [regions[i] for i in which])
    numbers = np.array(which)
    if kind.codes is None or not plain.any():
        return dict(zip(which, kind.parts(view, bound, places), strict=True))
    new, there = kind.codes(view, bound, places.at(plain))
    answers.new[numbers[plain]], answers.has_new[numbers[plain]] = new, there
    parts = kind.parts(view, bound, places.at(~plain)) if not plain.all() else []
    return dict(zip(numbers[~plain].tolist(), parts, strict=True))
