"""A question resolved against a catalog, by one of four plans.

    SELECT                        WHERE                           plan
    aggregates                    `=`, and a range on one column  RangePlan     messages name whose answer is new
    COUNT, SUM, AVG alone         anything else                   FilterPlan    every change of the table is told once
    columns                       anything                        FilterPlan
    columns of a join             anything of one table each      FilterPlan    of the relation that the join is
    columns, ORDER BY and LIMIT   `=`, and a range on one column  BestPlan      messages name whose first rows are new

A table with an audience is asked by the second and third of these alone, whatever the condition (`audience.py`).

Which plan it is hangs on the template alone, never on the constants.
"""

from __future__ import annotations

from catalog.query.audience import with_audience
from catalog.query.best_plan import BestPlan, make_best_plan
from catalog.query.condition_tree import conditions_of
from catalog.query.filter_plan import FilterPlan, make_filter_plan
from catalog.query.join_plan import join_scope, make_join_plan
from catalog.query.output import SUMS
from catalog.query.question import Question
from catalog.query.range_plan import RangePlan, make_range_plan
from catalog.query.resolution import TableScope, relation_of
from catalog.schema.catalog import Catalog
from catalog.sql.statement_text import StatementText
from catalog.types.column_type import ColumnType

Plan = RangePlan | FilterPlan | BestPlan
"""Each has `shape`, `columns`, `cost`, and `region(kinds, texts)`."""


def make_plan(catalog: Catalog, question: Question, text: StatementText) -> Plan:
    """Resolve the names of `question`.

    Raises SubscriptionError: `unknown_table`, `unknown_column`, `unsupported`, `unsupported_type`, `type_mismatch`.
    """
    if question.joined:
        return make_join_plan(catalog, question, text)
    relation = relation_of(catalog, question.table, text)
    question = with_audience(relation, question, text)
    if question.limit is not None:
        return make_best_plan(relation, question, text)
    if question.shown or relation.audience or _needs_rows(question):
        return make_filter_plan(TableScope(relation, text), question, text)
    return make_range_plan(relation, question, text)


def compared_types(catalog: Catalog, question: Question, text: StatementText) -> list[ColumnType]:
    """Return the type of the column that each operand is compared with, of a question that has a plan."""
    if question.joined:
        scope, _ = join_scope(catalog, question, text)
        return [scope.column(name).type for name in question.compared]
    relation = relation_of(catalog, question.table, text)
    question = with_audience(relation, question, text)
    return [relation.column(name.text).type for name in question.compared]


def _needs_rows(question: Question) -> bool:
    """Whether the condition is more than one range, for functions that need none."""
    if any(item.function not in SUMS for item in question.items):
        return False
    if not question.is_plain:
        return True
    conditions = list(conditions_of(question.condition))
    equal = {c.column.text for c in conditions if c.operator == "="}
    return len({c.column.text for c in conditions} - equal) > 1
