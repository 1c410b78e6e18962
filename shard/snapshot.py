"""What the registrations of a batch are answered with: a snapshot for each virtual edge that asked.

Answers that may be of any size, the members of a DISTINCT and rows, are made in order of versions and a
few at a time, until their virtual edges have been answered enough in this batch; the others are told `Later`. A version
that is registered twice in a batch is answered once, so that all that stands under a version in a batch is one answer,
be it in several pieces.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from catalog.query.best_shape import BestShape
from catalog.query.filter_shape import FilterShape
from catalog.query.shape import AnyShape, Region
from operators.answer import encoded_size
from operators.answer_quota import QUOTA, AnswerQuota
from operators.channel_kinds import is_unbounded
from operators.coded_terms import CodedRows
from operators.first_rows import FirstAnswers, FirstRows
from operators.operator import Answers
from operators.reply import PLAINLY, Asked, Later, Reply, Rows, reply_size
from shard.state import ShardState
from state.change_batch import I64

DIGEST_KEY = bytes(16)
"""What rows are hashed under where no topic of subscriptions has an identity."""
_FEW = 16
_AT_ONCE = 8_000_000
_MOST_AT_ONCE = 50_000
_BYTES_A_HIT = 8
"""What a row that meets a filter takes while answers are made, be it sent or not."""


@dataclass(slots=True)
class Snapshot:
    """Answers for one virtual edge: `answers` has at i that of the registration `version[i]`, unless `replies` has."""

    version: I64
    answers: Answers
    replies: dict[int, Reply] = field(default_factory=dict)

    @classmethod
    def of(cls, questions: Questions) -> Snapshot:
        """Return the snapshot in which questions, each asked once, are to be answered: what is refused is told."""
        version = np.array([version for version, _ in (*questions.regions, *questions.refused)], np.int64)
        nothing = Answers(np.zeros(len(version), np.int64), np.zeros(len(version), np.bool_), {})
        refused = enumerate((reply for _, reply in questions.refused), len(questions.regions))
        return cls(version, nothing, dict(refused))


@dataclass(slots=True)
class Questions:
    """What one virtual edge asks: regions to be answered, by version; and what is not to be, with the reply.

    asked: how rows are asked for, by version, where not plainly.
    """

    regions: list[tuple[int, Region]] = field(default_factory=list)
    refused: list[tuple[int, Reply]] = field(default_factory=list)
    asked: dict[int, Asked] = field(default_factory=dict)

    def once(self) -> Questions:
        """Return each version once, as it stands first, an answer before a refusal. Cost: 0.1 us a version."""
        taken, versions = len(self.regions), {version for version, _ in self.regions}
        every = versions.union(version for version, _ in self.refused)
        if len(every) == taken + len(self.refused):
            return self
        regions, refused = dict(reversed(self.regions)), dict(reversed(self.refused))
        return Questions(
            [(version, regions[version]) for version in dict.fromkeys(version for version, _ in self.regions)],
            [(version, refused[version]) for version in sorted(every - versions)],
            self.asked,
        )


def snapshots_of(
    state: ShardState,
    questions: Mapping[int, Questions],
    most: int,
    digest_key: bytes = DIGEST_KEY,
    quota: AnswerQuota = QUOTA,
) -> dict[int, Snapshot]:
    """Return the answers for each virtual edge, of about `most` bytes.

    Rows are hashed under `digest_key`; of one answer `quota` bounds them.

    Cost: what the answers cost (`Table.snapshot`, operators/first_rows.py).
    """
    snapshots: dict[int, Snapshot] = {}
    answer_filters = _filters(state, digest_key, quota)
    for ve, asked in sorted(questions.items()):
        answering = _Answering(state, asked.once(), answer_filters)
        most = answering.run(most)
        snapshots[ve] = answering.snapshot
    return snapshots


_AnswerFilters = Callable[[Sequence[Region], Sequence[Asked]], FirstAnswers]


def _filters(state: ShardState, digest_key: bytes, quota: AnswerQuota) -> _AnswerFilters:
    """Return what answers filters over the rows of `state`; nothing is made of these before the first is asked for."""
    made: list[FirstRows] = []

    def answers(regions: Sequence[Region], asked: Sequence[Asked]) -> FirstAnswers:
        if not made:
            made.append(FirstRows(CodedRows(state.relation, state.table.stored), digest_key, quota=quota))
        return made[0].answers(regions, asked)

    return answers


class _Answering:
    """The answers for one virtual edge as they are made."""

    def __init__(self, state: ShardState, questions: Questions, answer_filters: _AnswerFilters) -> None:
        self.snapshot = Snapshot.of(questions)
        self._regions = [region for _, region in questions.regions]
        self._asked = questions.asked
        self._state = state
        self._answer_filters = answer_filters

    def run(self, most: int) -> int:
        """Make the answers; return how many of `most` bytes they leave. As long as it is positive some are made."""
        regions = self._regions
        filters = {i for i, region in enumerate(regions) if isinstance(region.shape, FilterShape)}
        large = [i for i, region in enumerate(regions) if is_unbounded(region.shape)]
        best = [i for i, region in enumerate(regions) if isinstance(region.shape, BestShape)]
        besides = filters.union(large, best)
        self._of_ranges([i for i in range(len(regions)) if i not in besides] if besides else range(len(regions)))
        most = self._some_of(large, self._of_ranges, most)
        most = self._some_of(sorted(filters), self._of_filters, most)
        return self._some_of(best, self._of_first_rows, most)

    def _some_of(self, which: list[int], answer: Callable[[Sequence[int]], tuple[int, int]], most: int) -> int:
        """Answer a few of `which` at a time until `most` bytes are told, put off the others; return what is left."""
        which.sort(key=self.snapshot.version.__getitem__)
        done = size = weight = 0
        while done < len(which) and size < most:
            step = _FEW if not done else max(_FEW, _AT_ONCE * done // max(weight, 1))
            run = which[done : done + min(step, _MOST_AT_ONCE)]
            told, held = answer(run)
            size, weight, done = size + told, weight + held, done + len(run)
        self.snapshot.replies |= dict.fromkeys(which[done:], Later())
        return most - size

    def _of_ranges(self, which: Sequence[int]) -> tuple[int, int]:
        """Answer regions of ranges; return their bytes, for what is told and for what is held."""
        if not which:
            return 0, 0
        some = self._state.table.snapshot([self._regions[i] for i in which])
        places, answers = np.array(which), self.snapshot.answers
        answers.new[places], answers.has_new[places] = some.new, some.has_new
        answers.parts |= {which[i]: parts for i, parts in some.parts.items()}
        size = sum(map(encoded_size, some.parts.values()))
        return size, size

    def _of_first_rows(self, which: Sequence[int]) -> tuple[int, int]:
        """Answer regions of first rows; return their bytes, for what is told and for what is held."""
        alike: dict[AnyShape, list[int]] = {}
        for i in which:
            if self._regions[i].empty:
                self.snapshot.replies[i] = Rows(())
            else:
                alike.setdefault(self._regions[i].shape, []).append(i)
        for same in alike.values():
            found = self._state.table.first([self._regions[i] for i in same])
            self.snapshot.replies |= dict(zip(same, found, strict=True))
        size = sum(reply_size(self.snapshot.replies[i]) for i in which)
        return size, size

    def _of_filters(self, which: Sequence[int]) -> tuple[int, int]:
        """Answer filters; return their bytes, for what is told and for what is held."""
        asked = [self._asked.get(int(self.snapshot.version[i]), PLAINLY) for i in which]
        found = self._answer_filters([self._regions[i] for i in which], asked)
        size = 0
        for i, answer in zip(which, found.answers, strict=True):
            if isinstance(answer, tuple):
                self.snapshot.answers.parts[i] = answer
                size += encoded_size(answer)
            else:
                self.snapshot.replies[i] = answer
                size += reply_size(answer)
        return size + found.rows, size + _BYTES_A_HIT * found.rows
