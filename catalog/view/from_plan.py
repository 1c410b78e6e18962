"""The FROM of a SELECT of a view: one table or view, or a chain of JOIN and LEFT JOIN, each a stage.

    FROM flights f LEFT JOIN booked b ON f.flight = b.flight

    stage/v/0     Joined(flights, booked; flight = flight; outer)     columns 0.flight 0.dest ... 1.flight 1.n

The right side of each JOIN is one table or view, whose columns are equal to columns of what stands before it.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from catalog.schema.relation import Relation
from catalog.sql.names import folded, quoted, quoted_for_all
from catalog.sql.repair import near_word
from catalog.types.column_type import ColumnType, Kind
from catalog.view.bounds import bound_of
from catalog.view.conditions import conjuncts_of
from catalog.view.draft import Draft
from catalog.view.refusals import Refusals
from catalog.view.scope import Place, Scope, Source

MOST_SOURCES = 8
"""Tables and views of one FROM."""
_WORDS = ("WHERE", "GROUP", "HAVING", "QUALIFY", "UNION", "JOIN", "LEFT", "ORDER", "LIMIT")
"""Words that stand behind a table."""
_EQUAL = "Tables are joined by columns that are equal: ON a.k = b.k AND a.l = b.l."
_INSTEAD = {
    "RIGHT": "Write LEFT JOIN, with the tables the other way round.",
    "FULL": "Write two views with LEFT JOIN, and one with UNION ALL over them.",
    "CROSS": f"{_EQUAL}",
    "ASOF": f"{_EQUAL}",
}


class FromPlan:
    """Reads one FROM and adds the stages of its joins. `relation_of` finds what a name stands for, or refuses it."""

    def __init__(self, refuse: Refusals, draft: Draft, relation_of: Callable[[str, exp.Expr], Relation]) -> None:
        self._refuse = refuse
        self._draft = draft
        self._relation_of = relation_of

    def read(self, tree: exp.Select) -> tuple[Relation, Scope, str]:
        """Return the relation that is read, the names of its columns, and the canonical text behind FROM.

        Raises the text's error: `unsupported`, `unknown_table`, `unknown_column`, `type_mismatch`.
        """
        source, joins = tree.args.get("from_"), tree.args.get("joins") or []
        if source is None:
            raise self._refuse.unsupported("a SELECT without FROM", ("SELECT",), "Say which table: FROM table.")
        if len(joins) >= MOST_SOURCES:
            what = f"a FROM of {len(joins) + 1} tables, where at most {MOST_SOURCES} are taken,"
            raise self._refuse.unsupported(what, joins[MOST_SOURCES - 1], "Declare a view for a part of them.")
        scope = Scope(self._refuse, bool(joins))
        whole, called, text = self._table(source.this, scope)
        if joins:
            self._refuse_stream(whole, source.this)
        names = _stage_names(0, whole) if joins else [column.name for column in whole.columns]
        scope.sources.append(Source(called, whole, tuple([column.name for column in whole.columns])))
        for join in joins:
            whole, text = self._join(join, scope, whole, text, names)
        return whole, scope, text

    def _join(
        self, join: exp.Join, scope: Scope, left: Relation, before: str, names: list[str]
    ) -> tuple[Relation, str]:
        """Add the stage of one JOIN; `names` are what the columns so far are called behind it."""
        outer = self._is_left(join)
        right, called, text = self._table(join.this, scope)
        self._refuse_stream(right, join.this)
        number = len(scope.sources)
        added = _stage_names(number, right)
        scope.sources.append(Source(called, right, tuple([column.name for column in right.columns]), outer))
        pairs = [self._pair(side, scope, number) for side in conjuncts_of(join.args["on"])]
        equal = [(one.stage, other.stage) for one, other in pairs]
        made = self._draft.join(left, right, list(dict.fromkeys(equal)), outer, (names, added))
        names += added
        self._renamed(scope, names)
        on = " AND ".join(f"{one.sql} = {other.sql}" for one, other in pairs)
        return made, f"{before} {'LEFT ' * outer}JOIN {text} ON {on}"

    def _refuse_stream(self, relation: Relation, node: exp.Expr) -> None:
        if relation.stream is not None:
            hint = "Declare a view that groups the stream, and join that view: with tables, and with other views."
            raise self._refuse.unsupported(f"a join with stream `{relation.name}`", node, hint)

    def _renamed(self, scope: Scope, names: list[str]) -> None:
        """Let the sources know what the stage that was added calls their columns."""
        start = 0
        for i, source in enumerate(scope.sources):
            end = start + len(source.relation.columns)
            scope.sources[i] = Source(source.called, source.relation, tuple(names[start:end]), source.outer)
            start = end

    def _is_left(self, join: exp.Join) -> bool:
        words = [str(join.args[name]).upper() for name in ("method", "side", "kind") if join.args.get(name)]
        odd = [word for word in words if word not in ("LEFT", "INNER", "OUTER")]
        if odd:
            what = " ".join([*words, "JOIN"])
            raise self._refuse.unsupported(what, (odd[0], "JOIN"), _INSTEAD.get(odd[0], _EQUAL))
        self._refuse.extras(join, ("this", "on", "side", "kind", "method", "using"))
        if join.args.get("using"):
            raise self._refuse.unsupported("USING", ("USING",), "Write each pair of columns: ON a.k = b.k.")
        if join.args.get("on") is None:
            place = join.this if self._refuse.text.span(join.this) else ("JOIN", ",")
            raise self._refuse.unsupported("a table that is joined without ON", place, _EQUAL)
        return "LEFT" in words

    def _pair(self, node: exp.Expr, scope: Scope, number: int) -> tuple[Place, Place]:
        """Return the two columns of an equality, that of the last table as the second."""
        left, right = (node.this.unnest(), node.expression.unnest()) if isinstance(node, exp.EQ) else (None, None)
        if not (isinstance(left, exp.Column) and isinstance(right, exp.Column)):
            hint = f"{_EQUAL} Other conditions stand behind WHERE, or in a view that is joined."
            raise self._refuse.unsupported("ON with anything but columns that are equal", node, hint)
        one, other = scope.column(left), scope.column(right)
        own = [place.sql for place in scope.of(number)]
        last = [place.sql in own for place in (one, other)]
        if last[0] and not last[1]:
            one, other = other, one
        elif last[0] == last[1]:
            called = quoted(scope.sources[number].called)
            hint = f"Say which column of {called} is equal to one of a table before it: ON {called}.k = a.k."
            raise self._refuse.unsupported("this equality, which joins nothing,", node, hint)
        if not _may_be_equal(one.column.type, other.column.type):
            what = f"`{one.sql}` is {one.column.type} and `{other.sql}` is {other.column.type}"
            hint = "Columns are joined that are of one kind, or numbers: any of the types of numbers with any other."
            raise self._refuse.refusal("type_mismatch", f"{what}, which are never equal", node, hint)
        return one, other

    def _table(self, table: exp.Expr, scope: Scope) -> tuple[Relation, str, str]:
        """Return a relation of FROM, what it is called, and its canonical text."""
        if not isinstance(table, exp.Table):
            what = "a subquery in FROM" if isinstance(table, exp.Subquery) else "anything but a table or view in FROM"
            place = table if self._refuse.text.span(table) else ("FROM",)
            raise self._refuse.unsupported(what, place, "Declare a view for it, and name that view.")
        if table.args.get("db") is not None:
            raise self._refuse.unsupported("a schema before the table's name", table, "Write the table's name alone.")
        if table.args.get("joins"):
            hint = "Write ON right behind each table: a JOIN b ON ... JOIN c ON ..."
            raise self._refuse.unsupported("a join within a join", table, hint)
        self._refuse.extras(table, ("this", "alias"))
        if not isinstance(table.this, exp.Identifier):
            raise self._refuse.unsupported("a function in FROM", table, "Write the name of a table or view.")
        name = folded(table.this)
        called, alias = name, table.args.get("alias")
        if alias is not None:
            self._refuse.extras(alias, ("this",))
            called = folded(alias.this) if isinstance(alias.this, exp.Identifier) else name
            self._check_alias(alias.this)
        if any(source.called == called for source in scope.sources):
            hint = f"Give it another name: {quoted(name)} AS other."
            raise self._refuse.refusal("unsupported", f"two tables are called `{called}` here", table, hint)
        text = quoted_for_all(name)
        if called != name and scope.several:
            text += f" AS {quoted_for_all(called)}"
        return self._relation_of(name, table), called, text

    def _check_alias(self, alias: exp.Expr) -> None:
        """Refuse a name without AS that was hardly meant as one: a word of SQL with a slip."""
        span = self._refuse.text.span(alias)
        before = None if span is None else self._refuse.text.token_before(span[0])
        if before is None or before.token_type is TokenType.ALIAS or alias.args.get("quoted"):
            return
        if meant := near_word(alias.name.upper(), _WORDS):
            hint = f"Did you mean {meant}? To call the table so, write AS {quoted(alias.name.lower())}."
            raise self._refuse.refusal("syntax", f"`{alias.name}` was not expected here", alias, hint)


def _stage_names(number: int, relation: Relation) -> list[str]:
    """Return what the columns of a source are called in a join.

    >>> from catalog.schema.relation import Column
    >>> _stage_names(1, Relation("t", (Column("k", ColumnType(Kind.BIGINT)),), ("k",), "t"))
    ['1.k']
    """
    return [f"{number}.{column.name}" for column in relation.columns]


def _may_be_equal(one: ColumnType, other: ColumnType) -> bool:
    if one.is_range or other.is_range:
        return one == other
    return one.kind is other.kind or all(_is_number(type_) for type_ in (one, other))


def _is_number(type_: ColumnType) -> bool:
    return bound_of(type_) is not None or type_.kind in (Kind.REAL, Kind.DOUBLE)
