"""Which operator makes a stage: one line a kind."""

from __future__ import annotations

from collections.abc import Sequence

from catalog.schema.relation import Relation
from catalog.schema.view import Fold, GroupBy, Joined, Map, Stage, TopK, Union
from operators.views.fold import FoldRows
from operators.views.group_by import GroupRows
from operators.views.joined_pairs import JoinedPairs
from operators.views.map_rows import MapRows
from operators.views.top_k import TopRows
from operators.views.union_rows import UnionRows
from operators.views.view_operator import ViewOperator


def operator_of(stage: Stage, inputs: Sequence[Relation]) -> ViewOperator:
    """Return the operator of a stage over `inputs`, the relations that it names, in its order."""
    match stage.operator:
        case Map():
            return MapRows(stage.operator)
        case GroupBy():
            return GroupRows(stage.operator, inputs[0])
        case Fold():
            return FoldRows(stage.operator, inputs[0])
        case TopK():
            return TopRows(stage.operator, inputs[0])
        case Joined():
            return JoinedPairs(stage.operator, *inputs)
        case Union():
            return UnionRows(stage.operator)
