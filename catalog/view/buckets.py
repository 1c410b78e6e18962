"""Views of a table that is kept in buckets: each row of such a view is made of rows of one bucket.

    CREATE TABLE trade (... ) WITH ('buckets'='8', 'bucket.by'='symbol')
    CREATE VIEW v AS SELECT symbol, kind, MIN(price) AS low FROM trade GROUP BY symbol, kind     v/0 ... v/7, by symbol

That is so where each stage keeps the columns of the buckets: GROUP BY and PARTITION BY hold them, joins have them equal
on both sides, and the view shows them under their own names. All else is refused. A view over several tables is
computed in one place, whatever their buckets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from catalog.schema.relation import Relation
from catalog.schema.view import ColumnOf, Fold, GroupBy, Joined, Map, Stage, TopK, Union, View
from catalog.sql.names import quoted
from catalog.view.refusals import Refusals

Carried = dict[str, str]
"""By column of the buckets: what a stage calls the column that has its values."""


_WHOLE = "For rows that are made across buckets, declare the table without 'buckets'."


class _Lost(Exception):
    """A stage does not keep a column of the buckets: `how` it is lost; `place`: words of the text; what `works`."""

    def __init__(self, how: str, place: tuple[str, ...], works: str) -> None:
        self.how = how
        self.place = place
        self.works = works
        super().__init__(how)


def in_buckets(
    stages: tuple[Stage, ...],
    tables: Mapping[str, Relation],
    views: Mapping[str, View],
    reads: Sequence[str],
    refuse: Refusals,
) -> tuple[Stage, ...]:
    """Return the stages of a view over the tables `reads`, in the buckets of its one table if that has some.

    Raises the text's error, `unsupported`, where they cannot be computed there.
    """
    if len(reads) != 1 or not tables[reads[0]].bucket_by:
        return stages
    table = tables[reads[0]]
    known: dict[str, Carried] = {table.name: {name: name for name in table.bucket_by}}
    made: list[Stage] = []
    try:
        for stage in stages:
            inputs = [known.get(name) or _declared(views[name]) for name in stage.operator.inputs]
            relations = [_relation(name, tables, views, made) for name in stage.operator.inputs]
            carried = known[stage.relation.name] = _kept(stage, inputs, relations)
            by = tuple([carried[name] for name in table.bucket_by])
            made.append(replace(stage, relation=replace(stage.relation, buckets=table.buckets, bucket_by=by)))
        _check_names(stages[-1], known[stages[-1].relation.name])
    except _Lost as lost:
        by_names = " and ".join(f"`{name}`" for name in table.bucket_by)
        what = f"`{table.name}` is kept in {table.buckets} buckets by {by_names}, and {lost.how}"
        hint = f"{lost.works}: each row of such a view is made of rows of one bucket. {_WHOLE}"
        raise refuse.refusal("unsupported", what, lost.place, hint) from None
    return tuple(made)


def _declared(view: View) -> Carried:
    return {name: name for name in view.relation.bucket_by}


def _relation(name: str, tables: Mapping[str, Relation], views: Mapping[str, View], made: Sequence[Stage]) -> Relation:
    for stage in made:
        if stage.relation.name == name:
            return stage.relation
    return views[name].relation if name in views else tables[name]


def _kept(stage: Stage, inputs: Sequence[Carried], relations: Sequence[Relation]) -> Carried:
    """Return what a stage calls the columns of the buckets. Raises _Lost."""
    operator, columns = stage.operator, [column.name for column in stage.relation.columns]
    match operator:
        case Map():
            return {name: _shown(operator, columns, name, held) for name, held in inputs[0].items()}
        case GroupBy() | Fold():
            _check_group(operator, inputs[0])
            return {name: columns[operator.by.index(held)] for name, held in inputs[0].items()}
        case TopK():
            _check_top(operator, inputs[0])
            return {name: columns[relations[0].index(held)] for name, held in inputs[0].items()}
        case Joined():
            for name, held in inputs[0].items():
                if (held, inputs[1][name]) not in operator.equal:
                    works = f"Have {quoted(name)} of both sides equal in the ON, too"
                    raise _Lost("its ON does not have that equal", ("ON",), works)
            return {name: columns[relations[0].index(held)] for name, held in inputs[0].items()}
        case Union():
            return _of_union(inputs, relations, columns)


def _shown(operator: Map, columns: Sequence[str], name: str, held: str) -> str:
    found = [
        c for c, item in zip(columns, operator.items, strict=True) if isinstance(item, ColumnOf) and item.name == held
    ]
    if not found:
        works = f"Add {quoted(name)}, as it is, to the SELECT list"
        raise _Lost(f"`{name}` is not shown as it is", ("SELECT",), works)
    return name if name in found else found[0]


def _check_group(operator: GroupBy | Fold, carried: Carried) -> None:
    missing = [quoted(name) for name, held in carried.items() if held not in operator.by]
    if missing:
        names = ", ".join(missing)
        if operator.by:
            works = f"Add {names} to the GROUP BY, and to the SELECT list"
            raise _Lost("its GROUP BY leaves that out", ("GROUP BY",), works)
        works = f"Add GROUP BY {names}, and {names} to the SELECT list"
        raise _Lost("its aggregates are of the rows of all buckets", ("SELECT",), works)


def _check_top(operator: TopK, carried: Carried) -> None:
    missing = [quoted(name) for name, held in carried.items() if held not in operator.by]
    if missing:
        names = ", ".join(missing)
        if operator.by:
            raise _Lost("its PARTITION BY leaves that out", ("PARTITION BY",), f"Add {names} to the PARTITION BY")
        raise _Lost("it ranks the rows of all buckets", ("QUALIFY",), f"Add PARTITION BY {names}")


def _of_union(inputs: Sequence[Carried], relations: Sequence[Relation], columns: Sequence[str]) -> Carried:
    found = {}
    for name in inputs[0]:
        places = {relation.index(carried[name]) for carried, relation in zip(inputs, relations, strict=True)}
        if len(places) > 1:
            works = f"Show {quoted(name)} in the same place of each SELECT"
            raise _Lost(f"`{name}` is not the same column of each SELECT", ("UNION",), works)
        found[name] = columns[places.pop()]
    return found


def _check_names(stage: Stage, carried: Carried) -> None:
    for name, held in carried.items():
        if name != held:
            raise _Lost(f"the view calls it `{held}`", ("SELECT",), f"Show it as {quoted(name)}")
