"""What the registrations of a batch for joins are answered with: a snapshot for each virtual edge that asked.

Answers are made join by join, of all virtual edges together, since what many regions ask is found at once
(`operators/first_joined_rows.py`): in order of versions and some at a time, until enough has been told or done in this
batch; the others are told `Later`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from catalog.query.shape import Region
from catalog.schema.catalog import Catalog
from catalog.schema.join import join_of_name
from operators.answer_quota import AnswerQuota
from operators.coded_terms import CodedRows
from operators.first_joined_rows import FirstJoinedRows
from operators.join_rows import JoinRows, numbers_of
from operators.reply import PLAINLY, Asked, Later, Reply, reply_size
from shard.cell import CellState
from shard.snapshot import Questions, Snapshot

MOST_WORK = 10_000_000
"""Joined rows that are made in one batch, about: 10 to 30 s of a core at most."""
_FEW = 16
_AT_ONCE = 8_000_000
_WORK_AT_ONCE = 2_000_000
_MOST_AT_ONCE = 50_000
_BYTES_A_HIT = 8
"""What a joined row that meets a region takes while answers are made, be it sent or not."""


@dataclass(slots=True)
class _Left:
    """What may still be told and done in the batch."""

    bytes: int
    work: int

    @property
    def some(self) -> bool:
        return self.bytes > 0 and self.work > 0


@dataclass(frozen=True, slots=True)
class _Question:
    """One region to be answered: for which virtual edge, under which version, and how it is asked for."""

    version: int
    ve: int
    place: int
    region: Region
    asked: Asked


def cell_snapshots(
    cell: CellState, catalog: Catalog, questions: Mapping[int, Questions], most: int, digest_key: bytes,
    quota: AnswerQuota, most_work: int = MOST_WORK,
) -> dict[int, Snapshot]:  # fmt: skip
    """Return the answers for each virtual edge, of about `most` bytes in all, by the rows as they are.

    Rows are hashed under `digest_key`; of one answer `quota` bounds them.
    Cost: what first rows of joins cost; for each join that is asked for, the keys of all rows (`JoinRows`).
    """
    once = {ve: asked.once() for ve, asked in sorted(questions.items())}
    snapshots = {ve: Snapshot.of(asked) for ve, asked in once.items()}
    tables = {table: CodedRows(copy.relation, copy.table.stored) for table, copy in cell.sources.items()}
    left = _Left(most, most_work)
    for name, asked in sorted(_by_join(once).items()):
        first_rows = _first_rows(cell, catalog, name, tables, digest_key, quota)
        for question, reply in zip(asked, _replies(first_rows, asked, left), strict=True):
            snapshots[question.ve].replies[question.place] = reply
    return snapshots


def _by_join(questions: Mapping[int, Questions]) -> dict[str, list[_Question]]:
    """Part what is asked by the join; that of one join in order of versions."""
    found: dict[str, list[_Question]] = {}
    for ve, asked in questions.items():
        for place, (version, region) in enumerate(asked.regions):
            how = asked.asked.get(version, PLAINLY)
            found.setdefault(region.shape.relation, []).append(_Question(version, ve, place, region, how))
    for alike in found.values():
        alike.sort(key=lambda question: (question.version, question.ve))
    return found


def _first_rows(
    cell: CellState, catalog: Catalog, name: str, tables: Mapping[str, CodedRows], digest_key: bytes, quota: AnswerQuota
) -> FirstJoinedRows:
    """Return what answers filters of one join. Cost: the keys of all its tables' rows."""
    join, relation = join_of_name(name), catalog.relation(name)
    assert join is not None and relation is not None, f"{name} was registered"
    sources = cell.sources
    views = {table: sources[table].table.still() for table in join.tables}
    return FirstJoinedRows(relation, join, tables, JoinRows(join, numbers_of(join, views)), digest_key, quota)


def _replies(first_rows: FirstJoinedRows, asked: Sequence[_Question], left: _Left) -> list[Reply]:
    """Return the replies to questions, as many as may be told, the others put off; `left` is brought up to date."""
    replies: list[Reply] = []
    size = weight = work = 0
    while len(replies) < len(asked) and left.some:
        done = len(replies)
        step = min(_AT_ONCE * done // max(weight, 1), _WORK_AT_ONCE * done // max(work, 1), _MOST_AT_ONCE)
        run = asked[done : done + (max(step, 1) if done else _FEW)]
        before = first_rows.work
        found = first_rows.answers([each.region for each in run], [each.asked for each in run])
        told = [answer for answer in found.answers if not isinstance(answer, tuple)]
        assert len(told) == len(run), "a join has rows, no totals"
        replies += told
        size = sum(map(reply_size, told))
        weight += size + _BYTES_A_HIT * found.rows
        work += first_rows.work - before
        left.bytes -= size + found.rows
        left.work -= first_rows.work - before
    return replies + [Later()] * (len(asked) - len(replies))
