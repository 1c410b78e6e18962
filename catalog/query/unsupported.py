"""What a subscription may not contain, how to name it, and what would work instead."""

from __future__ import annotations

import re
from collections.abc import Set

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from catalog.query.like_pattern import beyond_prefix
from catalog.sql.errors import SqlError
from catalog.sql.mistakes import PARAMETER_HINT, as_name, string
from catalog.sql.names import folded, quoted
from catalog.sql.notify import GRAMMAR, OPTION_WORDS
from catalog.sql.repair import near_word
from catalog.sql.statement_text import StatementText

SUPPORTED = (
    "Supported: SELECT columns or *, or COUNT(*), COUNT(c), SUM(m), AVG(m) in any number, FROM t [WHERE condition], of "
    "columns and constants with =, <>, <, <=, >, >=, BETWEEN, IN, LIKE 'prefix%', IS [NOT] NULL, AND, OR, NOT; "
    "and SELECT MIN(m), MAX(m), COUNT(DISTINCT c), or DISTINCT c, FROM t [WHERE a = constant AND ... AND x BETWEEN low "
    "AND high], with ranges also by <, <=, >, >=, on one column, and under such a WHERE SELECT columns or *, with "
    "ORDER BY columns, ending in the primary key, and LIMIT k; and SELECT columns or * FROM a JOIN b ON a.k = b.k "
    "[WHERE condition], of two to four tables, each OR in it of one table."
)

_ONE_ROW = "The answer is always one row: leave it out."
_OF_A_SET = {
    "order": "A set has no order: leave it out, and sort the values where they are read.",
    "limit": "Every value of the set is told: leave it out, and narrow the set by WHERE.",
    "offset": "Every value of the set is told: leave it out, and narrow the set by WHERE.",
}
"""Hints for SELECT DISTINCT."""
ROW_CLAUSES = ("order", "limit", "offset")
"""Clauses that say nothing of a statement that is already refused for what it selects."""
_PER_VALUE = "Register one subscription for each value: WHERE column = constant."

_CLAUSES: dict[str, tuple[tuple[str, ...], str, str | None]] = {
    "with_": (("WITH",), "WITH", None),
    "joins": (("JOIN", ","), "a join within a table", "Write JOIN and ON behind each table: a JOIN b ON a.k = b.k."),
    "laterals": (("LATERAL",), "LATERAL", None),
    "group": (("GROUP BY",), "GROUP BY", _PER_VALUE),
    "having": (("HAVING",), "HAVING", None),
    "order": (("ORDER BY",), "ORDER BY", _ONE_ROW),
    "limit": (("LIMIT", "FETCH", "TOP"), "LIMIT", _ONE_ROW),
    "offset": (("OFFSET",), "OFFSET", _ONE_ROW),
    "qualify": (("QUALIFY",), "QUALIFY", None),
    "windows": (("WINDOW",), "WINDOW", None),
    "locks": (("FOR",), "FOR UPDATE", "A subscription only reads: leave it out."),
    "into": (("INTO",), "INTO", "Leave it out: answers go to `deliveries` behind the prefix, `tw.deliveries`."),
    "sample": (("TABLESAMPLE", "SAMPLE"), "TABLESAMPLE", None),
    "hint": (("/*+",), "a hint", "Leave it out."),
    "columns": ((), "a list of names after the table's alias", "Use the columns' own names."),
}

_STATEMENTS: dict[type[exp.Expr], str] = {
    exp.SetOperation: "UNION, EXCEPT or INTERSECT",
    exp.Create: "CREATE",
    exp.Drop: "DROP",
    exp.Alter: "ALTER",
    exp.Insert: "INSERT",
    exp.Update: "UPDATE",
    exp.Delete: "DELETE",
    exp.Merge: "MERGE",
    exp.Values: "VALUES",
}

_PREDICATES: dict[type[exp.Expr], tuple[str, str | None]] = {
    exp.Xor: ("XOR", "Write (a AND NOT b) OR (b AND NOT a)."),
    exp.ILike: ("ILIKE", "LIKE 'prefix%' tells capital letters from small ones; keep a column in small letters."),
    exp.Exists: ("EXISTS", None),
    exp.NullSafeEQ: ("<=>", "With a constant that is not NULL, = says the same; with NULL, IS NULL does."),
    exp.NullSafeNEQ: ("IS DISTINCT FROM", "Write column <> constant OR column IS NULL."),
}
_BEYOND_RANGE: dict[type[exp.Expr], tuple[str, str | None]] = {
    exp.Or: ("OR", "Register one subscription for each side{better}."),
    exp.In: ("IN", "Register one subscription for each value: column = value."),
    exp.NEQ: ("<>", None),
    exp.Like: ("LIKE", None),
    exp.Escape: ("LIKE", None),
    exp.StartsWith: ("starts_with", None),
    exp.ArrayOverlaps: ("&&", "{one_bound}"),
    exp.ArrayContainsAll: ("@>", "{one_bound}"),
    exp.ArrayContainedBy: ("<@", "{one_bound}"),
}
_ONE_BOUND = "What overlaps is two ranges, of lower() and of upper(), and one may be asked: lower(c) <= constant."
_ANY_WHERE = "COUNT, SUM, AVG and SELECT of columns, without ORDER BY, take any condition."
"""What is said beside a refusal of a condition that only some questions take."""

