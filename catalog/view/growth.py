"""How the rows of a relation may change: whether rows come and go, and what may become of a row while it stands.

A row is what has one key; of a table that is its primary key, of a stream its place in the topic. A view of a stream

    SELECT issue, MAX(price) AS high, COUNT(*) AS n FROM quote GROUP BY issue

    rows RISES        issue FIXED      high RISES FILLS      n RISES, never negative

gets rows and loses none; so an alert on `n > 1000` is never taken back, and one on `n = 1000` is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Flag, auto

from catalog.schema.relation import Relation
from catalog.view.moves import ANY, FIXED, MOVES, RISES, Moves


class Signs(Flag):
    """Which numbers a column may hold besides 0 and NULL."""

    NEGATIVE = auto()
    POSITIVE = auto()

    @property
    def mirrored(self) -> Signs:
        """Those of -x."""
        return Signs(0) if not self else self if self == EITHER else EITHER & ~self


NEGATIVE, POSITIVE = Signs
EITHER = NEGATIVE | POSITIVE


@dataclass(frozen=True, slots=True)
class ColumnGrowth:
    """What may become of one value: `moves` of it, the `signs` of all that it can be, and whether it may be NULL.

    For moves the least value is less than all others, and NULL is neither less nor greater: it fills and empties.
    """

    moves: Moves = FIXED
    signs: Signs = EITHER
    nullable: bool = True


@dataclass(frozen=True, slots=True)
class Growth:
    """What may become of the rows of a relation, and of each column of a row, by name."""

    rows: Moves
    columns: Mapping[str, ColumnGrowth]


def declared_growth(relation: Relation, append_only: bool) -> Growth:
    """Return how a declared relation grows: a stream gets rows that stay as they are, a table may change at will."""
    columns = {
        each.name: ColumnGrowth(FIXED if append_only or each.name in relation.key else ANY, nullable=each.nullable)
        for each in relation.columns
    }
    return Growth(RISES if append_only else MOVES, columns)
