"""Views as relations: rows that a query makes of the rows of tables and of other views.

    CREATE VIEW cheap AS
      SELECT flight, fare + tax AS total FROM seat WHERE open
      QUALIFY ROW_NUMBER() OVER (PARTITION BY dest ORDER BY fare, flight) <= 3

    stage/cheap/0   Map(seat: flight, fare + tax, dest, fare; where open)         columns flight total dest fare
    stage/cheap/1   TopK(stage/cheap/0: by dest, fare then flight, 3)
    cheap           Map(stage/cheap/1: flight, total)

A view is a chain of *stages*, the last of which has its name. Each is a relation with one operator over one or two
others, and is computed where these are (`operators/views/`): what a stage changes is the next one's input in the same
batch, cause by cause. So whatever reads a relation reads a view, and views of views are nothing new.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from catalog.schema.cell import cell_name
from catalog.schema.relation import Relation
from catalog.sql.names import quoted
from catalog.types.column_type import ColumnType

STAGE_PREFIX = "stage/"
"""What names of stages begin with, and of tables and views may not."""


@dataclass(frozen=True, slots=True)
class ColumnOf:
    """A column of the stage's input."""

    name: str
    type: ColumnType


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal: its order code, or its text where the type has no codes; None is NULL."""

    value: int | str | None
    type: ColumnType


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`left op right`, op one of + - *; NULL where a side is. Exact unless `type` is DOUBLE, wide enough for any.

    A DOUBLE that is not finite, beyond all doubles or no number, is NULL.
    """

    op: str
    left: Expression
    right: Expression
    type: ColumnType


@dataclass(frozen=True, slots=True)
class Coalesce:
    """The first operand that is not NULL, as a value of `type`."""

    operands: tuple[Expression, ...]
    type: ColumnType


@dataclass(frozen=True, slots=True)
class Truncated:
    """DATE_TRUNC of a TIMESTAMP; `unit` is minute, hour or day."""

    unit: str
    operand: Expression
    type: ColumnType


Expression = ColumnOf | Constant | Arithmetic | Coalesce | Truncated
"""What is computed of one row. `-x` is 0 - x."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """`left op right`, op one of = <> < <= > >=; numbers of different types compare exactly."""

    op: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Among:
    """`operand IN (values)`; with `negated` NOT IN. No value is NULL."""

    operand: Expression
    values: tuple[Constant, ...]
    negated: bool


@dataclass(frozen=True, slots=True)
class IsNull:
    """`operand IS NULL`; with `negated` IS NOT NULL."""

    operand: Expression
    negated: bool


Condition = Comparison | Among | IsNull
"""A row passes where it is true; neither false nor NULL."""


@dataclass(frozen=True, slots=True)
class OfOne:
    """What operators of one input have."""

    input: str

    @property
    def inputs(self) -> tuple[str, ...]:
        """The relations that are read."""
        return (self.input,)


@dataclass(frozen=True, slots=True)
class Map(OfOne):
    """The rows of one input that pass all of `where`, as `items` of them. The key is the input's."""

    items: tuple[Expression, ...]
    where: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class Aggregate:
    """COUNT (of rows where `column` is None), SUM, AVG, MIN, MAX, or LATEST: of the row with the greatest (by, key).

    Where the input's relation has no `key`, the greatest of the values of `column` in the rows with the greatest `by`,
    NULL being the least. A SUM beyond all doubles is NULL.
    """

    kind: str
    column: str | None
    type: ColumnType
    by: str | None = None


@dataclass(frozen=True, slots=True)
class GroupBy(OfOne):
    """One row a group that has rows: its values of `by`, NULL being one of them, then the aggregates.

    Without `by` there is always one row. The key is the group.
    """

    by: tuple[str, ...]
    aggregates: tuple[Aggregate, ...]


@dataclass(frozen=True, slots=True)
class Fold(OfOne):
    """As GroupBy, of the rows of a stream, which nobody stores: a row of it holds what the next event needs.

    So an AVG has SUM and COUNT of the same column among the aggregates, which are exact, and a LATEST has MAX of its
    `by`. `by` is never empty. What only serves others is left out by the Map behind it.
    """

    by: tuple[str, ...]
    aggregates: tuple[Aggregate, ...]


@dataclass(frozen=True, slots=True)
class By:
    """A column of an ORDER BY."""

    column: str
    descending: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True)
class TopK(OfOne):
    """The first `k` rows of each group of equal `by` (NULL being a value), in `order`, in which no rows are equal.

    With `ranked` a last column, BIGINT, has the place from 1 on. The key is the input's.
    """

    by: tuple[str, ...]
    order: tuple[By, ...]
    k: int
    ranked: bool


@dataclass(frozen=True, slots=True)
class Joined:
    """Pairs of rows of `left` and `right` whose columns `equal` are; columns of the left one, then of the right one.

    With `outer`, a left row without partner stands with NULLs. With `lookup` at most one right row has each key of
    `equal`, and the left row's key is the pair's; else it is both (and the left one's with null where there is none).
    """

    left: str
    right: str
    equal: tuple[tuple[str, str], ...]
    outer: bool
    lookup: bool

    @property
    def inputs(self) -> tuple[str, ...]:
        """The relations that are read."""
        return (self.left, self.right)


@dataclass(frozen=True, slots=True)
class Union:
    """The rows of all inputs, which have the same types by position. The key is (place of the input, its key)."""

    inputs: tuple[str, ...]


Operator = Map | GroupBy | Fold | TopK | Joined | Union


@dataclass(frozen=True, slots=True)
class Stage:
    """One step of a view: the relation that it makes, and how.

    The relation has no topic. Its `key` names the columns that tell its rows apart, where it has them all; () where it
    has not, or where that is the group of a GROUP BY without columns. Rows are known by canonical bytes in any case.
    """

    relation: Relation
    operator: Operator


@dataclass(frozen=True, slots=True)
class View:
    """A declared view. `stages` are in the order in which they are computed, the last is the view itself.

    sql: its query, canonical, as CREATE VIEW has it and DuckDB takes it.  reads: the tables and views that it names.
    tables: those that it reads through all views, sorted.  born: the catalog version that created it.
    topic: where its rows are written (`view_topic.py`); '' where nowhere.
    """

    name: str
    sql: str
    reads: tuple[str, ...]
    tables: tuple[str, ...]
    stages: tuple[Stage, ...]
    born: int
    topic: str = ""

    @property
    def relation(self) -> Relation:
        """What the last stage makes, under the view's name."""
        return self.stages[-1].relation

    @property
    def cell(self) -> str:
        """The name of the cell that it is computed in; '' where that is done in the shards of its one table."""
        return cell_name(self.tables) if len(self.tables) > 1 else ""


def create_view(view: View) -> str:
    """Return the statement that declares a view."""
    option = f" WITH ('topic'='{view.topic}')" if view.topic else ""
    return f"CREATE VIEW {quoted(view.name)}{option} AS {view.sql}"


def stage_name(view: str, number: int) -> str:
    """Return what stage `number` of a view is called, if it is not the last."""
    return f"{STAGE_PREFIX}{quote(view, safe='')}/{number}"