_BETTER = {
    "min": "; the smaller of their answers is the answer",
    "max": "; the greater of their answers is the answer",
    "distinct": "; their answers together are the answer",
}
_TWO = "Register two subscriptions, one with < and one with >."
_ONE_RANGE = "Only one column may have a range, and another one has it."
_STRINGS = "Strings can be compared by =, <, <=, >, >= and BETWEEN."
_RANGES = (exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between, exp.NEQ, exp.Like)
_CLOCKS = (exp.CurrentDate, exp.CurrentTimestamp, exp.CurrentTime, exp.CurrentDatetime)
_NO_CLOCK = (
    "A constant is one day or moment, such as DATE '2026-03-01' or TIMESTAMP '2026-03-01 12:00:00'; a column of this "
    "name is written in double quotes."
)
_SYNONYMS = {
    "AVERAGE": "AVG", "MEAN": "AVG", "MINIMUM": "MIN", "LEAST": "MIN", "MAXIMUM": "MAX", "GREATEST": "MAX",
    "TOTAL": "SUM", "CNT": "COUNT",
}  # fmt: skip
_WORDS_OF_OPTIONS = frozenset({*OPTION_WORDS, "EVERY", "CHANGE", "LATEST", "RECORDS", "PACKED", "PUSH"} - {"SNAPSHOT"})


def unsupported(text: StatementText, what: str, place: object, hint: str | None = None) -> SqlError:
    """Return the refusal: `what` is not supported, then the hint and what is supported."""
    return text.refusal("unsupported", f"{what} is not supported", place, f"{hint}\n{SUPPORTED}" if hint else SUPPORTED)


def refuse_statement(text: StatementText, tree: exp.Expr) -> SqlError:
    """Return the refusal of a statement that is no SELECT."""
    token = text.first_token(tree)
    for kind, name in _STATEMENTS.items():
        if isinstance(tree, kind):
            place = text.keyword(name.replace(",", "").split()) or token
            hint = "Tables are declared in the catalog." if kind in (exp.Create, exp.Drop, exp.Alter) else None
            return unsupported(text, name, place, hint)
    return unsupported(text, "a statement other than SELECT", token)


def refuse_extras(text: StatementText, node: exp.Expr, known: tuple[str, ...]) -> None:
    """Raise the refusal of the argument of `node` that is set, not one of `known`, and weighs most."""
    order = list(_CLAUSES)
    given = {n: v for n, v in node.args.items() if n not in known and v is not None and v is not False and v != []}
    for name, value in sorted(given.items(), key=lambda g: order.index(g[0]) if g[0] in order else len(order)):
        words, what, hint = _CLAUSES.get(name, ((name.strip("_").upper(),), name.strip("_").upper(), None))
        if node.args.get("distinct") is not None:
            hint = _OF_A_SET.get(name, hint)
        elif "limit" in known and hint == _ONE_ROW:
            hint = "Every row that meets the WHERE is told: leave it out."
        first = value[0] if isinstance(value, list) else value
        raise unsupported(text, what, text.keyword(words) or (first if text.span(first) else node), hint)


def refuse_alias(text: StatementText, alias: exp.Expr, rows: bool) -> None:
    """Raise the refusal of an alias without AS that was hardly meant as one: a word of the options, or near one.

    `rows`: the table's rows are selected, the only answers that SNAPSHOT is for.
    """
    span = text.span(alias)
    before = None if span is None else text.token_before(span[0])
    if before is None or before.token_type is TokenType.ALIAS or alias.args.get("quoted"):
        return
    name = alias.name
    called = f"To call the table so, write AS {quoted(name.lower())}."
    if name.upper() in _WORDS_OF_OPTIONS or (rows and name.upper() == "SNAPSHOT"):
        what = f"`{name}` is a word of the options, but no option is complete here"
        raise text.refusal("syntax", what, alias, f"{GRAMMAR} {called}")
    if meant := near_word(name.upper(), ("WHERE", "NOTIFY", "DELIVER", "LATEST")):
        raise text.refusal("syntax", f"`{name}` was not expected here", alias, f"Did you mean {meant}? {called}")


