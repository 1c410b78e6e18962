"""How much may be told of rows at once: the whole of a bag, whoever asks for it.

A *whole* is what a subscription begins with, what it is told anew in an epoch where its rows have changed meanwhile,
and what a look at its rows finds. The shard makes all three, so it alone compares them with the quota and refuses what
is more: a new subscription is refused, a live one ends, a look is answered 413. Between two wholes a bag may grow as it
likes: nothing is kept of its rows.
"""

from __future__ import annotations

from dataclasses import dataclass

from operators.reply import Refused

CODE = "quota"
_HINT = (
    "Ask for fewer rows or columns, begin without them (SNAPSHOT NONE), or raise the settings `answer_rows` and "
    "`answer_bytes`."
)


@dataclass(frozen=True, slots=True)
class AnswerQuota:
    """At most so many rows, whose JSON texts have together at most so many bytes (`operators/projection.py` counts)."""

    rows: int = 100_000
    bytes: int = 16_000_000

    def why_not(self, rows: int, size: int) -> Refused | None:
        """Return why rows that have `size` bytes together are not told, None if they are."""
        if rows <= self.rows and size <= self.bytes:
            return None
        about = f"{rows:,} rows of {size:,} bytes meet it, expected at most {self.rows:,} of {self.bytes:,}"
        return Refused(CODE, about, _HINT)

    def beyond(self, rows: int, at_least: str = "") -> Refused:
        """Return why so many rows are not told, whatever their size; `at_least` stands before their number."""
        return Refused(CODE, f"{at_least}{rows:,} rows meet it, expected at most {self.rows:,}", _HINT)


QUOTA = AnswerQuota()
