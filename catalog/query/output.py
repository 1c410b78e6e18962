"""What one item of a SELECT list computes."""

from __future__ import annotations

import msgspec

COUNTS = ("count", "count_distinct")
"""Functions whose outputs are numbers of rows or of values: never NULL."""
SUMS = ("count", "sum", "avg")
"""Functions whose answers are totals over rows: they need no range, only to know which rows come and go."""
FUNCTIONS = ("min", "max", "sum", "avg", "distinct", *COUNTS)
"""What an output may compute."""


class Output(msgspec.Struct, frozen=True, order=True, array_like=True):
    """One item of the SELECT list: `function` is one of FUNCTIONS; `column` None is COUNT(*)."""

    function: str
    column: str | None