def refuse_select_item(text: StatementText, node: exp.Expr) -> SqlError:
    """Return the refusal of a SELECT item that is no aggregate of a column."""
    if isinstance(node, exp.Star) or (isinstance(node, exp.Column) and isinstance(node.this, exp.Star)):
        what, hint = "* beside an aggregate", "Write * alone, or COUNT(*)."
        select = node.find_ancestor(exp.Select)
        if select is not None and select.args.get("distinct"):
            what, hint = "DISTINCT *", "Rows differ in their primary key: write SELECT *."
        elif any(value for value in node.args.values() if not isinstance(value, exp.Expr)):
            what, hint = "* with EXCEPT, REPLACE or RENAME", "Name the columns."
        return unsupported(text, what, text.keyword(("*",)), hint)
    if isinstance(node, exp.Column):
        name, written = node.name, _written(node)
        hint = f"Write MIN({written}), or SELECT columns alone for the rows themselves."
        if near_word(name.upper(), ("DISTINCT",)) and isinstance(node.parent, exp.Alias):
            hint = "Did you mean DISTINCT?"
        return unsupported(text, f"a column that is not inside an aggregate (`{name}`)", node, hint)
    if isinstance(node, exp.Filter):
        return unsupported(text, "FILTER", text.keyword(("FILTER",)), "Put the condition after WHERE.")
    if isinstance(node, exp.Window):
        return unsupported(text, "OVER", text.keyword(("OVER",)), _window_hint(node))
    if isinstance(node, exp.Func):
        head, function = _head(text, node), node.name if isinstance(node, exp.Anonymous) else node.sql_name()
        if isinstance(head, tuple):
            function = text.sql[head[0] : head[1]]
        meant = near_word(function.upper(), ("MIN", "MAX", "COUNT", "SUM", "AVG")) or _SYNONYMS.get(function.upper())
        said = f"Did you mean {meant}?" if meant else None
        return unsupported(text, f"the function {function.upper()}", head, said)
    return unsupported(text, "an expression in SELECT", node)


def refuse_argument(text: StatementText, function: exp.Expr, name: str) -> SqlError:
    """Return the refusal of an aggregate whose argument is no plain column."""
    inner = function.this
    if isinstance(inner, exp.Distinct) and name == "COUNT":
        several = len(inner.expressions) > 1 or any(isinstance(each, exp.Tuple) for each in inner.expressions)
        what = "COUNT(DISTINCT ...) of several columns" if several else "COUNT(DISTINCT ...) of anything but a column"
        return unsupported(text, what, text.keyword(("DISTINCT",)), "It takes one column: COUNT(DISTINCT c).")
    if isinstance(inner, exp.Distinct):
        hint = f"{name}(DISTINCT x) is the same as {name}(x): leave it out."
        if name not in ("MIN", "MAX"):
            hint = "SELECT DISTINCT x tells the values themselves; add them where you read them."
        return unsupported(text, f"DISTINCT inside {name}", text.keyword(("DISTINCT",)), hint)
    if name == "COUNT" and isinstance(inner, exp.Literal):
        return unsupported(text, "COUNT of a constant", _placed(text, inner, function), "Write COUNT(*).")
    if function.expressions:
        return unsupported(text, f"{name} of several expressions", function, f"{name} takes one column.")
    named = isinstance(inner, exp.Literal) and inner.is_string
    said = f"A name is written plainly, or in double quotes: {name}({as_name(inner.this)})." if named else None
    return unsupported(text, f"{name} of anything but a column", _placed(text, inner, function), said)


def refuse_columns(text: StatementText, node: exp.Expr) -> SqlError:
    """Return the refusal of a comparison of two columns, of which one may be meant as a string."""
    left, right = node.this.unnest(), node.expression.unnest()
    meant = left if left.name.isupper() and not right.name.isupper() else right
    hint = "Compare the column with a constant."
    if meant.name.upper() in ("NAN", "INF", "INFINITY"):
        hint += " No row has this one: numbers are finite."
    elif meant.args.get("table") is None:
        hint += f" If `{meant.name[:60]}` is a string, write it in single quotes: {string(meant.name)}."
    return unsupported(text, "a comparison of two columns", node, hint)


