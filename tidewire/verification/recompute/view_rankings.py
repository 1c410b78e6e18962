"""ROW_NUMBER() over versions: the place of each row in its group between any two moments at which one begins or ends.

All versions of a group are put in order once; those that hold are kept in that order, and looked at whenever some begin
or end, as for a best-k (`recompute/list_answers.py`). *Cost*: O(m log m + m * most) for a group of m versions.
"""

from __future__ import annotations

import bisect
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tidewire.verification.input.view_plan import Order, Ranking
from tidewire.verification.recompute.history import FOREVER
from tidewire.verification.recompute.sweep import turns_by_moment
from tidewire.verification.recompute.version import Version
from tidewire.verification.recompute.view_expressions import evaluator, row_of


def ranked(versions: Iterable[Version], ranking: Ranking) -> Iterator[Version]:
    """Yield the versions of the rows with their place behind them."""
    by = row_of(ranking.by)
    members: dict[tuple[Any, ...], list[Version]] = defaultdict(list)
    for version in versions:
        members[by(version.row)].append(version)
    for its in members.values():
        yield from _of_group(_in_order(its, ranking.order), ranking.most)


def _in_order(versions: list[Version], order: Sequence[Order]) -> list[Version]:
    """Sort by each member of ORDER BY, the last one first, as sorting keeps what is equal in place."""
    for one in reversed(order):
        of = evaluator(one.of)
        valued = [(of(version.row), version) for version in versions]
        nulls = [version for value, version in valued if value is None]
        known = [entry for entry in valued if entry[0] is not None]
        known.sort(key=lambda entry: entry[0], reverse=one.descending)
        ordered = [version for _, version in known]
        versions = nulls + ordered if one.nulls_first else ordered + nulls
    return versions


def _of_group(versions: list[Version], most: int | None) -> Iterator[Version]:
    starts, ends = [one.start for one in versions], [one.end for one in versions]
    held, shown = list[int](), dict[int, tuple[int, int]]()
    for moment, turns in turns_by_moment(starts, ends, range(len(versions))):
        for sign, place in sorted(turns):
            where = bisect.bisect_left(held, place)
            if sign < 0:
                del held[where]
            else:
                held.insert(where, place)
        now = {place: rank for rank, place in enumerate(held[:most], 1)}
        for place, (rank, since) in list(shown.items()):
            if now.get(place) != rank:
                yield _at(versions[place], rank, since, moment)
                del shown[place]
        shown |= {place: (rank, moment) for place, rank in now.items() if place not in shown}
    yield from (_at(versions[place], rank, since, FOREVER) for place, (rank, since) in shown.items())


def _at(version: Version, rank: int, since: int, until: int) -> Version:
    return Version(since, until, version.key, (*version.row, rank))
