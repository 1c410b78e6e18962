"""One SELECT of a view as stages.

    FROM           joins, each a stage                                        from_plan.py
    WHERE          with what is computed for the next stage, a Map
    GROUP BY       a GroupBy, whose columns are called by their text          grouping.py
                   of a stream a Fold                                         folding.py
    QUALIFY        a TopK, of what GROUP BY makes where there is one          top_plan.py
    items, HAVING  a Map, unless the last stage shows just these

A Map stands only where there is something to compute or to leave out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from catalog.schema.relation import LOWER, UPPER, Column, Relation, derived
from catalog.schema.view import Aggregate, ColumnOf
from catalog.sql.names import folded, quoted_for_all
from catalog.view.column_bounds import Bounds
from catalog.view.conditions import ConditionReader, Read
from catalog.view.draft import Draft, Shown
from catalog.view.expressions import ExpressionReader, Known, column_of
from catalog.view.folding import add_parts, check_select
from catalog.view.from_plan import FromPlan
from catalog.view.grouping import AggregateRead, Grouping, aggregate_kind, has_aggregate
from catalog.view.literals import literal_of
from catalog.view.refusals import Refusals
from catalog.view.scope import Place, Scope
from catalog.view.top_plan import RANK, Top, TopReader
from catalog.view.typed import Typed

MOST_ITEMS = 200
"""Of one SELECT."""
_CLAUSES = ("expressions", "from_", "joins", "where", "group", "having", "qualify", "kind", "operation_modifiers")


@dataclass(frozen=True, slots=True)
class Item:
    """One item of the SELECT list, and what its column is called. `part`: nobody wrote it; it belongs to a range."""

    name: str
    typed: Typed
    part: bool = False

    @property
    def sql(self) -> str:
        """The item as canonical SQL."""
        name = quoted_for_all(self.name)
        return self.typed.sql if _last_part(self.typed) == name else f"{self.typed.sql} AS {name}"


def _last_part(typed: Typed) -> str:
    """Return the text of a plain column without its table, and '' of all else."""
    node = typed.node.unnest()
    plain = isinstance(node, exp.Column) and isinstance(node.this, exp.Identifier) and not _is_bound(typed)
    return quoted_for_all(folded(node.this)) if plain and isinstance(typed.expression, ColumnOf) else ""


def _is_bound(typed: Typed) -> bool:
    """Whether a column is lower() or upper() of a range, which has no name of its own."""
    return typed.sql.startswith((f"{LOWER}(", f"{UPPER}("))


@dataclass(frozen=True, slots=True)
class Rows:
    """What columns of the rows of FROM stand for; `bounds` are of the relation that is read."""

    refuse: Refusals
    scope: Scope
    relation: Relation
    bounds: Bounds
    clause: str

    def find(self, node: exp.Expr) -> Typed | None:
        """Return the column that a name stands for; None where a node is no name."""
        if aggregate_kind(node) is not None:
            raise self.refuse.aggregate(node, self.clause)
        if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
            return None
        return self.typed(self.scope.column(node), node)

    def typed(self, place: Place, node: exp.Expr) -> Typed:
        """Return a column as an expression."""
        column, bound = place.column, self.bounds[self.relation.index(place.stage)]
        return column_of(place.stage, column.type, place.sql, column.nullable, bound, node)

    def part(self, of: Typed, role: str) -> ColumnOf:
        """Return the column that is a part of a range, which is a column."""
        assert isinstance(of.expression, ColumnOf), "ranges are columns"
        found = self.relation.derived(of.expression.name, role)
        return ColumnOf(found.name, found.type)


@dataclass(frozen=True, slots=True)
class SelectPlan:
    """What the stages of one SELECT make, its canonical text, and what each item is called and is."""

    relation: Relation
    sql: str
    items: tuple[Item, ...]


class SelectReader:
    """Reads one SELECT and adds its stages to a draft."""

    def __init__(self, refuse: Refusals, draft: Draft, relation_of: Callable[[str, exp.Expr], Relation]) -> None:
        self._refuse = refuse
        self._draft = draft
        self._from = FromPlan(refuse, draft, relation_of)

    def read(self, tree: exp.Select) -> SelectPlan:
        """Return the plan of a SELECT; what it makes may be what it reads. Raises the text's error."""
        self._refuse.extras(tree, _CLAUSES)
        relation, scope, from_sql = self._from.read(tree)
        rows = self._rows(scope, relation, "WHERE")
        where = self._conditions(rows, tree.args.get("where"))
        grouping = self._grouping(tree, scope, relation)
        if relation.stream is not None:
            grouping = check_select(tree, relation, grouping, self._refuse)
        known: Known = grouping or self._rows(scope, relation, "an expression")
        top = TopReader(self._refuse, ExpressionReader(self._refuse, known)).read(tree)
        items = self._items(tree, scope, rows, grouping, top)
        having = self._conditions(grouping, tree.args.get("having")) if grouping else []
        conditions = where
        if grouping is not None:
            key = [rows.typed(place, _column_node(place)) for place in scope.all() if place.stage in relation.key]
            relation = self._grouped(relation, where, grouping, items, key)
            conditions = having
        if top is not None:
            top.check_ties(relation, {} if grouping else {place.stage: place.sql for place in scope.all()})
        made = self._made(relation, conditions, items, top)
        return SelectPlan(made, _sql(items, from_sql, where, grouping, having, top), tuple(items))

    def _rows(self, scope: Scope, relation: Relation, clause: str) -> Rows:
        return Rows(self._refuse, scope, relation, self._draft.bounds_of(relation), clause)

    def _conditions(self, known: Rows | Grouping, clause: exp.Expr | None) -> list[Read]:
        if clause is None:
            return []
        return ConditionReader(self._refuse, ExpressionReader(self._refuse, known), known.part).read(clause.this)

    def _grouping(self, tree: exp.Select, scope: Scope, relation: Relation) -> Grouping | None:
        """Return what a grouped SELECT is made of, None where it is none."""
        group, having = tree.args.get("group"), tree.args.get("having")
        qualify = tree.args.get("qualify")
        if group is None and having is None and not any(map(has_aggregate, (*tree.expressions, qualify))):
            return None
        reader = ExpressionReader(self._refuse, self._rows(scope, relation, "GROUP BY"))
        groups: dict[str, Typed] = {}
        if group is not None:
            self._refuse.extras(group, ("expressions",))
            for node in group.expressions:
                read = reader.read(self._meant(node, tree, scope))
                groups.setdefault(read.sql, read)
        of_rows = ExpressionReader(self._refuse, self._rows(scope, relation, "an aggregate"))
        grouping = Grouping(self._refuse, of_rows, list(groups.values()))
        rows = self._rows(scope, relation, "GROUP BY")
        grouping.parts = {(one.sql, role): part for one in grouping.groups for role, _, part in _parts(one, "", rows)}
        return grouping

    def _meant(self, node: exp.Expr, tree: exp.Select, scope: Scope) -> exp.Expr:
        """Return the expression that is grouped by: an item, where its name is written and no column has it."""
        if literal_of(node.unnest()) is not None:
            hint = "Write the expression of the item, or its name."
            raise self._refuse.unsupported("GROUP BY of a constant", node, hint)
        if not isinstance(node, exp.Column) or node.args.get("table") is not None:
            return node
        name = folded(node.this) if isinstance(node.this, exp.Identifier) else ""
        if any(place.column.name == name for place in scope.all()):
            return node
        for item in tree.expressions:
            if isinstance(item, exp.Alias) and folded(item.args["alias"]) == name:
                meant: exp.Expr = item.this
                return meant
        return node

    def _items(
        self, tree: exp.Select, scope: Scope, rows: Rows, grouping: Grouping | None, top: Top | None
    ) -> list[Item]:
        if not tree.expressions:
            raise self._refuse.refusal("syntax", "SELECT is followed by nothing", ("SELECT",), "Write SELECT *.")
        reader = ExpressionReader(self._refuse, grouping or rows)
        found: dict[str, Item] = {}
        for node in tree.expressions:
            for item in self._item(node, reader, scope, rows, grouping, top):
                if item.name in found:
                    raise self._refuse.named_twice(item.name, node)
                found[item.name] = item
        for item in [*found.values()]:
            for _, name, part in _parts(item.typed, item.name, grouping or rows):
                if name in found:
                    raise self._refuse.named_twice(name, tree)
                found[name] = Item(name, part, part=True)
        if len(found) > MOST_ITEMS:
            raise self._refuse.unsupported(f"a SELECT list of more than {MOST_ITEMS} items", tree.expressions[-1])
        return list(found.values())

    def _item(
        self,
        node: exp.Expr,
        reader: ExpressionReader,
        scope: Scope,
        rows: Rows,
        grouping: Grouping | None,
        top: Top | None,
    ) -> list[Item]:
        inner = node.unalias().unnest()
        if isinstance(inner, exp.Star) or (isinstance(inner, exp.Column) and isinstance(inner.this, exp.Star)):
            return self._star(inner, node, scope, rows, grouping)
        read = self._rank(inner, top, reader) if isinstance(inner, exp.Window) else reader.read(inner)
        if isinstance(node, exp.Alias):
            return [Item(self._name(node.args["alias"]), read)]
        if not _last_part(read):
            raise self._refuse.unnamed(node, read.sql)
        return [Item(folded(inner.this), read)]

    def _star(self, star: exp.Expr, node: exp.Expr, scope: Scope, rows: Rows, grouping: Grouping | None) -> list[Item]:
        narrowed = star if isinstance(star, exp.Star) else star.this
        if any(value for value in narrowed.args.values()) or isinstance(node, exp.Alias):
            raise self._refuse.unsupported("* with anything behind it", node, "Name the columns.")
        if grouping is not None:
            raise self._refuse.unsupported("* in a grouped SELECT", node, "Name the columns that are grouped by.")
        places = scope.all(star.args.get("table") if isinstance(star, exp.Column) else None)
        return [Item(place.column.name, rows.typed(place, _column_node(place))) for place in places]

    def _rank(self, window: exp.Window, top: Top | None, reader: ExpressionReader) -> Typed:
        spec = TopReader(self._refuse, reader).window(window)
        if top is None:
            hint = "Say how many: QUALIFY ROW_NUMBER() OVER (...) <= k."
            raise self._refuse.unsupported("ROW_NUMBER() without QUALIFY", window, hint)
        if spec.sql != top.sql:
            hint = f"Write {top.sql}, as behind QUALIFY."
            raise self._refuse.unsupported("a second ROW_NUMBER() of another order", window, hint)
        return top.rank(window)

    def _name(self, alias: exp.Expr) -> str:
        name = folded(alias) if isinstance(alias, exp.Identifier) else ""
        if not name or len(name) > 255 or not name.isprintable():
            what = f"a name has 1 to 255 printable characters, got {name[:40]!r}"
            raise self._refuse.refusal("malformed", what, alias, "Choose another name.")
        return name

    def _grouped(
        self,
        relation: Relation,
        where: Sequence[Read],
        grouping: Grouping,
        items: Sequence[Item],
        key: Sequence[Typed],
    ) -> Relation:
        """Add the stages of WHERE and GROUP BY. LATEST needs the `key` of the rows, for those of the same time."""
        if relation.stream is not None:
            add_parts(grouping, self._refuse)
        aggregates = list(grouping.aggregates.values())
        groups = _in_order(grouping.groups, items)
        wanted = [each for a in aggregates for each in (a.argument, a.by) if each is not None]
        wanted += key if any(a.by is not None for a in aggregates) else ()
        parts = list(grouping.parts.values())
        needed = _distinct([*groups, *parts, *wanted])
        source, name_of = self._computed(relation, needed, where)
        by = [(name_of(group), group.sql) for group in (*groups, *parts)]
        made = [(a.typed.sql, _aggregate(a, name_of), a.typed.nullable) for a in aggregates]
        if relation.stream is not None:
            return self._draft.fold(source, by, made)
        return self._draft.group(source, by, made, len(parts))

    def _computed(
        self, relation: Relation, needed: Sequence[Typed], where: Sequence[Read]
    ) -> tuple[Relation, Callable[[Typed], str]]:
        """Return a relation that has the columns `needed`, and what each is called there: itself if it has them."""
        plain = {one.sql: one.expression.name for one in needed if isinstance(one.expression, ColumnOf)}
        if not where and len(plain) == len(needed):
            return relation, lambda one: plain[one.sql]
        shown: list[Shown] = [(one.sql, one.expression, one.nullable) for one in needed]
        if not shown:
            first = relation.column(relation.key[0]) if relation.key else relation.columns[0]
            shown = [(first.name, ColumnOf(first.name, first.type), first.nullable)]
        return self._draft.map(relation, shown, [read.condition for read in where]), lambda one: one.sql

    def _made(self, relation: Relation, where: Sequence[Read], items: Sequence[Item], top: Top | None) -> Relation:
        """Add the stages behind GROUP BY: QUALIFY, and what shows the items."""
        if top is None:
            shown = [(item.name, item.typed.expression, item.typed.nullable) for item in items]
            return self._draft.project(relation, shown, [read.condition for read in where])
        ranked = any(item.typed.sql == top.sql for item in items)
        needed = _distinct(
            [*(i.typed for i in items if i.typed.sql != top.sql), *top.by, *(t for t, _, _ in top.order)]
        )
        source, name_of = self._computed(relation, needed, where)
        made = self._draft.top(source, *top.columns(name_of), top.k, RANK if ranked else None)
        shown = []
        for item in items:
            name = RANK if item.typed.sql == top.sql else name_of(item.typed)
            shown.append((item.name, ColumnOf(name, made.column(name).type), made.column(name).nullable))
        return self._draft.project(made, shown)