def refuse_constants(text: StatementText, node: exp.Expr, left: exp.Expr) -> SqlError:
    """Return the refusal of a comparison of two constants, of which the left may be meant as a column."""
    hint = "Leave it out."
    if isinstance(left, exp.Literal) and left.is_string:
        hint = f"If {string(left.this)} is a column, write it plainly, or in double quotes: {as_name(left.this[:60])}."
    return unsupported(text, "a condition without a column", node, hint)


def refuse_predicate(text: StatementText, node: exp.Expr) -> SqlError:
    """Return the refusal of a condition that says nothing which is known of a column and constants."""
    if isinstance(node, exp.Is):
        return _refuse_is(text, node)
    if node.find(exp.Query) is not None:
        return unsupported(text, "a subquery", _placed(text, node, None))
    for kind, (name, hint) in _PREDICATES.items():
        if isinstance(node, kind):
            return unsupported(text, name, _placed(text, node, None), hint)
    return unsupported(text, "a condition that compares no column with a constant", _placed(text, node, None))


def refuse_list(text: StatementText, node: exp.In) -> SqlError:
    """Return the refusal of IN with anything but a list of constants."""
    if node.find(exp.Query) is not None:
        return unsupported(text, "a subquery", _placed(text, node, None), "Write the values: IN (1, 2, 3).")
    what = "IN without a list of constants" if node.args.get("field") or node.args.get("unnest") else "IN of nothing"
    return unsupported(text, what, _placed(text, node, None), "Write the values in parentheses: IN (1, 2, 3).")


def refuse_pattern(text: StatementText, node: exp.Expr) -> SqlError:
    """Return the refusal of LIKE with several patterns."""
    hint = "Write each of them: c LIKE 'a%' OR c LIKE 'b%'."
    return unsupported(text, "LIKE with several patterns", _placed(text, node, None), hint)


def refuse_order(text: StatementText, order: exp.Expr | None, limit: exp.Expr | None) -> SqlError:
    """Return the refusal of ORDER BY without LIMIT, and of LIMIT without ORDER BY."""
    if limit is None:
        hint = "Rows are told one by one as they come and go: leave it out, or say how many by LIMIT."
        return unsupported(text, "ORDER BY without LIMIT", text.keyword(("ORDER BY",)), hint)
    hint = "Say which by ORDER BY, which ends in the primary key; or leave it out for all rows."
    return unsupported(text, "LIMIT without ORDER BY", text.keyword(("LIMIT", "FETCH", "TOP")), hint)


def refuse_beyond_range(text: StatementText, node: exp.Expr, functions: Set[str]) -> SqlError:
    """Return the refusal of a condition that is no range, for an aggregate that takes no other.

    `functions` are those of the SELECT list.
    """
    if isinstance(node, exp.Not):
        return _refuse_not(text, node)
    if isinstance(node, exp.Is):
        return unsupported(text, "IS NULL", _placed(text, node, None), _ANY_WHERE)
    for kind, (name, hint) in _BEYOND_RANGE.items():
        if isinstance(node, kind):
            better = _BETTER.get(next(iter(functions)), "") if len(functions) == 1 else ""
            hint = hint.format(better=better, one_bound=_ONE_BOUND) if hint else _range_hint(text, node)
            return unsupported(text, name, _placed(text, node, None), f"{hint}\n{_ANY_WHERE}" if hint else _ANY_WHERE)
    return unsupported(text, "a condition that is no range", _placed(text, node, None), _ANY_WHERE)


def refuse_side(text: StatementText, side: exp.Expr, comparison: exp.Expr) -> SqlError:
    """Return the refusal of a side of a comparison that is neither a column nor a constant."""
    place = _placed(text, side, comparison)
    if side.find(exp.Query) is not None:
        return unsupported(text, "a subquery", place)
    if isinstance(side, exp.Placeholder | exp.Parameter):
        return refuse_parameter(text, place)
    if side.find(*_CLOCKS) is not None or (isinstance(side, exp.Anonymous) and side.name.upper() in ("NOW", "TODAY")):
        return unsupported(text, "a clock", place, _NO_CLOCK)
    if side.find(exp.ArrayOverlaps) is not None:
        hint = "Did you mean AND? Whether two ranges overlap is a condition of its own: c && '[1,5)'."
        return unsupported(text, "&& within a comparison", text.keyword(("&&",)) or place, hint)
    if isinstance(side, exp.Column):
        hint = f"If `{side.name[:60]}` is a string, write it in single quotes: {string(side.name)}."
        return unsupported(text, "a column in the place of a constant", place, hint)
    if isinstance(side, exp.Date | exp.Timestamp):
        return unsupported(text, "a function of a constant", place, "Write DATE '2026-03-01'.")
    if side.find(exp.Column) is not None:
        return unsupported(text, "an expression over a column", place, "Compare the column itself with a constant.")
    return unsupported(text, "an expression", place, "Write its result as one constant.")


