"""Questions for first rows as users write them: for the machine of virtual edges and its twin."""

from __future__ import annotations

from hypothesis import strategies as st

from catalog.query.best_shape import BestShape
from catalog.query.channel import Order
from catalog.query.shape import Region
from catalog.sql.notify import Notify
from tests.oracle.naive_channels import DOMAIN
from tests.oracle.naive_edge import Wanted
from tests.overlay.range_questions import RANGED, is_empty, range_of

_POLICIES = [("every", ""), ("every", " NOTIFY EVERY CHANGE"), ("latest", " NOTIFY LATEST")]
_LIMITS = [0, 1, 1, 2, 2, 2, 3, 3, 7]


@st.composite
def _orders(draw: st.DrawFn) -> tuple[tuple[Order, ...], str]:
    """An order and how it is written; where nothing is said of NULL, it is greater than all values."""
    columns = draw(st.lists(st.sampled_from(["m", "m", "x", "s", "d", "w", "g"]), max_size=2, unique=True))
    orders, said = [], []
    for column in [*columns, "k"]:
        descending, nulls = draw(st.booleans()), draw(st.sampled_from(["", "", " NULLS FIRST", " NULLS LAST"]))
        said.append(f"{column}{' DESC' if descending else draw(st.sampled_from(['', ' ASC']))}{nulls}")
        first = descending if column == "k" or not nulls else nulls == " NULLS FIRST"
        orders.append(Order(column, descending, first))
    return tuple(orders), ", ".join(said)


@st.composite
def firsts(draw: st.DrawFn, relation: str) -> Wanted:
    """A question for the first rows of a range."""
    shown = tuple(
        draw(st.lists(st.sampled_from(["k", "k", "m", "m", "g", "x", "s", "d", "w", "e"]), min_size=1, max_size=3))
    )
    order, said = draw(_orders())
    limit, grouped, ranged = draw(st.sampled_from(_LIMITS)), draw(st.booleans()), draw(st.sampled_from(RANGED))
    value = st.sampled_from(DOMAIN)
    g = draw(value)
    lo, hi, clause = range_of(ranged, draw(value), draw(value), draw(st.integers(1, 3)))
    where = " AND ".join([f"g = {g}"] * grouped + [clause] * bool(clause))
    notify, options = draw(st.sampled_from(_POLICIES))
    ttl = draw(st.sampled_from([None] * 7 + [2, 9]))
    sql = f"SELECT {', '.join(shown)} FROM {relation}{f' WHERE {where}' if where else ''} ORDER BY {said} LIMIT {limit}"
    end = options + ("" if ttl is None else f" TTL {ttl} SECONDS") + draw(st.sampled_from(["", "", " DELIVER PUSH"]))
    keys = (shown.index("k"),) if "k" in shown else ()
    shape = BestShape(relation, shown, ("g",) if grouped else (), ranged, order, limit, keys)
    region = Region(shape, b"[%d]" % g if grouped else b"[]", lo, hi, is_empty(lo, hi) or not limit)
    columns = {*shown, *(each.column for each in order)}
    return Wanted(sql + end, region, "", tuple(columns), Notify(notify), ttl)
