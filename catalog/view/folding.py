"""What a SELECT of a stream must be, and which aggregates its groups keep beside those that are asked.

    SELECT symbol, AVG(price) AS mean, LATEST(price BY ts) AS last FROM trade GROUP BY symbol

    AVG(price)                SUM(price), COUNT(price)
    LATEST(price BY ts)       MAX(ts)

The rows of a stream are not stored, so each group is told on by its row alone (`Fold` in `catalog/schema/view.py`).
What cannot be told on so is refused: sums of REAL and DOUBLE, which one column does not hold exactly, and rows that no
GROUP BY makes one of.
"""

from __future__ import annotations

from sqlglot import exp

from catalog.schema.relation import Relation
from catalog.sql.names import quoted
from catalog.types.column_type import Kind
from catalog.view.grouping import Grouping
from catalog.view.refusals import Refusals

_FLOATS = (Kind.REAL, Kind.DOUBLE)


def check_select(tree: exp.Select, stream: Relation, grouping: Grouping | None, refuse: Refusals) -> Grouping:
    """Return the grouping of a SELECT that reads a stream. Raises the text's error, `unsupported`, if it has none."""
    assert stream.stream is not None
    time = quoted(stream.stream.event_time)
    if grouping is not None and grouping.groups:
        return grouping
    group = f"GROUP BY DATE_TRUNC('hour', {time})"
    if grouping is None:
        what = f"a view of the rows of stream `{stream.name}`, which nobody stores,"
        hint = f"Aggregate them, by windows of time and whatever else: SELECT ..., COUNT(*) AS n ... {group}."
        raise refuse.unsupported(what, ("SELECT",), hint)
    what = f"aggregates of all rows of stream `{stream.name}`, without GROUP BY,"
    raise refuse.unsupported(what, ("SELECT",), f"Write {group}; a view of that view may aggregate all its groups.")


def add_parts(grouping: Grouping, refuse: Refusals) -> None:
    """Add the aggregates that others are told on by. Raises the text's error, `unsupported_type`, `unsupported`."""
    for read in list(grouping.aggregates.values()):
        node = read.typed.node
        if read.kind in ("SUM", "AVG") and read.argument is not None:
            if read.argument.type.kind in _FLOATS:
                what = f"`{read.argument.sql[:60]}` is {read.argument.type}, and {read.kind} of it over a stream"
                hint = (
                    "Declare the column as DECIMAL, whose sums are exact; COUNT, MIN, MAX and LATEST take every type."
                )
                raise refuse.refusal("unsupported_type", f"{what} is not supported", read.argument.node, hint)
            grouping.add("SUM", read.argument, None, node)
        if read.kind == "AVG":
            grouping.add("COUNT", read.argument, None, node)
        if read.kind == "LATEST":
            grouping.add("MAX", read.by, None, node)
