"""CREATE VIEW and DROP VIEW, and what they mean for the tables and cells that views read.

    CREATE VIEW v AS query                 v is a view; nothing where it is the same view already; else refused
    CREATE VIEW IF NOT EXISTS v AS query   nothing where there is any view v
    CREATE VIEW v WITH ('topic'='...')     its rows are written there, too (view_topic.py); a topic cannot change either
    DROP VIEW v, w                         refused while a view that stays reads one of them, as DROP TABLE is

Two views are the same if their canonical texts are. `*` stands for the columns that there are: a view keeps these
when its tables grow, and is planned again, since stages hold all columns of what they join. A view over several tables
is computed in their cell: CREATE VIEW makes it, and it cannot be dropped while the view needs it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from catalog.ddl.cell_ddl import CellStatement, is_kept_name
from catalog.ddl.declaration import read_table_name
from catalog.ddl.view_topic import check_view_topic, read_view_topic
from catalog.schema.catalog import Catalog
from catalog.schema.cell import cell_name
from catalog.schema.relation import Relation
from catalog.schema.view import View
from catalog.sql.errors import CatalogError, SqlError, suggestion
from catalog.sql.names import quoted
from catalog.sql.statement_text import StatementText, tokens_of
from catalog.view.refusals import Refusals
from catalog.view.view_plan import ViewPlanner, planned_again

_FORM = "Write CREATE VIEW name AS SELECT ...; to begin anew, DROP VIEW name before it."
_DROP = "Write DROP VIEW name."
_SHOWN = 80
"""Characters of a text in which two queries differ."""


@dataclass(frozen=True, slots=True)
class Views:
    """The views of a catalog that is being folded, by name, each after those that it reads."""

    made: dict[str, View]

    @classmethod
    def of(cls, catalog: Catalog) -> Views:
        """Return those of a catalog."""
        return cls(dict(catalog.views))

    def create(
        self, statement: exp.Create, tables: Mapping[str, Relation], source: StatementText, version: int, prefix: str
    ) -> View | None:
        """Enter the view of a CREATE VIEW and return it; None where it changes nothing. `tables`: what can be read.

        prefix: that of tidewire's own topics.

        Raises CatalogError: what the planner of queries refuses, and `conflict`, `malformed`.
        """
        refuse = Refusals(source, statement)
        _check_form(statement, refuse)
        name = read_table_name(statement.this, source)
        if name in self.made and statement.args.get("exists"):
            return None
        self._check_name(name, statement, tables, refuse)
        others = {each: view for each, view in self.made.items() if each != name}
        view = ViewPlanner(refuse, name, version, tables, others).plan(statement.expression)
        view = replace(view, topic=read_view_topic(statement, refuse))
        if view.topic:
            check_view_topic(view, tables, others, prefix, statement, refuse)
        old = self.made.get(name)
        if old is not None and old.sql != view.sql:
            raise _differs(old, view, statement, refuse)
        if old is not None and old.topic != view.topic:
            raise _written_otherwise(old, view, statement, refuse)
        if old is not None:
            return None
        self.made[name] = view
        return view

    def drop(self, statement: exp.Drop, tables: Mapping[str, Relation], source: StatementText) -> None:
        """Take out the views of a DROP VIEW. Raises CatalogError: `unknown_table`, `conflict`, `unsupported`."""
        refuse, dropped = Refusals(source, statement), dict[str, exp.Expr]()
        refuse.extras(statement, ("exists", "tables", "this", "kind"))
        for node in statement.args.get("tables") or [statement.this]:
            name = read_table_name(node, source)
            if name in tables:
                noun = tables[name].noun
                hint = f"Write DROP {noun.upper()} {quoted(name)}."
                raise refuse.refusal("unknown_table", f"`{name}` is a {noun}", node, hint)
            if name in self.made:
                dropped[name] = node
            elif not statement.args.get("exists"):
                hint = f"{suggestion(name, self.made, 'view')} DROP VIEW IF EXISTS drops nothing without complaint."
                raise refuse.refusal("unknown_table", f"there is no view `{name}`", node, hint)
        self.check_readers(dropped, refuse)
        for name in dropped:
            del self.made[name]

    def check_readers(self, dropped: Mapping[str, exp.Expr], refuse: Refusals) -> None:
        """Refuse that tables or views are dropped which a view reads that stays. Raises CatalogError, `conflict`."""
        for name, node in dropped.items():
            readers = [view for view in self.made.values() if name in view.reads and view.name not in dropped]
            if readers:
                said = " and ".join(f"view `{view.name}`" for view in readers)
                what = f"{said} read{'s' * (len(readers) == 1)} `{name}`"
                order = ", ".join(quoted(view) for view in reversed(self._above(name)) if view not in dropped)
                raise refuse.refusal("conflict", what, node, f"Write DROP VIEW {order} before it.")

    def grown(self, table: Relation, tables: Mapping[str, Relation], version: int) -> None:
        """Plan the views again that read a table which has more columns now."""
        for name, view in self.made.items():
            if table.name in view.reads:
                source = StatementText(view.sql, CatalogError)
                planner = ViewPlanner(Refusals(source, source.statements[0]), name, version, tables, self.made)
                self.made[name] = planned_again(view, planner.plan(source.statements[0]))

    def needing(self, cell: str) -> list[str]:
        """Return the views that are computed in a cell."""
        return [view.name for view in self.made.values() if view.cell == cell]

    def check_cell(self, statement: CellStatement, source: StatementText) -> None:
        """Refuse DROP JOIN of a cell that views need. Raises CatalogError, `conflict`."""
        needing = self.needing(cell_name(statement.names)) if statement.verb == "DROP" else []
        if needing:
            said = " and ".join(f"view `{name}`" for name in needing)
            what = f"{said} {'is' if len(needing) == 1 else 'are'} computed where this join is"
            hint = f"Write DROP VIEW {', '.join(map(quoted, reversed(needing)))} before it."
            raise source.refusal("conflict", what, statement.place, hint)

    def _check_name(self, name: str, statement: exp.Create, tables: Mapping[str, Relation], refuse: Refusals) -> None:
        if is_kept_name(name):
            hint = "Choose another name; joins, stages of views and what serves them are called so."
            raise refuse.refusal("conflict", f"the name `{name[:60]}` is kept", statement.this, hint)
        if name in tables:
            noun = tables[name].noun
            hint = f"Choose another name, or DROP {noun.upper()} {quoted(name)} before it."
            raise refuse.refusal("conflict", f"there is a {noun} `{name}`", statement.this, hint)

    def _above(self, name: str) -> list[str]:
        """Return the views that read a table or view, also through others, each after those that it reads."""
        found = [name]
        for view in self.made.values():
            if any(each in found for each in view.reads):
                found.append(view.name)
        return found[1:]


def _check_form(statement: exp.Create, refuse: Refusals) -> None:
    if statement.args.get("replace"):
        raise refuse.unsupported("CREATE OR REPLACE VIEW", ("OR", "REPLACE"), _FORM)
    read_view_topic(statement, refuse)
    if isinstance(statement.this, exp.Schema):
        hint = "Name the columns in the SELECT list: SELECT a AS x."
        raise refuse.unsupported("a list of names after the view's name", statement.this.expressions[0], hint)
    refuse.extras(statement, ("this", "kind", "exists", "expression", "properties"))
    if statement.expression is None or not isinstance(statement.this, exp.Table):
        raise refuse.refusal("syntax", "the view has no query", statement.this, _FORM)


def _differs(old: View, new: View, statement: exp.Create, refuse: Refusals) -> SqlError:
    """Return the refusal of a view that exists with another query, which says where they begin to differ."""
    was, becomes = tokens_of(old.sql), tokens_of(new.sql)
    pairs = [i for i, (a, b) in enumerate(zip(was, becomes, strict=False)) if a.text != b.text]
    at = pairs[0] if pairs else min(len(was), len(becomes))
    has, gets = (
        sql[tokens[at].start :][:_SHOWN] if at < len(tokens) else "nothing more"
        for sql, tokens in ((old.sql, was), (new.sql, becomes))
    )
    what = f"view `{old.name}` exists and has another query: `{has}` where this one has `{gets}`"
    hint = f"A view cannot change. To declare it anew, write DROP VIEW {quoted(old.name)} before the CREATE VIEW."
    return refuse.refusal("conflict", what, statement.this, hint)


def _written_otherwise(old: View, new: View, statement: exp.Create, refuse: Refusals) -> SqlError:
    """Return the refusal of a view that exists and is written elsewhere, or nowhere."""
    was, becomes = (f"written to topic `{each.topic}`" if each.topic else "not written out" for each in (old, new))
    what = f"view `{old.name}` exists and is {was}, where this one is {becomes}"
    hint = f"A view cannot change. To declare it anew, write DROP VIEW {quoted(old.name)} before the CREATE VIEW."
    return refuse.refusal("conflict", what, statement.this, hint)


def is_view(statement: exp.Expr) -> bool:
    """Whether a statement is about views."""
    return isinstance(statement, exp.Create | exp.Drop) and statement.kind == "VIEW"
