"""A table of every kind of column, small domains full of ties, and filters of it."""

from __future__ import annotations

from hypothesis import strategies as st

from catalog.query.output import Output
from state.order_code import INT64_MAX, INT64_MIN
from state.row_store import RowStore
from tests.operators.watched import DOUBLES, RELATION, TEXTS, WIDES, Change, batch_of
from tests.oracle import naive_first_rows
from tests.oracle.naive_first_rows import Row, Scalar

VALUES: dict[str, list[Scalar]] = {
    "e": [*TEXTS],
    "f": [INT64_MIN, INT64_MAX, 0, 1],
    "x": [0, 1, 2],
    "s": [*TEXTS[:3]],
    "w": [*WIDES],
    "d": [*DOUBLES],
}
OUTPUTS = [
    (Output("count", None),),
    (Output("avg", "x"), Output("count", None), Output("count", "x"), Output("count", "e")),
    (Output("sum", "d"), Output("sum", "w")),
]
ROW = st.fixed_dictionaries(
    {name: st.sampled_from([None, *values]) for name, values in VALUES.items()} | {"y": st.none()}
)
CHANGES = st.lists(st.tuples(st.integers(0, 6), st.one_of(ROW, ROW, st.none())), max_size=12)
REGIONS = naive_first_rows.regions(RELATION, VALUES, OUTPUTS)


def store_of(changes: list[Change]) -> tuple[RowStore, list[Row]]:
    """Return the rows after some changes, as a store and in its order."""
    store = RowStore(len(RELATION.columns), tuple(i for i, c in enumerate(RELATION.columns) if not c.type.coded))
    store.commit(store.replay(batch_of(changes)))
    rows: dict[int, Row] = {}
    for pk, row in changes:
        rows.pop(pk, None) if row is None else rows.update({pk: {"id": pk, **row}})
    return store, [rows[int(store.key(i))] for i in range(len(store))]
