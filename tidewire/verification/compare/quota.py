"""How large a DISTINCT may get, as documented: what is beyond ends its subscription, and the row is not told."""

from __future__ import annotations

import json

from tidewire.verification.recompute.answers import Answers, SetAnswers

VALUES = 100_000
TEXT_BYTES = 4_000_000


def first_over(answers: Answers, begin: int, end: int) -> int | None:
    """Return the first seq in (begin, end] at which the answer is too large, None if there is none.

    *Cost*: O(1) where no answer of this history can be.
    """
    if not isinstance(answers, SetAnswers) or not _can_be(answers):
        return None
    count, size = len(answers.at(begin)), sum(map(_size, answers.at(begin)))
    for step in answers.steps(begin, end):
        count += len(step.after) - len(step.before)
        size += sum(map(_size, step.after)) - sum(map(_size, step.before))
        if count > VALUES or size > TEXT_BYTES:
            return step.seq
    return None


def _can_be(answers: SetAnswers) -> bool:
    return len(answers.measure.shown) > VALUES or sum(map(_size, answers.measure.shown)) > TEXT_BYTES


def _size(value: object) -> int:
    """Return the bytes of a text in JSON, with what parts it from the next one; other values are short."""
    return len(json.dumps(value, ensure_ascii=False).encode()) + 1 if isinstance(value, str) else 0
