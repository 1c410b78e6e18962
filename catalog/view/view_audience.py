"""Which audience a view has: that of the table whose rows it is made of, where it shows the columns that say so.

    offer                      'audience'='region:for_region'
    Map(id, for_region AS r)   region:r; a WHERE takes rows away from all alike
    GroupBy(by for_region)     region:for_region, since a group is made of rows for the same subscribers
    TopK(by for_region)        the same: who is first hangs on rows for the same subscribers

Of any other operator, and where such a column is not shown, a row may hang on rows that are not for whom it is told:
such a view of a table with an audience is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from sqlglot import exp

from catalog.schema.relation import Audience, Relation, audience_text
from catalog.schema.view import ColumnOf, GroupBy, Map, Operator, Stage, TopK
from catalog.view.refusals import Refusals

_HINT = (
    "A view of such rows shows all columns of the audience as they are, groups by them or has them behind PARTITION "
    "BY, and joins nothing: it has the same audience then. Or ask the table."
)


def with_audience(
    stages: Sequence[Stage], declared: Callable[[str], Relation | None], refuse: Refusals, query: exp.Expr
) -> tuple[Stage, ...]:
    """Return the stages of a view, the last with the audience of what it reads. Raises the text's error."""
    known: dict[str, Relation] = {}
    for stage in stages:
        inputs = [known.get(name) or declared(name) for name in stage.operator.inputs]
        chosen = [relation for relation in inputs if relation is not None and relation.audience]
        if not chosen:
            known[stage.relation.name] = stage.relation
            continue
        audience = _audience(stage.operator, chosen[0], stage.relation) if len(inputs) == 1 else ()
        if not audience:
            what = "the view does not show for whom the rows are that it is made of"
            said = f"Their audience is {audience_text(chosen[0].audience)}. {_HINT}"
            raise refuse.refusal("unsupported", what, query, said)
        known[stage.relation.name] = replace(stage.relation, audience=audience, null_range=chosen[0].null_range)
    last = stages[-1]
    return (*stages[:-1], replace(last, relation=known[last.relation.name]))


def _audience(operator: Operator, source: Relation, made: Relation) -> Audience:
    """Return the pairs of what an operator makes of `source`, () where it does not show all of their columns."""
    called = _called(operator, [column.name for column in made.columns])
    pairs = [(attribute, called[column]) for attribute, column in source.audience if column in called]
    return tuple(pairs) if len(pairs) == len(source.audience) else ()


def _called(operator: Operator, columns: Sequence[str]) -> dict[str, str]:
    """Return what columns of the input are called where all that a row is made of has the same value of them."""
    match operator:
        case Map():
            pairs = zip(operator.items, columns, strict=True)
            return {item.name: name for item, name in reversed([*pairs]) if isinstance(item, ColumnOf)}
        case GroupBy():
            return dict(zip(operator.by, columns, strict=False))
        case TopK():
            return {name: name for name in operator.by}
    return {}
