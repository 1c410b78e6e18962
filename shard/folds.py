"""The stages of views over a stream: those that its rows pass, and the folds, whose rows are all that is kept of them.

    trade/0             a stream: rows that count, of one batch
    stage/hourly/0/0    a Map, which they pass: it is made of a batch's rows alone, and keeps none
    stage/hourly/1/0    a Fold: its rows cannot be made again, so it has them from the creation of its view on
    hourly/0            what is behind it is made of its rows, as of a table's

A fold that is created when rows were read takes whole windows alone: the first is one that begins behind the greatest
event time so far. So does one that is made otherwise than before. Rows of windows before it are counted (`unfolded`).

Rows whose window had ended `keep` ago before the batch are deleted in it, if it has a row that counts: the last one is
their cause. So no window goes in the batch in which it ends, whose answers are told to be final behind all changes, nor
because of a row that is the cause of something before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from catalog.schema.placed_stage import PlacedStage
from catalog.schema.stream import WINDOWS, Closing
from catalog.schema.view import Fold
from operators.batch_view import BatchView
from operators.views.fold import FoldRows
from operators.views.made_changes import with_deletes
from operators.views.view_operator import Input, ViewOperator
from operators.wire.header import NO_HORIZON
from shard.group import Group
from shard.horizon import Horizon
from shard.moved import Moved
from shard.state import ShardState
from shard.tables import Table
from state.byte_table import ByteTable, Strings
from state.change_batch import I64, ChangeBatch


@dataclass(frozen=True, slots=True)
class StreamStages:
    """Which of a group's stages are over streams. streams: by stage the members of those below it, sorted.

    passed: the stages that rows pass.  folds: the folds behind them. Both are of one stream.
    """

    streams: Mapping[str, tuple[str, ...]]
    passed: frozenset[str]
    folds: frozenset[str]

    @classmethod
    def of(cls, stages: Sequence[PlacedStage]) -> StreamStages:
        """Look through the stages of a group, each of which stands behind those that it reads."""
        streams, passed, folds = dict[str, tuple[str, ...]](), set[str](), set[str]()
        for stage in stages:
            below = set[str]()
            for relation, name in zip(stage.relations, stage.inputs, strict=True):
                below |= {name} if relation.stream is not None else {*streams.get(name, ())}
                if isinstance(stage.stage.operator, Fold):
                    folds.add(stage.member)
                elif relation.stream is not None or name in passed:
                    passed.add(stage.member)
            if below:
                streams[stage.member] = tuple(sorted(below))
        return cls(streams, frozenset(passed), frozenset(folds))


class Folds:
    """The stages over streams of a group in one batch, which begins: `before` is by stream how far it is by then."""

    def __init__(self, stages: Sequence[PlacedStage], group: Group) -> None:
        self.stages = StreamStages.of(stages)
        self._group = group
        streams = {name for names in self.stages.streams.values() for name in names}
        self.before = {name: self._reached(name) for name in sorted(streams)}

    def upto_before(self, member: str) -> int:
        """Return how far the event time below a member was complete before the batch, NO_HORIZON where nowhere."""
        return min((self.before[name] for name in self.stages.streams.get(member, ())), default=NO_HORIZON)

    def upto(self, member: str) -> int:
        """Return how far it is complete now: up to where all streams below are."""
        return min((self._reached(name) for name in self.stages.streams.get(member, ())), default=NO_HORIZON)

    def _reached(self, stream: str) -> int:
        horizon = self._group[stream].horizon
        return NO_HORIZON if horizon is None else horizon.upto

    def begin(self, stage: PlacedStage, operator: ViewOperator, plan: bytes) -> None:
        """Let a fold be there without rows, and say from which window on it takes those of its stream."""
        member = self._group[stage.member]
        nothing = [
            Input(self._group[name].table.still(), np.zeros(0, np.int32)) for name in (*stage.inputs, stage.member)
        ]
        member.fill(operator.rows(nothing), plan)
        (stream,) = self.stages.streams[stage.member]
        horizon, closing = self._group[stream].horizon, stage.relation.closing
        if horizon is not None and horizon.furthest != NO_HORIZON and closing is not None:
            unit = WINDOWS[closing.unit]
            member.first_window = (horizon.furthest // unit + 1) * unit

    def passed(self, stage: PlacedStage, operator: ViewOperator, moved: Mapping[str, Moved]) -> Moved | None:
        """Return what becomes of the rows of a batch, None where there are none. Cost: as the operator."""
        given = moved.get(stage.inputs[0])
        if given is None:
            return None
        changes = operator.changes([Input(given.view, given.cause)])
        return Moved(changes, Table(stage.relation).pass_by(changes), changes.cause, given.causes)

    def folded(self, stage: PlacedStage, operator: ViewOperator, moved: Mapping[str, Moved]) -> Moved | None:
        """Return what the rows of a batch, and the end of windows, do to a fold, None where that is nothing.

        Cost: as `FoldRows.fold`; O(groups) where windows are deleted.
        """
        assert isinstance(operator, FoldRows)
        (stream,) = self.stages.streams[stage.member]
        member, given = self._group[stage.member], moved.get(stage.inputs[0])
        horizon, own = self._group[stream].horizon, member.table.still()
        if horizon is None or stream not in moved:
            return None
        causes, nothing = moved[stream].causes, Input(own, np.zeros(0, np.int32))
        if given is not None:
            changes = operator.fold(Input(given.view, given.cause), own, _taken(stage, member, given, horizon))
        else:
            changes = operator.rows([Input(self._group[stage.inputs[0]].table.still(), nothing.cause), nothing])
        last = _last_gone(stage.relation.closing, self.before[stream])
        if last is not None and (member.last_gone is None or last > member.last_gone):
            assert stage.relation.closing is not None
            at, member.last_gone = stage.relation.index(stage.relation.closing.column), last
            changes = with_deletes(changes, _ended(own, changes, at, last), int(moved[stream].cause[-1]))
        if not len(changes):
            return None
        return Moved(changes, member.table.replay(changes), changes.cause, causes)


def _last_gone(closing: Closing | None, upto: int) -> int | None:
    """Return the start of the last window that is kept no more, None where all are."""
    if closing is None or closing.held is None or upto == NO_HORIZON:
        return None
    return (upto - closing.held) // WINDOWS[closing.unit] * WINDOWS[closing.unit]


def _taken(stage: PlacedStage, member: ShardState, given: Moved, horizon: Horizon) -> I64:
    """Return the changes that a fold takes; the others are counted."""
    replay, closing = given.view.replay, stage.relation.closing
    taken = np.flatnonzero(replay.after >= 0)
    if member.first_window is None or closing is None:
        return taken
    operator = stage.stage.operator
    assert isinstance(operator, Fold)
    column = given.view.relation.index(operator.by[stage.relation.index(closing.column)])
    whole = replay.codes[column][replay.after[taken]] >= member.first_window
    horizon.unfolded += int((~whole).sum())
    return taken[whole]


def _ended(own: BatchView, changes: ChangeBatch, at: int, limit: int) -> Strings:
    """Return the keys of the rows, stored or new, whose window begins at `limit` or before."""
    stored = np.flatnonzero(own.replay.codes[at] <= limit)
    keys = Strings.of(changes.keys)
    fresh = np.flatnonzero((changes.codes[at] <= limit) & (own.rows.find(keys) < 0))
    table = ByteTable()
    table.intern(keys.take(fresh))
    return own.rows.keys_of(stored).then(table.strings)