def _in_order(groups: Sequence[Typed], items: Sequence[Item]) -> list[Typed]:
    """Return the groups in the order in which items show them, those that are not shown behind these."""
    places = {item.typed.sql: i for i, item in reversed(list(enumerate(items)))}
    return sorted(groups, key=lambda group: places.get(group.sql, len(items)))


def _distinct(needed: Sequence[Typed]) -> list[Typed]:
    return list({one.sql: one for one in needed}.values())


def _aggregate(read: AggregateRead, name_of: Callable[[Typed], str]) -> Aggregate:
    column = None if read.argument is None else name_of(read.argument)
    return Aggregate(read.kind, column, read.typed.type, None if read.by is None else name_of(read.by))


def _parts(of: Typed, name: str, known: Rows | Grouping) -> list[tuple[str, str, Typed]]:
    """Return what is kept beside a range: role, name beside a column called `name`, and the column that it is."""
    made = []
    for part in derived(Column(name, of.type)):
        column = known.part(of, part.role)
        typed = column_of(column.name, column.type, f"{part.role} of {of.sql}", True, None, of.node)
        made.append((part.role, part.name, typed))
    return made


def _column_node(place: Place) -> exp.Expr:
    """Return a name as if it were written, which has no place in the text."""
    return exp.column(exp.to_identifier(place.column.name, quoted=True))


def _sql(
    items: Sequence[Item],
    from_sql: str,
    where: Sequence[Read],
    grouping: Grouping | None,
    having: Sequence[Read],
    top: Top | None,
) -> str:
    parts = [f"SELECT {', '.join(item.sql for item in items if not item.part)} FROM {from_sql}"]
    if where:
        parts.append(f"WHERE {' AND '.join(read.sql for read in where if read.sql)}")
    if grouping is not None and grouping.groups:
        parts.append(f"GROUP BY {', '.join(group.sql for group in grouping.groups)}")
    if having:
        parts.append(f"HAVING {' AND '.join(read.sql for read in having if read.sql)}")
    if top is not None:
        parts.append(f"QUALIFY {top.sql} <= {top.k}")
    return " ".join(parts)
