"""What the query of a view may not contain, how to name it, and what would work instead."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from catalog.sql.errors import SqlError
from catalog.sql.names import quoted
from catalog.sql.repair import near_word
from catalog.sql.statement_text import Span, StatementText
from catalog.view.typed import Typed

SUPPORTED = (
    "A view is SELECT items FROM a [[LEFT] JOIN b ON a.k = b.k ...] [WHERE condition AND ...] [GROUP BY columns "
    "[HAVING condition AND ...]] [QUALIFY ROW_NUMBER() OVER (PARTITION BY columns ORDER BY columns) <= k], or several "
    "of these with UNION ALL between them. Items are columns, constants, +, -, *, COALESCE, DATE_TRUNC, and COUNT, "
    "SUM, AVG, MIN, MAX and LATEST(x BY t); conditions are =, <>, <, <=, >, >=, BETWEEN, IN, IS [NOT] NULL, and of "
    "ranges &&, @>, <@ and isempty()."
)

_CLAUSES: dict[str, tuple[tuple[str, ...], str, str | None]] = {
    "with_": (("WITH",), "WITH", "Declare a view for each query of it."),
    "distinct": (("DISTINCT",), "DISTINCT", "Write GROUP BY with the columns of the SELECT list."),
    "laterals": (("LATERAL",), "LATERAL", None),
    "order": (("ORDER BY",), "ORDER BY of a view", "A question may have ORDER BY and LIMIT; a view has QUALIFY."),
    "limit": (("LIMIT", "FETCH", "TOP"), "LIMIT", "Write QUALIFY ROW_NUMBER() OVER (ORDER BY columns) <= k."),
    "offset": (("OFFSET",), "OFFSET", None),
    "windows": (("WINDOW",), "WINDOW", "Write what is in it behind OVER."),
    "locks": (("FOR",), "FOR UPDATE", "Leave it out: a view only reads."),
    "into": (("INTO",), "INTO", "Leave it out."),
    "sample": (("TABLESAMPLE", "SAMPLE"), "TABLESAMPLE", None),
    "columns": ((), "a list of names after the table's alias", "Use the columns' own names."),
    "attributes": (("ATTRIBUTES",), "ATTRIBUTES in a view", "Whoever asks the view says what it is."),
    "all": (("ALL",), "GROUP BY ALL", "Name the columns."),
    "cube": (("CUBE",), "CUBE", "Declare a view for each list of columns."),
    "rollup": (("ROLLUP",), "ROLLUP", "Declare a view for each list of columns."),
    "grouping_sets": (("GROUPING SETS",), "GROUPING SETS", "Declare a view for each list of columns."),
    "spec": (("ROWS", "RANGE", "GROUPS"), "a frame in OVER", "Leave it out."),
}
_LATER = "Declare a view that computes it, and read that view here."
_EXPRESSIONS: dict[type[exp.Expr], tuple[str, str | None]] = {
    exp.ArrayOverlaps: ("&& as a value", "It stands behind WHERE, as a condition of its own."),
    exp.ArrayContainsAll: ("@> as a value", "It stands behind WHERE, as a condition of its own."),
    exp.ArrayContainedBy: ("<@ as a value", "It stands behind WHERE, as a condition of its own."),
    exp.Div: ("division", "Multiply instead, such as by 0.5; AVG divides a sum by a count."),
    exp.IntDiv: ("division", "Multiply instead, such as by 0.5; AVG divides a sum by a count."),
    exp.Mod: ("%", None),
    exp.Case: ("CASE", "Declare a view for each case, and one with UNION ALL over them."),
    exp.If: ("IF", "Declare a view for each case, and one with UNION ALL over them."),
    exp.Cast: ("CAST", "Leave it out: numbers of all types are computed with each other, and fit what comes out."),
    exp.TryCast: ("CAST", "Leave it out: numbers of all types are computed with each other, and fit what comes out."),
    exp.DPipe: ("||", "Show both columns."),
    exp.Concat: ("CONCAT", "Show both columns."),
    exp.Filter: ("FILTER", "Declare a view with the condition after WHERE."),
    exp.Distinct: ("DISTINCT inside an aggregate", "Group by the column in a view, and aggregate that view."),
    exp.Placeholder: ("a parameter", "Write the constant."),
    exp.Parameter: ("a parameter", "Write the constant."),
    exp.Interval: ("INTERVAL", None),
    exp.Rollup: ("ROLLUP", "Declare a view for each list of columns."),
    exp.Cube: ("CUBE", "Declare a view for each list of columns."),
    exp.GroupingSets: ("GROUPING SETS", "Declare a view for each list of columns."),
    exp.Tuple: ("a list of values", None),
    exp.And: ("AND as a value", "It stands between conditions, behind WHERE or HAVING."),
    exp.Or: ("OR", "Write column IN (a, b), or a view for each side."),
    exp.Xor: ("XOR", None),
    exp.Like: ("LIKE", "A question about the view may have LIKE 'prefix%'."),
    exp.ILike: ("ILIKE", None),
    exp.Exists: ("EXISTS", "Write a JOIN."),
    exp.NullSafeEQ: ("IS NOT DISTINCT FROM", "Write =, or IS NULL."),
    exp.NullSafeNEQ: ("IS DISTINCT FROM", "Write <>, or IS NOT NULL."),
}
_CLOCKS = (exp.CurrentDate, exp.CurrentTimestamp, exp.CurrentTime, exp.CurrentDatetime)
_FUNCTIONS = ("COUNT", "SUM", "AVG", "MIN", "MAX", "LATEST", "COALESCE", "DATE_TRUNC", "ROW_NUMBER")
_SYNONYMS = {
    "IFNULL": "COALESCE", "NVL": "COALESCE", "LAST": "LATEST", "LAST_VALUE": "LATEST", "AVERAGE": "AVG", "MEAN": "AVG",
    "RANK": "ROW_NUMBER", "DENSE_RANK": "ROW_NUMBER", "TRUNC": "DATE_TRUNC", "TIME_BUCKET": "DATE_TRUNC",
    "TOTAL": "SUM",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Refusals:
    """Makes the refusals of one statement of a text."""

    text: StatementText
    statement: exp.Expr

    @property
    def span(self) -> Span:
        """Where the statement stands. *Cost*: a look at all tokens of the text."""
        start = self.text.first_token(self.statement).start
        after = (token.start for token in self.text.tokens if token.start >= start and token.text == ";")
        return start, next(after, len(self.text.sql))

    def refusal(self, code: str, what: str, place: object, hint: str) -> SqlError:
        """Return the error that says `what` about a place: a node, a span, words of the statement, None for nowhere."""
        return self.text.refusal(code, what, self.place(place), hint)

    def unsupported(self, what: str, place: object, hint: str | None = None) -> SqlError:
        """Return the refusal: `what` is not supported, then the hint and what is supported."""
        said = f"{hint}\n{SUPPORTED}" if hint else SUPPORTED
        return self.refusal("unsupported", f"{what} is not supported", place, said)

    def place(self, place: object) -> Span:
        """Return where something stands: the first place that is known of it and of what it is within."""
        if isinstance(place, tuple) and place and isinstance(place[0], str):
            return self.text.span(self.text.keyword(place, *self.span)) or self._begin()
        while isinstance(place, exp.Expr):
            meta, span = place.meta, self.text.span(place)
            if "start" in meta:
                return meta["start"], meta["end"] + 1
            if span is not None:
                return span
            place = place.parent
        return self.text.span(place) or self._begin()

    def extras(self, node: exp.Expr, known: tuple[str, ...]) -> None:
        """Raise the refusal of the first argument of `node` that is set and not one of `known`."""
        for name, value in node.args.items():
            if name in known or value is None or value is False or value == []:
                continue
            words, what, hint = _CLAUSES.get(name, ((name.strip("_").upper(),), name.strip("_").upper(), None))
            first = value[0] if isinstance(value, list) else value
            found = self.text.keyword(words, *self.span)
            raise self.unsupported(what, found or (first if self.text.span(first) else node), hint)

    def expression(self, node: exp.Expr) -> SqlError:
        """Return the refusal of an expression or condition that is none of those that are known."""
        if node.find(exp.Query) is not None:
            return self.unsupported("a subquery", node, "Declare a view for it, and JOIN that view.")
        for kind, (what, hint) in _EXPRESSIONS.items():
            if isinstance(node, kind):
                return self.unsupported(what, node, hint)
        if isinstance(node, exp.Window):
            hint = "ROW_NUMBER() OVER (...) is an item of its own, or stands behind QUALIFY."
            return self.unsupported("OVER", ("OVER",), hint)
        if isinstance(node, _CLOCKS):
            return self.unsupported("a clock", node, "What a view shows hangs on rows alone: write a constant.")
        if isinstance(node, exp.Func):
            return self._function(node)
        return self.unsupported("this expression", node)

    def _function(self, node: exp.Func) -> SqlError:
        name = node.name if isinstance(node, exp.Anonymous) else node.sql_name()
        start, end = self.place(node)
        if "start" in node.meta:
            name = self.text.sql[start:end]
        meant = near_word(name.upper(), _FUNCTIONS) or _SYNONYMS.get(name.upper())
        return self.unsupported(f"the function {name.upper()[:60]}", node, f"Did you mean {meant}?" if meant else None)

    def aggregate(self, node: exp.Expr, where: str) -> SqlError:
        """Return the refusal of an aggregate where there can be none; `where` names the clause."""
        hint = "Conditions on aggregates stand after HAVING." if where == "WHERE" else _LATER
        return self.unsupported(f"an aggregate in {where}", node, hint)

    def ungrouped(self, node: exp.Expr, sql: str) -> SqlError:
        """Return the refusal of a column that is neither grouped by nor aggregated."""
        hint = f"Add it to the GROUP BY, or write MIN({sql}), LATEST({sql} BY t) or another aggregate of it."
        return self.unsupported(f"`{sql}`, which is neither in GROUP BY nor inside an aggregate,", node, hint)

    def unnamed(self, node: exp.Expr, sql: str) -> SqlError:
        """Return the refusal of an item that has no name."""
        hint = f"Say what the column is called: {sql} AS name."
        return self.refusal("syntax", "an item that is no plain column has no name", node, hint)

    def range(self, one: Typed, what: str) -> None:
        """Raise the refusal of `what` if a value is a range."""
        if one.type.is_range:
            raise self.of_range(f"{what} the range `{one.sql[:60]}`", one.node)

    def of_range(self, what: str, node: exp.Expr) -> SqlError:
        """Return the refusal of what a view does with values, but not with ranges."""
        hint = (
            "Take lower() and upper() of it, which are columns as any other; ranges are shown, filtered, grouped by "
            "and joined by."
        )
        return self.unsupported(what, node, hint)

    def named_twice(self, name: str, node: exp.Expr) -> SqlError:
        """Return the refusal of a second item of one name."""
        hint = f"Call one of them otherwise: {quoted(name)} AS other."
        return self.refusal("conflict", f"two columns are called `{name}`", node, hint)

    def too_wide(self, node: exp.Expr, what: str) -> SqlError:
        """Return the refusal of numbers that may have more than 38 digits."""
        hint = "Columns with fewer digits, or SUM of a column before it is multiplied, need fewer."
        return self.refusal("unsupported", f"{what} may need more than 38 digits, which no column has", node, hint)

    def _begin(self) -> Span:
        token = self.text.first_token(self.statement)
        return token.start, token.end + 1
