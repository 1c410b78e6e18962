"""Where the stages of views are computed: in the group of the one table that a view reads, or in the cell of several.

    seat/0                  group of a table: seat/0, and behind it every view of `seat` alone
      stage/cheap/0/0         an inner stage, silent: the group alone knows the name
      cheap/0                 the view, asked by this name
    cell/flight+seat/0      cell: its copies, and the views of just these tables
      open/0                  a view of `flight` and of `cheap`
      cell/flight+seat/0/cheap   `cheap` computed again, silent, since its home is elsewhere

A table in buckets has its views in each bucket. What a view reads through others is computed wherever it is.

A cell of a stream folds its rows for all views that group them, whether one of the cell reads these or not yet: what a
Fold has cannot be made later, and so it is there when a view comes that does.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from catalog.schema.catalog import Catalog
from catalog.schema.cell import Cell
from catalog.schema.relation import Relation
from catalog.schema.view import Fold, Stage, View


@dataclass(frozen=True, slots=True)
class PlacedStage:
    """A stage as a member of a group; its relation is the view's, or that of an inner stage.

    relations, inputs: by input what is read, and the member that has it.
    served: whether it is asked by its name, as the last stage of a view that is at home here.
    """

    stage: Stage
    member: str
    relations: tuple[Relation, ...]
    inputs: tuple[str, ...]
    served: bool

    @property
    def relation(self) -> Relation:
        """What it makes."""
        return self.stage.relation


def stages_beside(catalog: Catalog, table: str, bucket: int = 0) -> tuple[PlacedStage, ...]:
    """Return the stages in the group of a bucket of `table`, each behind those that it reads."""
    views = [view for view in catalog.views.values() if view.tables == (table,)]
    return _placed(catalog, views, lambda name: f"{name}/{bucket}", {view.name for view in views})


def stages_in(catalog: Catalog, cell: Cell, joined: Collection[str] = ()) -> tuple[PlacedStage, ...]:
    """Return the stages in a cell, each behind those that it reads; `joined` are the views that questions join there.

    What is joined of another home is computed again, silent.
    """
    home = [view for view in catalog.views.values() if view.cell == cell.name]
    folding = [view for table in cell.tables for view in _folding(catalog, table)]
    own = {stage.relation.name for view in home for stage in view.stages}
    return _placed(
        catalog,
        catalog.views_below(*home, *folding, *(catalog.views[name] for name in joined)),
        lambda name: f"{name}/0" if name in own else cell.member(name),
        {view.name for view in home},
    )


def folds_in(catalog: Catalog, cell: Cell) -> dict[str, str]:
    """Return by the name of each Fold in a cell the stream whose group has its home."""
    folding = ((table, view) for table in cell.tables for view in _folding(catalog, table))
    return {stage.relation.name: table for table, view in folding for stage in view.stages if _folds(stage)}


def member_in(catalog: Catalog, cell: Cell, name: str) -> str:
    """Return the member of a cell that has the rows of a table or view."""
    view = catalog.views.get(name)
    return f"{name}/0" if view is not None and view.cell == cell.name else cell.member(name)


def home_of(view: View) -> str:
    """Return the name of the group that a view is asked in: of a table in buckets, that of the first."""
    return view.cell or f"{view.tables[0]}/0"


def _folding(catalog: Catalog, table: str) -> list[View]:
    """Return the views that fold the rows of a stream; of a table there is none."""
    relation = catalog.relations.get(table)
    if relation is None or relation.stream is None:
        return []
    return [view for view in catalog.views.values() if view.tables == (table,) and any(map(_folds, view.stages))]


def _folds(stage: Stage) -> bool:
    return isinstance(stage.operator, Fold)


def _placed(
    catalog: Catalog, views: Iterable[View], member: Callable[[str], str], served: set[str]
) -> tuple[PlacedStage, ...]:
    """Return all stages of `views`, whose members `member` names."""
    relations: dict[str, Relation] = dict(catalog.relations)
    placed: list[PlacedStage] = []
    for view in views:
        for stage in view.stages:
            relation, inputs = stage.relation, stage.operator.inputs
            relations[relation.name] = relation
            asked = view.name in served and relation.name == view.name
            read = tuple(relations[name] for name in inputs)
            placed.append(PlacedStage(stage, member(relation.name), read, tuple(map(member, inputs)), asked))
    return tuple(placed)
