"""Filters as users write them, each with what its WHERE says: for the machine of virtual edges and its twin."""

from __future__ import annotations

from hypothesis import strategies as st

from catalog.query.filter_shape import FilterShape
from catalog.query.shape import Output, Region
from catalog.sql.notify import Notify
from tests.oracle.naive_channels import DOMAIN, KEYS, TEXTS, WIDE
from tests.oracle.naive_edge import Wanted
from tests.oracle.naive_filter import EVERYTHING, Where

_VALUES = {"s": TEXTS, "w": WIDE, "k": KEYS}
_COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")
_POLICIES = [("every", ""), ("every", ""), ("latest", " NOTIFY LATEST")]
_BY_KEY = [("transitions", " NOTIFY TRANSITIONS"), ("enter", " NOTIFY ENTER")]
_ENDS = ["", "", "", " DELIVER PUSH"]


def _literal(column: str, value: int | str) -> str:
    return f"'{value}'" if column in ("s", "k") else str(value)


@st.composite
def atoms(draw: st.DrawFn) -> Where:
    """A condition of one column, whose name its SQL begins with."""
    column = draw(st.sampled_from(["g", "x", "m", "m", "s", "w", "k"]))
    value = st.sampled_from(_VALUES.get(column, tuple(DOMAIN)))
    op = draw(st.sampled_from([*_COMPARISONS, "between", "in", "is null", "is not null", "prefix"]))
    if op in ("is null", "is not null"):
        return Where(op, column, sql=f"{column} {op.upper()}")
    if op == "prefix" and column in ("s", "k"):
        prefix = draw(st.sampled_from(["a", "ab", "q", "b"]))
        return Where(op, column, (prefix,), sql=f"{column} LIKE '{prefix}%'")
    if op == "between":
        low, high = draw(value), draw(value)
        sql = f"{column} BETWEEN {_literal(column, low)} AND {_literal(column, high)}"
        return Where(op, column, (low, high), sql=sql)
    if op in ("in", "prefix"):
        several = draw(st.lists(value, min_size=1, max_size=3))
        sql = f"{column} IN ({', '.join(_literal(column, one) for one in several)})"
        return Where("in", column, tuple(several), sql=sql)
    one = draw(value)
    return Where(op, column, (one,), sql=f"{column} {op} {_literal(column, one)}")


@st.composite
def conditions(draw: st.DrawFn) -> Where:
    """A condition: none, one, or some joined by AND, OR and NOT."""
    if draw(st.integers(0, 7)) == 0:
        return EVERYTHING
    parts = draw(st.lists(atoms(), min_size=1, max_size=3))
    whole = parts[0]
    for part in parts[1:]:
        op = draw(st.sampled_from(["and", "or"]))
        whole = Where(op, parts=(whole, part), sql=f"({whole.sql} {op.upper()} {part.sql})")
        if draw(st.integers(0, 3)) == 0:
            whole = Where("not", parts=(whole,), sql=f"NOT {whole.sql}")
    return whole


@st.composite
def filters(draw: st.DrawFn, relation: str) -> Wanted:
    """A filter that shows rows, or sums them."""
    where = draw(conditions())
    notify, options, without_rows = ("every", "", False)
    outputs: tuple[Output, ...] = ()
    shown: tuple[str, ...] = ()
    if draw(st.integers(0, 2)):
        shown = tuple(
            draw(st.lists(st.sampled_from(["k", "k", "g", "m", "m", "s", "d", "w", "e"]), min_size=1, max_size=3))
        )
        notify, options = draw(st.sampled_from([*_POLICIES, *(_BY_KEY if "k" in shown else [])]))
        without_rows = draw(st.integers(0, 5)) == 0
        items = ", ".join(shown)
    else:
        outputs = tuple(draw(st.lists(_outputs(), min_size=1, max_size=2)))
        notify, options = draw(st.sampled_from(_POLICIES))
        items = ", ".join(f"{output.function.upper()}({output.column or '*'})" for output in outputs)
    ttl = draw(st.sampled_from([None] * 7 + [2, 9]))
    condition = f" WHERE {where.sql}" if where.sql else ""
    end = options + ("" if ttl is None else f" TTL {ttl} SECONDS") + draw(st.sampled_from(_ENDS))
    sql = f"SELECT {items} FROM {relation}{condition}{end}{' SNAPSHOT NONE' if without_rows else ''}"
    keys = (shown.index("k"),) if "k" in shown else ()
    shape = FilterShape(relation, shown, outputs, (), (), keys)
    columns = {*shown, *where.columns, *(output.column for output in outputs if output.column is not None)}
    return Wanted(sql, Region(shape, b"[]"), "", tuple(columns), Notify(notify), ttl, where, without_rows)


def _outputs() -> st.SearchStrategy[Output]:
    return st.just(Output("count", None)) | st.builds(
        Output, st.sampled_from(["count", "sum", "avg"]), st.sampled_from(["m", "d", "w", "x"])
    )
