"""How large a DISTINCT may get, and a delivery of rows: what is beyond ends its subscription, and the row is not told.

A bag of rows may be of any size; only what is told of it at once is bounded: the whole in a new epoch, and a change,
which may end the subscription or be told in parts.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from tidewire.verification.recompute.answers import Answers, SetAnswers
from tidewire.verification.recompute.bag_answers import Bag, BagAnswers

VALUES = 100_000
TEXT_BYTES = 4_000_000
_LONGEST_ROW = 1_000_000
"""Bytes; no publication is longer."""


@dataclass(frozen=True, slots=True)
class RowQuota:
    """How many rows, of how many bytes, may be told at once: the settings `answer_rows` and `answer_bytes`."""

    rows: int = 100_000
    bytes: int = 16_000_000


QUOTA = RowQuota()


def first_over(answers: Answers, begin: int, end: int, quota: RowQuota = QUOTA) -> int | None:
    """Return the first seq in (begin, end] at which the answer is too large, None if there is none.

    *Cost*: O(1) where no answer of this history can be; O(rows that went or came) for rows.
    """
    if isinstance(answers, BagAnswers):
        return next(
            (s.seq for s in answers.steps(begin, end) if _is_too_much(answers, s.before + s.after, quota)), None
        )
    if not isinstance(answers, SetAnswers) or not _can_be(answers):
        return None
    count, size = len(answers.at(begin)), sum(map(_size, answers.at(begin)))
    for step in answers.steps(begin, end):
        count += len(step.after) - len(step.before)
        size += sum(map(_size, step.after)) - sum(map(_size, step.before))
        if count > VALUES or size > TEXT_BYTES:
            return step.seq
    return None


def whole_is_over(answers: Answers, seq: int, quota: RowQuota = QUOTA) -> bool:
    """Whether all rows after the record `seq` are too many to be told at once."""
    return isinstance(answers, BagAnswers) and _is_too_much(answers, answers.at(seq), quota)


def _is_too_much(answers: BagAnswers, rows: Bag, quota: RowQuota) -> bool:
    if rows.total() <= min(quota.rows, quota.bytes // _LONGEST_ROW):
        return False
    count, size = answers.size_of(rows)
    return count > quota.rows or size > quota.bytes


def _can_be(answers: SetAnswers) -> bool:
    return len(answers.measure.shown) > VALUES or sum(map(_size, answers.measure.shown)) > TEXT_BYTES


def _size(value: object) -> int:
    """Return the bytes of a text in JSON, with what parts it from the next one; other values are short."""
    return len(json.dumps(value, ensure_ascii=False).encode()) + 1 if isinstance(value, str) else 0
