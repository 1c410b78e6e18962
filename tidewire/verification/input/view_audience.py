"""For whom the rows of a view are, where those are not for everybody that it is made of.

Each column that says so must be one that all rows of which a row is made have in common, and be shown as it is: in a
SELECT over one table or view a plain column, grouped by where there is a GROUP BY, and among those by which rows are
ranked apart from each other where they are ranked. A view of such rows in any other way is none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tidewire.verification.input.column import Column
from tidewire.verification.input.view_plan import Expression, Field, From, Join, Named, Select
from tidewire.verification.input.view_source import NoView, Source
from tidewire.verification.records.attributes import Audience


def audience_of(selects: Sequence[Select], columns: Sequence[Column], sources: Mapping[str, Source]) -> Audience:
    """Return the audience of a view over `sources`. Raises NoView where a row could tell of others."""
    read = [name for select in selects for name in _names(select.source)]
    chosen = [sources[name] for name in read if sources[name].audience.pairs]
    if not chosen:
        return Audience()
    if len(read) != 1:
        raise NoView("rows that are not for everybody beside others")
    [select], [source] = selects, chosen
    places = {column.name.lower(): place for place, column in enumerate(source.columns)}
    pairs = tuple(
        (attribute, _shown(select, places[column], columns)) for attribute, column in source.audience.pairs
    )  # fmt: skip
    return Audience(pairs, source.audience.everything)


def _shown(select: Select, place: int, columns: Sequence[Column]) -> str:
    """Return what the column at `place` is called in the view, which has one value of it in all that makes a row."""
    if select.group is not None:
        place = _place_in(select.group.by, place)
    if select.ranking is not None:
        _place_in(select.ranking.by, place)
    return columns[_place_in(select.items, place)].name.lower()


def _place_in(expressions: Sequence[Expression], place: int) -> int:
    for i, one in enumerate(expressions):
        if isinstance(one, Field) and one.place == place:
            return i
    raise NoView("a column that says for whom rows are is left out")


def _names(source: From) -> list[str]:
    return [source.name] if isinstance(source, Named) else _of_join(source)


def _of_join(join: Join) -> list[str]:
    return [*_names(join.left), *_names(join.right)]
