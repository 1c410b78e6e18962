"""One version of a row, and lists of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple


class Version(NamedTuple):
    """`row` was there, under `key`, in [start, end). Of one key at most one version holds at any moment."""

    start: int
    end: int
    key: tuple[Any, ...]
    row: tuple[Any, ...]


def settled(versions: Iterable[Version]) -> list[Version]:
    """Return the versions in order, those that follow one another without a difference as one.

    >>> settled([Version(5, 7, (1,), ("a",)), Version(2, 5, (1,), ("a",)), Version(7, 7, (1,), ("b",))])
    [Version(start=2, end=7, key=(1,), row=('a',))]
    """
    made: list[Version] = []
    last: dict[tuple[Any, ...], int] = {}
    for version in sorted((one for one in versions if one.start < one.end), key=lambda one: one[:2]):
        place = last.get(version.key)
        if place is not None and made[place].end == version.start and made[place].row == version.row:
            made[place] = made[place]._replace(end=version.end)
        else:
            last[version.key] = len(made)
            made.append(version)
    return made
