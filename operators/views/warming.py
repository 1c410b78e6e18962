"""Every kernel of views, run once over a few rows, so that it is compiled, or loaded from numba's cache."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from catalog.schema.relation import Column, Relation
from catalog.schema.view import Aggregate, By, ColumnOf, Fold, GroupBy, Joined, Map, Operator, Stage, TopK, Union
from catalog.types.column_type import ColumnType, Kind
from operators import exact_sums
from operators.batch_view import BatchView
from operators.channel_binding import orderings_of, ranks_of
from operators.views import fold_walk, group_walk, joined_pairs, net_changes, row_keys, top_k
from operators.views.operators import operator_of
from operators.views.view_operator import Input
from state.change_batch import ChangeBatch
from state.ordering import Ordering
from state.rank_order import RankOrder
from state.row_store import RowStore

KERNELS = (exact_sums, net_changes, row_keys, group_walk, fold_walk, top_k, joined_pairs)
"""The modules that have kernels."""

_NUMBER, _TEXT, _WIDE = ColumnType(Kind.BIGINT), ColumnType(Kind.VARCHAR), ColumnType(Kind.DECIMAL, 38)
_SHOWN = ColumnOf("id", _NUMBER)
_OPERATORS: tuple[Operator, ...] = (
    Map("warm", (_SHOWN,)),
    GroupBy("warm", ("g",), (Aggregate("MIN", "id", _NUMBER), Aggregate("SUM", "w", _WIDE))),
    TopK("warm", ("g",), (By("id", True, True),), 1, True),
    Joined("warm", "warm", (("g", "g"),), True, False),
    Union(("warm", "warm")),
)
_FOLDED = (
    Aggregate("COUNT", None, _NUMBER),
    Aggregate("SUM", "w", _WIDE),
    Aggregate("LATEST", "id", _NUMBER, "id"),
    Aggregate("MAX", "id", _NUMBER),
)


def warm() -> None:
    """Run every kernel of views. Cost: 10 s where they are compiled, else 0.1 s."""
    relation = Relation("warm", (Column("id", _NUMBER, False), Column("g", _TEXT), Column("w", _WIDE)), ("id",), "")
    for operator in _OPERATORS:
        _run(relation, operator)
    _fold(relation)


def _run(relation: Relation, operator: Operator) -> None:
    made = operator_of(Stage(relation, operator), [relation] * len(operator.inputs))
    store, still = RowStore(3, (1, 2)), RowStore(3, (1, 2)).still()
    needed = [key for keys in made.needs() for key in keys]
    view = BatchView(
        relation,
        store,
        {key: Ordering.of(*key, still) for key in orderings_of(needed)},
        store.replay(_batch()),
        {key: RankOrder.of(key, still) for key in ranks_of(needed)},
    )
    made.changes([Input(view, view.replay.cause)] * len(operator.inputs))


def _fold(relation: Relation) -> None:
    made = Relation("fold", tuple(Column(name, each.type) for name, each in zip("abcd", _FOLDED, strict=True)), (), "")
    made = replace(made, columns=(Column("g", _TEXT), *made.columns))
    operator = operator_of(Stage(made, Fold("warm", ("g",), _FOLDED)), [relation])
    come, own = RowStore(3, (1, 2)), RowStore(5, (0, 2))
    view = BatchView(relation, come, {}, come.pass_by(_batch()))
    operator.changes([Input(view, view.replay.cause), Input(BatchView(made, own, {}, own.still()), view.replay.cause)])


def _batch() -> ChangeBatch:
    """Return four changes of two rows, by three causes."""
    codes, valid = np.array([[1, 2, 1, 2], [0] * 4, [0] * 4]), np.ones((3, 4), np.bool_)
    live, nowhere = np.array([True, True, False, True]), np.zeros(4, np.int32)
    keys = [b"1", b"2", b"1", b"2"]
    texts: dict[int, Sequence[str | None]] = {1: ["a", "a", "a", "b"], 2: ["1", "2", "3", "4"]}
    cause = np.array([0, 0, 1, 2], np.int32)
    return ChangeBatch(keys, live, codes, valid, texts, nowhere, np.zeros(4, np.int64), cause=cause)
