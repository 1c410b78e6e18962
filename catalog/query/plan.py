"""A question resolved against a catalog, by one of three plans.

    SELECT                        WHERE                           plan
    aggregates                    `=`, and a range on one column  RangePlan     messages name whose answer is new
    COUNT, SUM, AVG alone         anything else                   FilterPlan    every change of the table is told once
    columns                       anything                        FilterPlan
    columns, ORDER BY and LIMIT   `=`, and a range on one column  BestPlan      messages name whose first rows are new

Which plan it is hangs on the template alone, never on the constants.
"""

from __future__ import annotations

from catalog.query.best_plan import BestPlan, make_best_plan
from catalog.query.condition_tree import conditions_of
from catalog.query.filter_plan import FilterPlan, make_filter_plan
from catalog.query.output import SUMS
from catalog.query.question import Question
from catalog.query.range_plan import RangePlan, make_range_plan
from catalog.query.resolution import relation_of
from catalog.schema.catalog import Catalog
from catalog.sql.statement_text import StatementText

Plan = RangePlan | FilterPlan | BestPlan
"""Each has `shape`, `columns`, `cost`, and `region(kinds, texts)`."""


def make_plan(catalog: Catalog, question: Question, text: StatementText) -> Plan:
    """Resolve the names of `question`.

    Raises SubscriptionError: `unknown_table`, `unknown_column`, `unsupported`, `unsupported_type`, `type_mismatch`.
    """
    relation = relation_of(catalog, question.table, text)
    if question.limit is not None:
        return make_best_plan(relation, question, text)
    if question.shown or _needs_rows(question):
        return make_filter_plan(relation, question, text)
    return make_range_plan(relation, question, text)


def _needs_rows(question: Question) -> bool:
    """Whether the condition is more than one range, for functions that need none."""
    if any(item.function not in SUMS for item in question.items):
        return False
    if not question.is_plain:
        return True
    conditions = list(conditions_of(question.condition))
    equal = {c.column.text for c in conditions if c.operator == "="}
    return len({c.column.text for c in conditions} - equal) > 1
