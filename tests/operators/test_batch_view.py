from __future__ import annotations

import numpy as np

from catalog.query.shape import BEYOND_KEYS, LOWEST_KEY, Output, Region, Shape
from catalog.types.order_key import after, order_key
from operators.channel_kinds import bind
from tests.operators.grounds import ground_of
from tests.operators.watched import RELATION, WIDE, Change, channel

ROWS: list[Change] = [
    (1, {"e": "a", "f": 0, "x": 1, "s": "b", "w": "-1.50"}),
    (2, {"e": "b", "f": 0, "x": 2, "s": "a", "w": "0.00"}),
    (3, {"e": "a", "f": 1, "x": 3, "s": "c", "w": "12.00"}),
]


def test_groups_have_numbers_and_back() -> None:
    bound = bind(channel("rows", None, ("e", "f")), RELATION)
    ground = ground_of(bound, ROWS)
    assert ground.groups(bound.order, 2, np.array([2, 0])) == [b'["b",0]', b'["a",0]']
    assert ground.groups(bound.order, 1, np.array([2, 0])) == [b'["b"]', b'["a"]']
    assert ground.groups(bound.order, 0, np.array([2, 0])) == [b"[]", b"[]"]
    assert ground.seek(bound.order, [b'["b",0]', b'["z",0]', b'["a",1]']).tolist() == [2, -1, 1]
    first, stop = ground.bundles(bound.order, 1, [b'["a"]', b'["z"]', b'["b"]'])
    assert (first.tolist(), stop.tolist()) == ([0, 0, 2], [2, 0, 3])
    assert [part.tolist() for part in ground.bundles(bound.order, 0, [b"[]"])] == [[0], [3]]


def test_layouts_are_made_once() -> None:
    bound = bind(channel("rows", None), RELATION)
    ground = ground_of(bound, ROWS)
    assert ground.layout(bound.order) is ground.layout(bound.order)


def places(range_: str, bounds: list[tuple[int | bytes, int | bytes]]) -> list[tuple[int, int]]:
    bound = bind(channel("rows", None, (), range_), RELATION)
    shape = Shape("t", (Output("count", None),), (), range_)
    found = ground_of(bound, ROWS).places(bound.order, [Region(shape, b"[]", lo, hi) for lo, hi in bounds])
    assert (found.groups, found.group.tolist(), len(found)) == ([b"[]"], [0] * len(bounds), len(bounds))
    return list(zip(found.lo.tolist(), found.hi.tolist(), strict=True))


def test_codes_stay_and_order_keys_become_ranks() -> None:
    assert places("x", [(1, 2)]) == [(1, 2)]
    bounds: list[tuple[int | bytes, int | bytes]] = [(LOWEST_KEY, BEYOND_KEYS), (b"a", b"b"), (b"a\0", b"b\0")]
    assert places("s", bounds) == [(0, 2), (0, 0), (1, 1)]


def test_keys_of_wide_decimals_become_ranks() -> None:
    low, zero, high = (order_key(WIDE, text) for text in ("-1.50", "0.00", "99999999999999999999.00"))
    bounds: list[tuple[int | bytes, int | bytes]] = [
        (LOWEST_KEY, BEYOND_KEYS), (low, zero), (after(low), after(zero)), (zero, high)
    ]  # fmt: skip
    assert places("w", bounds) == [(0, 2), (0, 0), (1, 1), (1, 2)]
