"""What a subscription may not contain, how to name it, and what would work instead."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from catalog.errors import SqlError
from catalog.names import quoted
from catalog.notify import GRAMMAR, OPTION_WORDS, fault_at, is_option_word
from catalog.statement_text import StatementText

SUPPORTED = (
    "Supported: SELECT MIN(m), MAX(m), COUNT(*), COUNT(c), SUM(m), AVG(m) in any number, or SELECT DISTINCT c, "
    "FROM t [WHERE a = constant AND ... AND x BETWEEN low AND high]; ranges also by <, <=, >, >=, on one column."
)

_ONE_ROW = "The answer is always one row: leave it out."
ROW_CLAUSES = ("order", "limit", "offset")
"""Clauses that say nothing of a statement that is already refused for what it selects."""
_PER_VALUE = "Register one subscription for each value: WHERE column = constant."

_CLAUSES: dict[str, tuple[tuple[str, ...], str, str | None]] = {
    "with_": (("WITH",), "WITH", None),
    "joins": (("JOIN", ","), "a join", "Each subscription asks one table."),
    "laterals": (("LATERAL",), "LATERAL", None),
    "group": (("GROUP BY",), "GROUP BY", _PER_VALUE),
    "having": (("HAVING",), "HAVING", None),
    "order": (("ORDER BY",), "ORDER BY", _ONE_ROW),
    "limit": (("LIMIT", "FETCH", "TOP"), "LIMIT", _ONE_ROW),
    "offset": (("OFFSET",), "OFFSET", _ONE_ROW),
    "qualify": (("QUALIFY",), "QUALIFY", None),
    "windows": (("WINDOW",), "WINDOW", None),
    "locks": (("FOR",), "FOR UPDATE", "A subscription only reads: leave it out."),
    "into": (("INTO",), "INTO", "Answers go to the topic `deliveries`: leave it out."),
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
    exp.Or: ("OR", "Register one subscription for each side{better}."),
    exp.Xor: ("XOR", None),
    exp.In: ("IN", "Register one subscription for each value: column = value."),
    exp.NEQ: ("<>", "Register two subscriptions, one with < and one with >."),
    exp.Like: ("LIKE", "Strings can be compared by =."),
    exp.ILike: ("ILIKE", "Strings can be compared by =."),
    exp.Exists: ("EXISTS", None),
    exp.NullSafeEQ: ("<=>", "With a constant that is not NULL, = says the same."),
    exp.NullSafeNEQ: ("IS DISTINCT FROM", None),
}

_BETTER = {
    "min": "; the smaller of their answers is the answer",
    "max": "; the greater of their answers is the answer",
}
_WORDS_OF_OPTIONS = frozenset((*OPTION_WORDS, "EVERY", "CHANGE", "LATEST", "RECORDS", "PACKED", "PUSH"))
_ENDS = frozenset({TokenType.VAR, TokenType.STRING, TokenType.NUMBER, TokenType.R_PAREN, TokenType.IDENTIFIER})
"""Tokens that a statement may end with, beside words."""
_NEGATED = {exp.LT: ">=", exp.LTE: ">", exp.GT: "<=", exp.GTE: "<"}


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
        first = value[0] if isinstance(value, list) else value
        raise unsupported(text, what, text.keyword(words) or (first if text.span(first) else node), hint)


def refuse_alias(text: StatementText, alias: exp.Expr) -> None:
    """Raise the refusal of a word of the options that names the table without AS: an option was begun, and is none."""
    span = text.span(alias)
    before = None if span is None else text.token_before(span[0])
    if alias.name.upper() not in _WORDS_OF_OPTIONS or before is None or before.token_type is TokenType.ALIAS:
        return
    if text.sql[before.end + 1 : span[1] if span else 0].endswith('"'):
        return
    what = f"`{alias.name}` is a word of the options, but no option is complete here"
    hint = f"{GRAMMAR} To call the table so, write AS {quoted(alias.name.lower())}."
    raise text.refusal("syntax", what, alias, hint)


def refuse_options(text: StatementText, error: SqlError) -> SqlError | None:
    """Return the refusal of options for which the statement cannot be parsed; None where `error` is of something else.

    Options are to blame where one of their words follows what could have been the statement, outside of parentheses.
    """
    if error.code != "syntax" or error.line == 0:
        return None
    try:
        tokens = text.tokens
    except SqlError:
        return None
    depth, asks = 0, False
    for i, token in enumerate(tokens):
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        if token.start > error.end:
            return None
        asks = asks or token.token_type is TokenType.FROM
        if asks and depth == 0 and is_option_word(token, text.sql) and _may_end(tokens[i - 1], text.sql):
            fault = fault_at(text.sql, tokens, i)
            if fault is not None:
                return text.refusal(fault.code, str(fault), (fault.start, fault.end), fault.hint)
    return None


def _may_end(token: Token, sql: str) -> bool:
    return token.token_type in _ENDS or token.text.upper() in ("NULL", "TRUE", "FALSE", ";")


def refuse_select_item(text: StatementText, node: exp.Expr) -> SqlError:
    """Return the refusal of a SELECT item that is no aggregate of a column."""
    if isinstance(node, exp.Star) or (isinstance(node, exp.Column) and isinstance(node.this, exp.Star)):
        return unsupported(text, "SELECT *", text.keyword(("*",)))
    if isinstance(node, exp.Column):
        name = node.name
        hint = f"Write MIN({name}), or SELECT DISTINCT {name} for all its values."
        return unsupported(text, f"a column that is not inside an aggregate (`{name}`)", node, hint)
    if isinstance(node, exp.Filter):
        return unsupported(text, "FILTER", text.keyword(("FILTER",)), "Put the condition after WHERE.")
    if isinstance(node, exp.Window):
        return unsupported(text, "OVER", text.keyword(("OVER",)), "Leave it out.")
    if isinstance(node, exp.Func):
        function = node.name if isinstance(node, exp.Anonymous) else node.sql_name()
        return unsupported(text, f"the function {function.upper()}", _head(text, node))
    return unsupported(text, "an expression in SELECT", node)


def refuse_argument(text: StatementText, function: exp.Expr, name: str) -> SqlError:
    """Return the refusal of an aggregate whose argument is no plain column."""
    inner = function.this
    if isinstance(inner, exp.Distinct):
        hint = f"{name}(DISTINCT x) is the same as {name}(x): leave it out."
        if name not in ("MIN", "MAX"):
            hint = "SELECT DISTINCT x tells the values themselves; count or add them where you read them."
        return unsupported(text, f"DISTINCT inside {name}", text.keyword(("DISTINCT",)), hint)
    if name == "COUNT" and isinstance(inner, exp.Literal):
        return unsupported(text, "COUNT of a constant", _placed(text, inner, function), "Write COUNT(*).")
    if function.expressions:
        return unsupported(text, f"{name} of several expressions", function, f"{name} takes one column.")
    return unsupported(text, f"{name} of anything but a column", _placed(text, inner, function))


def refuse_predicate(text: StatementText, node: exp.Expr, aggregate: str) -> SqlError:
    """Return the refusal of a condition that is no comparison of a column with a constant."""
    if isinstance(node, exp.Not):
        return _refuse_not(text, node)
    if isinstance(node, exp.Is):
        return _refuse_is(text, node, "IS")
    if isinstance(node, exp.Column):
        what = f"a column alone as a condition (`{node.name}`)"
        return unsupported(text, what, node, f"If it is BOOLEAN, write {node.name} = TRUE.")
    if node.find(exp.Query) is not None:
        return unsupported(text, "a subquery", _placed(text, node, None))
    for kind, (name, hint) in _PREDICATES.items():
        if isinstance(node, kind):
            better = _BETTER.get(aggregate, "")
            return unsupported(text, name, _placed(text, node, None), hint and hint.format(better=better))
    return unsupported(text, "a condition that compares no column with a constant", _placed(text, node, None))


def refuse_side(text: StatementText, side: exp.Expr, comparison: exp.Expr) -> SqlError:
    """Return the refusal of a side of a comparison that is neither a column nor a constant."""
    place = _placed(text, side, comparison)
    if side.find(exp.Query) is not None:
        return unsupported(text, "a subquery", place)
    if isinstance(side, exp.Placeholder | exp.Parameter):
        return refuse_parameter(text, place)
    if isinstance(side, exp.Date | exp.Timestamp):
        return unsupported(text, "a function of a constant", place, "Write DATE '2026-03-01'.")
    if side.find(exp.Column) is not None:
        return unsupported(text, "an expression over a column", place, "Compare the column itself with a constant.")
    return unsupported(text, "an expression", place, "Write its result as one constant.")


def refuse_parameter(text: StatementText, place: object) -> SqlError:
    """Return the refusal of a parameter where none can be bound."""
    hint = 'Write the constant, or register {"template": ..., "params": [...]} with ? for each.'
    return unsupported(text, "a parameter that is left unbound", place or text.keyword(("?",)), hint)


def _refuse_not(text: StatementText, node: exp.Not) -> SqlError:
    inner = node.this.unnest()
    if isinstance(inner, exp.Is):
        return _refuse_is(text, inner, "IS NOT")
    hint = None
    if isinstance(inner, exp.Column):
        hint = f"If it is BOOLEAN, write {inner.name} = FALSE."
    elif type(inner) in _NEGATED:
        hint = f"Turn the comparison round: {_NEGATED[type(inner)]}."
    elif isinstance(inner, exp.Between | exp.EQ):
        hint = "Register two subscriptions, one with < and one with >."
    return unsupported(text, "NOT", text.keyword(("NOT",)) or _placed(text, node, None), hint)


def _refuse_is(text: StatementText, node: exp.Is, name: str) -> SqlError:
    place, right = _placed(text, node, None), node.expression
    if isinstance(right, exp.Boolean) and name == "IS":
        return unsupported(text, "IS", place, f"Write = {str(right.this).upper()}.")
    if not isinstance(right, exp.Null):
        return unsupported(text, name, place)
    hint = "A row whose range attribute is NULL is never in the range." if name == "IS NOT" else None
    return unsupported(text, f"{name} NULL", place, hint)


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
