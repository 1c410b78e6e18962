"""The views of a group in one batch: which of their stages are needed, and what the tables' changes do to these.

    prepare   before registrations: what is listened to or asked has its rows, as they stand before the batch
    settle    behind them: what nobody needs any more loses its rows
    advance   changes of tables become changes of stages, one stage after the other, cause by cause

A stage is needed while somebody listens to it, while it is written to a topic, while questions join it in a cell, or
while one that is needed reads it. It has no rows otherwise, and costs nothing; they are made of what it reads when they
are needed, be it that the view was created on a table that has rows, that its first subscription comes, or that it is
computed in another way than the version of before did. But a Fold, over a stream, is always needed: its rows could not
be made (`folds.py`).
Cost: for each stage what its operator says; the rows of a stage that becomes needed O(n log n).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from hashlib import blake2b

import numpy as np

from catalog.schema.placed_stage import PlacedStage
from catalog.schema.view import STAGE_PREFIX
from operators.channel_binding import KeptOrder
from operators.views.operators import operator_of
from operators.views.view_operator import Input, ViewOperator
from shard.folds import Folds
from shard.group import Group
from shard.moved import Moved
from shard.state import ShardState
from shard.written_rows import row_keys

_PLAN_BYTES = 16
_MADE = 1
"""How operators make rows and their keys; raised where one makes them otherwise, lest those of before are kept."""
_NO_CAUSE = np.zeros(0, np.int32)
Orderings = Callable[[str], Set[KeptOrder]]
"""Returns what a member keeps for others than views."""


def no_others(_member: str) -> Set[KeptOrder]:
    """Say that views alone want orderings of a table, besides its channels."""
    return set()


class Views:
    """The stages of `group`, each behind those that it reads.

    others: what orderings a table of the group has to keep for others than the views.  held: the stages that are needed
    whoever listens to them.
    """

    def __init__(
        self, stages: Sequence[PlacedStage], group: Group, others: Orderings = no_others, held: Collection[str] = ()
    ) -> None:
        self.stages = stages
        self._group = group
        self._others = others
        self._held = held
        self._needed: set[str] = set()
        self._operators: dict[str, ViewOperator] = {}
        self.folds = Folds(stages, group)
        self._plans = _plans(stages)
        self.wanted: Mapping[str, Set[KeptOrder]] = {}
        self.changed: set[str] = set()
        """The stages that got or lost their rows in the batch."""

    def prepare(self, asked: Collection[bytes | None]) -> None:
        """Begin the batch of each stage that is needed, `asked` ones (keys of registrations) too, and fill it."""
        self._need(asked)
        for stage in self._running():
            if stage.member in self.folds.stages.passed:
                continue
            member = self._group[stage.member]
            member.begin()
            if not member.filled and stage.member in self.folds.stages.folds:
                self.folds.begin(stage, self._operator(stage), self._plans[stage.member])
            elif not member.filled:
                inputs = [self._still(name) for name in stage.inputs]
                member.fill(self._operator(stage).rows(inputs), self._plans[stage.member])
                self.changed.add(stage.member)

    def settle(self) -> None:
        """Let go of what registrations have left without need."""
        self._need(())

    def served(self) -> Iterator[PlacedStage]:
        """Yield the stages that can be asked and have their rows, or have just lost them."""
        for stage in self.stages:
            if stage.served and (stage.member in self._needed or stage.member in self.changed):
                yield stage

    def inner(self, stage: PlacedStage) -> list[ShardState]:
        """Return the members that have the inner stages of the view of which `stage` is the last."""
        found, pending = list[ShardState](), list(stage.inputs)
        inner = {each.member: each for each in self.stages if each.relation.name.startswith(STAGE_PREFIX)}
        while pending:
            one = inner.pop(pending.pop(), None)
            if one is not None:
                found.append(self._group[one.member])
                pending += one.inputs
        return found

    def unneeded(self) -> Counter[str]:
        """Return how many stages read each member that nobody needs now. Cost: 0.1 us a stage."""
        return Counter(name for stage in self.stages if stage.member not in self._needed for name in stage.inputs)

    def needs(self, stage: PlacedStage) -> bool:
        """Whether a stage has its rows now."""
        return stage.member in self._needed

    def advance(self, moved: dict[str, Moved]) -> None:
        """Put the changes of stages, which are to be taken over by their tables, to those of tables in `moved`."""
        for stage in self._running():
            if stage.member in self.folds.stages.passed | self.folds.stages.folds:
                self._come(stage, moved)
                continue
            given = [moved.get(name) for name in stage.inputs]
            first = next(filter(None, given), None)
            if first is None:
                continue
            inputs = [
                self._still(name) if one is None else Input(one.view, one.cause)
                for name, one in zip(stage.inputs, given, strict=True)
            ]
            changes = self._operator(stage).changes(inputs)
            if len(changes):
                view = self._group[stage.member].table.replay(changes)
                moved[stage.member] = Moved(changes, view, changes.cause, first.causes)
        for name in self.folds.stages.passed:
            moved.pop(name, None)

    def _come(self, stage: PlacedStage, moved: dict[str, Moved]) -> None:
        """Let the rows of a stream pass a stage, or be folded."""
        taken_by = self.folds.passed if stage.member in self.folds.stages.passed else self.folds.folded
        made = taken_by(stage, self._operator(stage), moved)
        if made is not None:
            moved[stage.member] = made

    def arrange(self) -> None:
        """Let each table that stages read keep the orderings that the needed ones want, and no others.

        Cost: O(rows log rows) for each ordering that is new.
        """
        wanted: dict[str, set[KeptOrder]] = {name: set() for stage in self.stages for name in stage.inputs}
        for stage in self._running():
            for name, needed in zip(stage.inputs, self._operator(stage).needs(), strict=True):
                wanted[name].update(needed)
        for name, orderings in wanted.items():
            if name in self._needed or self._group.is_open(name):
                self._group[name].table.order_by(orderings | self._others(name))
        self.wanted = wanted

    def _need(self, asked: Collection[bytes | None]) -> None:
        """Find out which stages are needed; take from the others, and from those made otherwise, what rows they have.

        A stage may have rows that were needed in the batch before alone: by a view that was dropped since.
        """
        needed = {
            stage.member
            for stage in self.stages
            if stage.served and (_is_wanted(self._group[stage.member]) or stage.member.encode() in asked)
        }
        needed |= self.folds.stages.folds | set(self._held)
        for stage in reversed(self.stages):
            if stage.member in needed:
                needed.update(stage.inputs)
        self._needed = needed
        for stage in self.stages:
            member = self._group[stage.member]
            if member.filled and (stage.member not in needed or member.plan != self._plans[stage.member]):
                if member.writing:
                    member.rewrite(True, [key.decode() for key in row_keys(member.table.still())])
                member.empty()
                self.changed ^= {stage.member}
        self.arrange()

    def _running(self) -> Iterator[PlacedStage]:
        return (stage for stage in self.stages if stage.member in self._needed)

    def _operator(self, stage: PlacedStage) -> ViewOperator:
        if stage.member not in self._operators:
            self._operators[stage.member] = operator_of(stage.stage, stage.relations)
        return self._operators[stage.member]

    def _still(self, name: str) -> Input:
        return Input(self._group[name].table.still(), _NO_CAUSE)


def _is_wanted(member: ShardState) -> bool:
    """Whether somebody listens to a view, or reads its topic."""
    return bool(member.listeners) or member.writing


def _plans(stages: Sequence[PlacedStage]) -> dict[str, bytes]:
    """Return by stage what tells rows that were made otherwise: a digest of the operator and of all that it reads."""
    plans: dict[str, bytes] = {}
    for stage in stages:
        reads = zip(stage.inputs, stage.relations, strict=True)
        read = [plans.get(name, (relation.name, relation.born)) for name, relation in reads]
        said = repr((_MADE, stage.stage.operator, read)).encode()
        plans[stage.member] = blake2b(said, digest_size=_PLAN_BYTES).digest()
    return plans
