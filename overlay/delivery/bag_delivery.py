"""What deliveries say of an answer that is a bag of rows: which went, and which came.

    snapshot   "form":"bag","removed":[],"added":[["ACME","10.25"],["ACME","10.25"]]
               "form":"bag","snapshot":"none","removed":[],"added":[]     SNAPSHOT NONE: the rows are to be looked up
    change     "removed":[["ACME","10.25"]],"added":[["ACME","9.75"]]     a row that enters, leaves, or changes within
    resync     "same":true,"removed":[],"added":[]                        what is held is right; `n` stays as it was
               "form":"bag","whole":true,"removed":[],"added":[…]         what is held is void
               "form":"bag","whole":"look","removed":[],"added":[]        likewise, and the rows are to be looked up
    final      "removed":[],"added":[]                                    what is held stays
    ended      "removed":[],"added":[]                                    an end lists nothing: all that is held is void

A row is an array in the order of the SELECT list (`overlay/delivery/row_text.py`); equal rows stand there as often as
they are in the answer. Rows are sorted by their texts, so that a delivery has the same bytes wherever it is made.

Under NOTIFY TRANSITIONS and NOTIFY ENTER a row that changes within is not told. It leaves as it is then, which is not
how its subscriber holds it; so there each delivery but `same` and `ended` has `"key":[0]`: the places of the primary
key in a row, by which the one that is held is found.

All functions return a delivery's body, as `overlay/delivery/delivery.py` has it; where rows may be many,
`added_in_parts` (`overlay/delivery/long_delivery.py`) makes records of them, which have to be sorted before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from overlay.delivery.delivery import json_text

FORM = "bag"
BAG_SAME = '"same":true,"removed":[],"added":[]'
BAG_ENDED = '"removed":[],"added":[]'
_FORM = f'"form":"{FORM}"'


def bag_change(removed: Sequence[str], added: Sequence[str], key: Sequence[int] = ()) -> str:
    """Return what a change says of rows, given as texts. `key`: places of the primary key, where rows go by it."""
    return f'{_by(key)}"removed":{rows_text(removed)},"added":{rows_text(added)}'


def bag_change_tail(removed: str, added: str, at: str, key: Sequence[int] = ()) -> str:
    """Return what all who hear of the same rows share of a change, for `Outbox.shared_changes`.

    The rows are given as `rows_text` writes them. Cost: 0.3 us.
    """
    return f',{_by(key)}"removed":{removed},"added":{added},"at":{at}}}'


def bag_snapshot(added: Sequence[str], key: Sequence[int] = ()) -> str:
    """Return what a snapshot says."""
    return f"{_FORM},{bag_change((), added, key)}"


def bag_snapshot_none(key: Sequence[int] = ()) -> str:
    """Return what a snapshot says to those who asked for none."""
    return f'{_FORM},"snapshot":"none",{bag_change((), (), key)}'


def bag_whole(added: Sequence[str], key: Sequence[int] = ()) -> str:
    """Return what a resync says whose answer is not what was told before."""
    return f'{_FORM},"whole":true,{bag_change((), added, key)}'


def bag_whole_look(key: Sequence[int] = ()) -> str:
    """Return what such a resync says to those who asked for no snapshot."""
    return f'{_FORM},"whole":"look",{bag_change((), (), key)}'


def rows_text(rows: Iterable[str]) -> str:
    """Return rows, given as texts, as a JSON array, sorted. Cost: O(n log n) for n rows, O(n) where they are sorted."""
    return f"[{','.join(sorted(rows))}]"


def _by(key: Sequence[int]) -> str:
    return f'"key":{json_text(list(key))},' if key else ""
