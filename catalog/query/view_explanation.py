"""What a view is computed by, for a person: its stages and those of the views below, and where that is done."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from catalog.schema.catalog import Catalog
from catalog.schema.placed_stage import home_of
from catalog.schema.view import By, Fold, GroupBy, Joined, Map, Operator, TopK, Union, View
from catalog.sql.names import quoted


class ExplainedStage(msgspec.Struct, frozen=True):
    """One step.

    name: of what it makes, a view where it is the last of one.  made: what of.  again: it is a step of a view that is
    computed elsewhere for those who ask that view itself.
    """

    name: str
    made: str
    again: bool


class ViewExplanation(msgspec.Struct, frozen=True):
    """The query of a view, the groups in which it is computed (a cell, or shards of its one table), and all steps.

    topic: where its rows are written, None where nowhere.
    """

    sql: str
    groups: list[str]
    stages: list[ExplainedStage]
    topic: str | None = None


def explain_view(catalog: Catalog, view: View) -> ViewExplanation:
    """Return the facts about a view, the steps in the order in which they are taken."""
    groups = [view.cell] if view.cell else list(catalog.relations[view.tables[0]].shards)
    stages = explained_stages(catalog, home_of(view), [view])
    return ViewExplanation(view.sql, groups, stages, view.topic or None)


def explained_stages(catalog: Catalog, group: str, views: Sequence[View]) -> list[ExplainedStage]:
    """Return all steps by which views are computed in a group."""
    return [
        ExplainedStage(stage.relation.name, made_of(stage.operator), home_of(each) != group)
        for each in catalog.views_below(*views)
        for stage in each.stages
    ]


def made_of(operator: Operator) -> str:
    """Return what an operator makes of what.

    >>> made_of(GroupBy("seat", ("dest",), ()))
    'groups of seat by dest'
    """
    match operator:
        case Map():
            return f"{_number(len(operator.where), 'condition')} on rows of {operator.input}"
        case GroupBy() | Fold():
            by = f" by {', '.join(operator.by)}" if operator.by else ", all rows one"
            kinds = [f"{each.kind} of {each.column or '*'}" for each in operator.aggregates]
            return "; ".join([f"groups of {operator.input}{by}", *kinds])
        case TopK():
            by = f" of each {', '.join(operator.by)}" if operator.by else ""
            return f"the first {operator.k} rows of {operator.input}{by}, by {', '.join(map(_ordered, operator.order))}"
        case Joined():
            equal = " and ".join(f"{left} = {right}" for left, right in operator.equal)
            kept = ", and rows without partner" if operator.outer else ""
            return f"pairs of {operator.left} and {operator.right} where {equal}{kept}"
        case Union():
            return f"all rows of {', '.join(operator.inputs)}"


def _number(count: int, word: str) -> str:
    return f"{count or 'no'} {word}{'s' * (count != 1)}"


def _ordered(by: By) -> str:
    return f"{quoted(by.column)}{' DESC' * by.descending}"
