"""What a join may not be, how to name it, and what would work instead."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from catalog.query.unsupported import unsupported
from catalog.schema.join import MOST_TABLES
from catalog.sql.errors import SqlError
from catalog.sql.names import quoted
from catalog.sql.statement_text import StatementText

_INNER = "Rows without a partner are in no answer: write JOIN ... ON a.k = b.k."
_PAIR = "Write each pair of columns: ON a.k = b.k."
_EQUAL = "Say which columns are equal: JOIN ... ON a.k = b.k."
_INSTEAD = {
    **dict.fromkeys(("LEFT", "RIGHT", "FULL", "OUTER"), _INNER),
    **dict.fromkeys(("CROSS", "ASOF"), _EQUAL),
    "STRAIGHT_JOIN": "Write JOIN: how it is done is not up to the question.",
}
_COMPARED = "Tables are joined by columns that are equal: ON a.k = b.k AND a.l = b.l."
_ALONE = f"{_COMPARED} Conditions of one table stand behind WHERE."
_ROWS_ALONE = "A join is asked for its rows: SELECT columns, or *."
_BESIDE = "Columns of two tables are compared by = alone, and only under AND, in ON or WHERE."


def refuse_join(text: StatementText, join: exp.Join, before: str) -> SqlError | None:
    """Return the refusal of a join that is not JOIN ... ON; `before` is what the table before it is called."""
    given = [join.args.get(name) for name in ("method", "side", "kind")]
    words = [str(word).upper() for word in given if word and str(word).upper() != "INNER"]
    if words:
        hint = _INSTEAD.get(words[0], _PAIR)
        what = " ".join([*words, *(["JOIN"] if words[-1] != "STRAIGHT_JOIN" else [])])
        return unsupported(text, what, text.keyword((words[0],)) or join, hint)
    if join.args.get("using"):
        return unsupported(text, "USING", text.keyword(("USING",)), _PAIR)
    if join.args.get("on") is not None and _is_join(join.this):
        what = "a join within a join"
        return unsupported(text, what, join.this, "Write ON right behind each table: a JOIN b ON ... JOIN c ON ...")
    if join.args.get("on") is None:
        return _without_on(text, join, before)
    return None


def _is_join(node: exp.Expr) -> bool:
    """Whether what stands behind JOIN is a join again, in parentheses or because its ON comes later."""
    inner = node.this if isinstance(node, exp.Subquery) else node
    return isinstance(inner, exp.Table) and bool(inner.args.get("joins"))


def _without_on(text: StatementText, join: exp.Join, before: str) -> SqlError:
    """Return the refusal of tables with a comma or a JOIN between them, and nothing else."""
    span = text.span(join.this)
    word = None if span is None else text.token_before(span[0])
    one, other = quoted(before), quoted(join.this.alias_or_name)
    hint = f"Say which columns are equal: FROM {one} JOIN {other} ON {one}.k = {other}.k."
    if span is not None and text.sql[span[0]] == "'":
        return unsupported(text, "a comma behind a condition", word, "Write several values as column IN ('a', 'b').")
    what = "a comma between tables" if word is not None and word.text == "," else "a JOIN without ON"
    return unsupported(text, what, word or join, hint)


def refuse_on(text: StatementText, condition: exp.Expr) -> SqlError:
    """Return the refusal of a condition of ON that is not an equality of two columns."""
    columns = {column.table for column in condition.find_all(exp.Column)}
    comparison = isinstance(condition, exp.Binary) and len(columns) > 1
    hint = _COMPARED if comparison else _ALONE
    place = condition if text.span(condition) is not None else text.keyword(("ON",))
    return unsupported(text, "ON with anything but columns that are equal", place, hint)


def refuse_called_twice(text: StatementText, called: str, table: exp.Expr) -> SqlError:
    """Return the refusal of a second table that is called as another one is."""
    hint = f"Give it another name by AS: {quoted(table.name)} AS y ON ... = y.k."
    return text.refusal("unsupported", f"two tables are called `{called}` here", table, hint)


def refuse_compared(text: StatementText, node: exp.Expr) -> SqlError:
    """Return the refusal of a comparison of two columns that joins nothing."""
    return unsupported(text, "this comparison of two columns", node, _BESIDE)


def refuse_many(text: StatementText, count: int, place: object) -> SqlError:
    """Return the refusal of a join of too many tables."""
    what = f"a join of {count} tables, where at most {MOST_TABLES} are taken,"
    return unsupported(text, what, place, "Register a subscription for each part, and join their answers.")


def refuse_joined(text: StatementText, clause: str) -> SqlError:
    """Return the refusal of what is asked of a table, and not of a join."""
    place = text.keyword((clause,)) or text.keyword(("SELECT",))
    return unsupported(text, f"{clause} over a join", place, _ROWS_ALONE)


def refuse_unjoined(text: StatementText, called: str, first: str, place: object) -> SqlError:
    """Return the refusal of a table that nothing joins to the others."""
    written = f"{quoted(called)}.k = {quoted(first)}.k"
    hint = f"Say which of its columns is equal to one of another table: {written}, in ON or WHERE."
    return unsupported(text, f"`{called}`, which no equality joins to the other tables,", place, hint)


def refuse_same_table(text: StatementText, node: exp.Expr) -> SqlError:
    """Return the refusal of an equality of two columns of one table."""
    return unsupported(text, "an equality of two columns of one table", node, _COMPARED)


def refuse_joined_stream(text: StatementText, name: str, place: object) -> SqlError:
    """Return the refusal of a join with a view of a stream."""
    hint = "It is a view of a stream: declare a view that joins it, with tables or with other views, and ask that."
    return unsupported(text, f"a join with the view `{name}` in a question", place, hint)


def refuse_many_read(text: StatementText, tables: Sequence[str], place: object) -> SqlError:
    """Return the refusal of a join that reads too many tables through its views."""
    listed = ", ".join(f"`{name}`" for name in tables)
    what = (
        f"a join that reads {len(tables)} tables through its views ({listed}), where at most {MOST_TABLES} are taken,"
    )
    return unsupported(text, what, place, "Register a subscription for each part, and join their answers.")


def refuse_types(text: StatementText, said: str, node: exp.Expr) -> SqlError:
    """Return the refusal of an equality of values that are never equal."""
    hint = "Columns are joined that are of one kind, or numbers: any of the types of numbers with any other."
    return text.refusal("type_mismatch", f"{said}, and no value of the one is a value of the other", node, hint)


def refuse_or(text: StatementText, called: Sequence[str], node: exp.Expr) -> SqlError:
    """Return the refusal of an OR of conditions of several tables."""
    what = f"an OR of conditions of {' and '.join(f'`{name}`' for name in called)}"
    hint = "Each OR may compare columns of one table alone: register a subscription for each side."
    place = node if text.span(node) is not None else text.keyword(("WHERE",))
    return unsupported(text, what, place, hint)
