"""Answers of a DISTINCT: a JSON array of its values, NULL first, then in order. Cost: O(n log n) for n values."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from overlay.answers.answer import SetAnswer, Value
from overlay.answers.answer_layout import AnswerLayout
from overlay.answers.answer_text import sorted_texts

_NOTHING: frozenset[Value] = frozenset()


class SetLayout(AnswerLayout[SetAnswer]):
    """How values are written; a change says which went and which came."""

    def differ(self, old: SetAnswer, new: SetAnswer) -> bool:
        """Whether a value is in one only."""
        return old != new

    def text(self, answer: SetAnswer) -> str:
        """Return all values as a JSON array."""
        return self._values_text(answer)

    def body(self, old: SetAnswer | None, new: SetAnswer | None) -> str:
        """Return what a delivery says of a change, as members of its JSON object; None: nothing was, or is, told."""
        before, after = old or _NOTHING, new or _NOTHING
        return self.difference(before - after, after - before)

    def difference(self, removed: AbstractSet[Value], added: AbstractSet[Value]) -> str:
        """Return what a delivery says of values that went and came."""
        return f'"removed":{self._values_text(removed)},"added":{self._values_text(added)}'

    def _values_text(self, values: AbstractSet[Value]) -> str:
        return f"[{','.join(sorted_texts(values, self.types[0], self.readers[0].text))}]"
