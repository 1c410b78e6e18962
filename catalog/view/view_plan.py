"""The query of a view as stages, and its canonical text.

    one SELECT            its stages                                     select_plan.py
    SELECT UNION ALL ...  the stages of each, and a Union of them; numbers of different types become one that has all

The same catalog and text give the same stages. Planned again from its canonical text a view shows the same columns,
however its tables grew since.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from catalog.schema.join import MOST_TABLES
from catalog.schema.relation import Relation
from catalog.schema.view import ColumnOf, Stage, View
from catalog.sql.errors import suggestion
from catalog.view.buckets import in_buckets
from catalog.view.closing import ClosingColumns
from catalog.view.column_bounds import ColumnBounds
from catalog.view.draft import Draft, Shown
from catalog.view.expressions import ExpressionReader, column_of
from catalog.view.refusals import Refusals
from catalog.view.select_plan import SelectPlan, SelectReader
from catalog.view.typed import Typed
from catalog.view.view_audience import with_audience

MOST_SELECTS = 32
"""Of one view."""
_SET_OPERATIONS = {exp.Union: "UNION", exp.Except: "EXCEPT", exp.Intersect: "INTERSECT"}


@dataclass(slots=True)
class ViewPlanner:
    """Plans the query of view `name`, declared by catalog version `born`; `tables` and `views` are what it may read."""

    refuse: Refusals
    name: str
    born: int
    tables: Mapping[str, Relation]
    views: Mapping[str, View]
    reads: dict[str, None] = field(default_factory=dict)

    def plan(self, query: exp.Expr) -> View:
        """Return the view. Raises the text's error.

        Codes: `unsupported`, `unsupported_type`, `type_mismatch`, `unknown_table`, `unknown_column`, `conflict`,
        `syntax`, `malformed`. Cost: that of the parser, and of the stages of the views below.
        """
        draft = Draft(self.name, self.born, ColumnBounds(self._declared, self.views.get))
        selects = self._selects(query)
        reader = SelectReader(self.refuse, draft, self._relation)
        plans = [reader.read(select) for select in selects]
        self._refuse_streams(selects)
        made = plans[0].relation if len(plans) == 1 else self._union(draft, plans, selects)
        names = [item.name for item in plans[0].items]
        if [column.name for column in made.columns] != names:
            made = draft.map(made, _renamed(made, names))
        tables = self._tables(query)
        stages = in_buckets(draft.close(made), self.tables, self.views, tables, self.refuse)
        stages = ClosingColumns(self._declared, self.views.get).closed(stages)
        stages = with_audience(stages, self._declared, self.refuse, query)
        sql = " UNION ALL ".join(plan.sql for plan in plans)
        return View(self.name, sql, tuple(self.reads), tables, stages, self.born)

    def _declared(self, name: str) -> Relation | None:
        view = self.views.get(name)
        return self.tables.get(name) if view is None else view.relation

    def _relation(self, name: str, node: exp.Expr) -> Relation:
        relation = self._declared(name)
        if relation is None or name == self.name:
            hint = suggestion(name, [each for each in (*self.tables, *self.views) if each != self.name], "table")
            raise self.refuse.refusal("unknown_table", f"there is no table or view `{name}`", node, hint)
        self.reads[name] = None
        return relation

    def _tables(self, query: exp.Expr) -> tuple[str, ...]:
        found = {table for name in self.reads for table in (self.views[name].tables if name in self.views else (name,))}
        tables = tuple(sorted(found))
        if len(tables) > MOST_TABLES:
            what = f"a view over {len(tables)} tables, where at most {MOST_TABLES} are taken,"
            hint = f"It reads {', '.join(f'`{table}`' for table in tables)}, also through views."
            raise self.refuse.unsupported(what, query, hint)
        return tables

    def _selects(self, query: exp.Expr) -> list[exp.Select]:
        pending, selects = [query], list[exp.Select]()
        while pending:
            node = pending.pop()
            if isinstance(node, exp.Subquery):
                self.refuse.extras(node, ("this",))
                pending.append(node.this)
            elif isinstance(node, exp.Union) and node.args.get("distinct") is False:
                self.refuse.extras(node, ("this", "expression", "distinct"))
                pending += [node.expression, node.this]
            elif isinstance(node, exp.Select):
                selects.append(node)
            else:
                raise self._no_select(node)
        if len(selects) > MOST_SELECTS:
            what = f"a view of {len(selects)} SELECTs, where at most {MOST_SELECTS} are taken,"
            raise self.refuse.unsupported(what, selects[MOST_SELECTS], "Declare a view for a part of them.")
        return selects

    def _refuse_streams(self, selects: Sequence[exp.Select]) -> None:
        streams = [name for name in self.reads if name in self.tables and self.tables[name].stream is not None]
        if streams and len(selects) > 1:
            hint = "Declare a view that groups the stream for each SELECT, and UNION ALL these views in another one."
            raise self.refuse.unsupported(f"UNION ALL of rows of stream `{streams[0]}`", ("UNION",), hint)

    def _no_select(self, node: exp.Expr) -> Exception:
        for kind, word in _SET_OPERATIONS.items():
            if isinstance(node, kind):
                hint = "UNION ALL keeps every row." if word == "UNION" else "Write a JOIN, or LEFT JOIN and IS NULL."
                return self.refuse.unsupported(word, (word,), hint)
        return self.refuse.unsupported("a view of anything but SELECT", node)

    def _check_alike(self, plan: SelectPlan, first: SelectPlan, select: exp.Select) -> None:
        """Refuse a SELECT of a UNION ALL that shows other columns than the first, or ranges where that has none."""
        ours, others = ([item for item in each.items if not item.part] for each in (plan, first))
        if len(ours) != len(others):
            what = f"this SELECT has {_columns(len(ours))}, and the first has {_columns(len(others))}"
            hint = "All SELECTs of a UNION ALL show the same number of columns."
            raise self.refuse.refusal("type_mismatch", what, select, hint)
        for one, other in zip(ours, others, strict=True):
            types = one.typed.type, other.typed.type
            if types[0] != types[1] and any(type_.is_range for type_ in types):
                what = f"`{other.name}` is {types[1]} and here {types[0]}"
                raise self.refuse.refusal("type_mismatch", what, one.typed.node, "Show ranges of one type.")

    def _union(self, draft: Draft, plans: Sequence[SelectPlan], selects: Sequence[exp.Select]) -> Relation:
        for plan, select in zip(plans, selects, strict=True):
            self._check_alike(plan, plans[0], select)
        branches = [self._shown(draft, plan) for plan in plans]
        reader = ExpressionReader(self.refuse, _Nothing())
        common = [reader.common(each, each[0].node) for each in zip(*branches, strict=True)]
        made = []
        for plan, branch in zip(plans, branches, strict=True):
            cast = [reader.as_type(one, *each) for one, each in zip(branch, common, strict=True)]
            same = all(one.type == each.type for one, each in zip(branch, cast, strict=True))
            shown = [(c.name, each.expression, c.nullable) for c, each in zip(plan.relation.columns, cast, strict=True)]
            made.append(plan.relation if same else draft.map(plan.relation, shown))
        return draft.union(made, [item.name for item in plans[0].items])

    def _shown(self, draft: Draft, plan: SelectPlan) -> list[Typed]:
        """Return the columns of a SELECT as expressions."""
        columns = zip(plan.relation.columns, draft.bounds_of(plan.relation), plan.items, strict=True)
        return [
            column_of(c.name, c.type, item.typed.sql, c.nullable, bound, item.typed.node) for c, bound, item in columns
        ]


class _Nothing:
    """Knows no names."""

    def find(self, node: exp.Expr) -> Typed | None:
        """Return None."""
        return None


def _renamed(made: Relation, names: Sequence[str]) -> list[Shown]:
    return [
        (name, ColumnOf(column.name, column.type), column.nullable)
        for name, column in zip(names, made.columns, strict=True)
    ]


def _columns(number: int) -> str:
    return "1 column" if number == 1 else f"{number} columns"


def planned_again(view: View, again: View) -> View:
    """Return a view as `again` has it, planned of its canonical text after a table grew.

    Stages that are as they were keep their rows, and so `born`; the others begin anew with that of `again`.
    """
    stages = []
    for i, stage in enumerate(again.stages):
        old = view.stages[i] if i < len(view.stages) else None
        kept = None if old is None else _born(stage, old.relation.born)
        if i == len(again.stages) - 1:
            stages.append(_born(stage, view.born))
        else:
            stages.append(kept if kept is not None and kept == old else _born(stage, again.born))
    return replace(view, stages=tuple(stages))


def _born(stage: Stage, born: int) -> Stage:
    return replace(stage, relation=replace(stage.relation, born=born))
