"""One difference for several: what stands for all that a slow reader has missed of a set, a bag or a list.

    set, bag     -a   +b   -b +a a                    net: +a         counted, so that equal rows are not taken for one
    by key       +[1,x]   -[1,y]                      nothing: what came and went was never there for the reader
                 -[1,y]   +[1,z]                      -[1,y] +[1,z]: the reader may hold [1,x], and is to hold [1,z]
    list         -[0,a]   +[1,c]   -[1,c]             -[0,a]: places in the list that the reader holds, and in the last

Members are compared as values: all of a column are of one type, and equal ones are written in one way. For a list the
rows that the reader holds are not known, and need not be: they are numbered by the places that they have there.

Cost: O(members) for sets and bags; for lists O(k) a member, of the k that are listed at most.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec
from msgspec import Raw

from catalog.types.column_type import JsonValue
from overlay.delivery.list_delivery import Placed, list_difference

_Member = JsonValue | tuple[JsonValue, ...]
_MEMBERS = msgspec.json.Decoder(list[_Member])
_PLACED = msgspec.json.Decoder(list[tuple[int, Raw]])
_IS_PLACED = re.compile(rb"\[\[[0-9]+,\[")
"""How the members of a list begin; no set or bag has arrays within its members."""


class Difference(NamedTuple):
    """What one delivery says, as JSON arrays; `key` as well, where rows go by it."""

    removed: bytes
    added: bytes
    key: bytes | None = None


def composed(differences: Sequence[Difference]) -> dict[str, object]:
    """Return `removed`, `added` (and `key`) of one difference that does what all of these do, one after the other."""
    key = next((one.key for one in reversed(differences) if one.key is not None), None)
    if any(_IS_PLACED.match(members) for one in differences for members in (one.removed, one.added)):
        removed, added = _of_lists(differences)
        return {"removed": _placed(sorted(removed, reverse=True)), "added": _placed(sorted(added))}
    if key is not None:
        return {"key": Raw(key)} | _by_key(differences, msgspec.json.decode(key, type=list[int]))
    return _of_bags(differences)


def _of_bags(differences: Iterable[Difference]) -> dict[str, object]:
    gone: dict[_Member, int] = {}
    came: dict[_Member, int] = {}
    for one in differences:
        _move(_MEMBERS.decode(one.removed), came, gone)
        _move(_MEMBERS.decode(one.added), gone, came)
    return {"removed": _counted(gone), "added": _counted(came)}


def _move(members: Iterable[_Member], away: dict[_Member, int], to: dict[_Member, int]) -> None:
    """Take each member out of `away` once, where it is there, or else count it in `to`."""
    for member in members:
        count = away.pop(member, 0)
        if count > 1:
            away[member] = count - 1
        elif not count:
            to[member] = to.get(member, 0) + 1


def _counted(members: Mapping[_Member, int]) -> list[_Member]:
    if all(count == 1 for count in members.values()):
        return list(members)
    return [member for member, count in members.items() for _ in range(count)]


def _by_key(differences: Iterable[Difference], places: Sequence[int]) -> dict[str, object]:
    """Return what becomes of each key: how its row went first, if the reader held one, and how it came last."""
    gone: dict[_Member, _Member] = {}
    came: dict[_Member, _Member] = {}
    for one in differences:
        for row in _MEMBERS.decode(one.removed):
            key = _key(row, places)
            gone.setdefault(key, row)
            came.pop(key, None)
        for row in _MEMBERS.decode(one.added):
            key = _key(row, places)
            gone.setdefault(key, None)
            came[key] = row
    return {"removed": [row for row in gone.values() if row is not None], "added": list(came.values())}


def _key(row: _Member, places: Sequence[int]) -> _Member:
    assert isinstance(row, tuple), "only rows have keys"
    return tuple([row[place] for place in places])


def _of_lists(differences: Iterable[Difference]) -> tuple[list[Placed], list[Placed]]:
    """Follow a list whose rows are the numbers of their places at first, and texts if they came since."""
    now: list[int | str] = []
    went: dict[int, str] = {}
    held = 0
    for one in differences:
        for place, row in _PLACED.decode(one.removed):
            while len(now) <= place:
                now.append(held)
                held += 1
            row_then = now.pop(place)
            if isinstance(row_then, int):
                went[row_then] = bytes(row).decode()
        for place, row in _PLACED.decode(one.added):
            while len(now) < place:
                now.append(held)
                held += 1
            now.insert(place, bytes(row).decode())
    return _without_what_came_back(now, went, held)


def _without_what_came_back(
    now: Sequence[int | str], went: dict[int, str], held: int
) -> tuple[list[Placed], list[Placed]]:
    """Return what went and came; between two rows that stayed, what went and came again in its order has stayed."""
    removed, added = list[Placed](), list[Placed]()
    before, came = 0, list[Placed]()
    for place, row in [*enumerate(now), (len(now), held)]:
        if isinstance(row, str):
            came.append((place, row))
            continue
        gone = [(one, went[one]) for one in range(before, row)]
        out, in_ = list_difference([text for _, text in gone], [text for _, text in came])
        removed += [gone[one] for one, _ in out]
        added += [came[one] for one, _ in in_]
        before, came = row + 1, []
    return removed, added


def _placed(members: Iterable[Placed]) -> list[tuple[int, Raw]]:
    return [(place, Raw(text.encode())) for place, text in members]