def refuse_parameter(text: StatementText, place: object) -> SqlError:
    """Return the refusal of a parameter where none can be bound."""
    return unsupported(text, "a parameter that is left unbound", place or text.keyword(("?",)), PARAMETER_HINT)


def _refuse_not(text: StatementText, node: exp.Not) -> SqlError:
    inner = node.this.unnest()
    place = text.keyword(("NOT",)) or _placed(text, node, None)
    if isinstance(inner, exp.Is):
        hint = "A row whose range attribute is NULL is never in the range."
        return unsupported(text, "IS NOT NULL", _placed(text, inner, None), f"{hint}\n{_ANY_WHERE}")
    if isinstance(inner, exp.Between | exp.EQ):
        return unsupported(text, "NOT", place, f"{_TWO if _may_range(inner) else _ONE_RANGE}\n{_ANY_WHERE}")
    return unsupported(text, "NOT", place, _ANY_WHERE)


def _refuse_is(text: StatementText, node: exp.Is) -> SqlError:
    """Return the refusal of IS with anything but NULL."""
    place, right = _placed(text, node, None), node.expression
    negated = isinstance(node.parent, exp.Not)
    name = "IS NOT" if negated else "IS"
    if isinstance(right, exp.Boolean):
        column = _written(node.this) if isinstance(node.this, exp.Column) else "column"
        written = f"{column} = {str(bool(right.this) is not negated).upper()}"
        return unsupported(
            text, name, place, f"Write {written} OR {column} IS NULL." if negated else f"Write {written}."
        )
    constant = isinstance(right, exp.Literal)
    written = string(right.this) if constant and right.is_string else right.this
    return unsupported(text, name, place, f"Write {'<>' if negated else '='} {written}." if constant else None)


def _written(column: exp.Column) -> str:
    return quoted(folded(column.this))


def _window_hint(window: exp.Window) -> str | None:
    """Return what works instead of OVER; None for a running aggregate."""
    if window.args.get("order") is not None:
        return None
    by = window.args.get("partition_by") or []
    if not by:
        return "Leave it out."
    conditions = " AND ".join(f"{_written(e)} = constant" for e in by if isinstance(e, exp.Column))
    return f"Leave it out, and register one subscription for each value: WHERE {conditions or 'column = constant'}."


def _range_hint(text: StatementText, node: exp.Expr) -> str | None:
    """Return how a condition is written as a range, or as two."""
    if isinstance(node, exp.NEQ):
        return _TWO if _may_range(node) else _ONE_RANGE
    if isinstance(node, exp.Escape):
        return None
    if not _may_range(node):
        return "Strings can be compared by =."
    pattern, span = node.expression, text.span(node)
    negated = span is None or text.keyword(("NOT",), *span) is not None
    if negated or not (isinstance(pattern, exp.Literal) and pattern.is_string):
        return _STRINGS
    prefix = pattern.this if isinstance(node, exp.StartsWith) else pattern.this.removesuffix("%")
    if not isinstance(node.this, exp.Column) or re.search(r"[%_\\]", prefix) or not prefix:
        return _STRINGS
    name = _written(node.this)
    if prefix == pattern.this and not isinstance(node, exp.StartsWith):
        return f"Without a wildcard, write {name} = {string(prefix)}."
    end = beyond_prefix(prefix)
    upper = f" AND {name} < {string(end)}" if end else ""
    return _STRINGS if len(prefix) > 40 else f"A prefix is a range: {name} >= {string(prefix)}{upper}."


def _may_range(node: exp.Expr) -> bool:
    """Whether no column has a range in the WHERE but that of the condition `node`."""
    where = node.find_ancestor(exp.Where)
    column = node.find(exp.Column)
    others = () if where is None else where.find_all(*_RANGES)
    own = set(map(id, node.walk()))
    names = {c.name for other in others if id(other) not in own for c in other.find_all(exp.Column)}
    return column is not None and names <= {column.name}


def _head(text: StatementText, node: exp.Expr) -> object:
    meta = node.meta
    return (meta["start"], meta["end"] + 1) if "start" in meta else node


def _placed(text: StatementText, node: exp.Expr, otherwise: exp.Expr | None) -> object:
    """Return the first of the nodes whose place is known, else the WHERE."""
    if text.span(node) is not None:
        return node
    if otherwise is not None and text.span(otherwise) is not None:
        return otherwise
    return text.keyword(("WHERE",))
