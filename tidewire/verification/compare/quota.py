"""How large a DISTINCT may get, and a delivery of rows: what is beyond ends its subscription, and the row is not told.

A bag of rows may be of any size; only what is told of it at once is bounded: the whole in a new epoch, and a change,
which may end the subscription or be told in parts.
"""

from __future__ import annotations

import json

from tidewire.verification.recompute.answers import Answers, SetAnswers
from tidewire.verification.recompute.bag_answers import Bag, BagAnswers

VALUES = 100_000
TEXT_BYTES = 4_000_000
ROWS = 100_000
ROW_BYTES = 16_000_000
_FEW = 16
"""Rows that no record of a publication has the bytes for to be too much together: one is of 1 MB at most."""


def first_over(answers: Answers, begin: int, end: int) -> int | None:
    """Return the first seq in (begin, end] at which the answer is too large, None if there is none.

    *Cost*: O(1) where no answer of this history can be; O(rows that went or came) for rows.
    """
    if isinstance(answers, BagAnswers):
        return next((s.seq for s in answers.steps(begin, end) if _is_too_much(answers, s.before + s.after)), None)
    if not isinstance(answers, SetAnswers) or not _can_be(answers):
        return None
    count, size = len(answers.at(begin)), sum(map(_size, answers.at(begin)))
    for step in answers.steps(begin, end):
        count += len(step.after) - len(step.before)
        size += sum(map(_size, step.after)) - sum(map(_size, step.before))
        if count > VALUES or size > TEXT_BYTES:
            return step.seq
    return None


def whole_is_over(answers: Answers, seq: int) -> bool:
    """Whether all rows after the record `seq` are too many to be told at once."""
    return isinstance(answers, BagAnswers) and _is_too_much(answers, answers.at(seq))


def _is_too_much(answers: BagAnswers, rows: Bag) -> bool:
    if rows.total() < _FEW:
        return False
    count, size = answers.size_of(rows)
    return count > ROWS or size > ROW_BYTES


def _can_be(answers: SetAnswers) -> bool:
    return len(answers.measure.shown) > VALUES or sum(map(_size, answers.measure.shown)) > TEXT_BYTES


def _size(value: object) -> int:
    """Return the bytes of a text in JSON, with what parts it from the next one; other values are short."""
    return len(json.dumps(value, ensure_ascii=False).encode()) + 1 if isinstance(value, str) else 0
