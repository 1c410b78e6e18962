from __future__ import annotations

from itertools import product

from state.lattices.tick_ranges import TickRanges
from tests.state.lattices.law import check_law

TICKS = 4


def of_bits(bits: int) -> TickRanges:
    known = TickRanges(end=TICKS)
    for tick in range(TICKS):
        if bits >> tick & 1:
            assert known.add(tick, tick + 1) == ((tick, tick + 1),)
    return known


def ticks_in(ranges: tuple[tuple[int, int], ...]) -> set[int]:
    return {tick for low, high in ranges for tick in range(low, high)}


EVERY = [of_bits(bits) for bits in range(2**TICKS)]


def test_law() -> None:
    check_law(EVERY)


def test_against_sets() -> None:
    for known, low, high in product(EVERY, range(TICKS + 1), range(TICKS + 1)):
        before, grown = ticks_in(known.ranges), known.copy()
        fresh = grown.add(low, high)
        assert ticks_in(fresh) == set(range(low, high)) - before
        assert ticks_in(grown.ranges) == before | set(range(low, high))
        assert all(a < b for a, b in fresh) and list(fresh) == sorted(fresh)
        check(grown)


def check(known: TickRanges) -> None:
    held = ticks_in(known.ranges)
    assert all(one[1] < other[0] for one, other in zip(known.ranges, known.ranges[1:], strict=False))
    assert known.horizon == next(tick for tick in range(TICKS + 1) if tick not in held)
    assert ticks_in(known.gaps) == set(range(max(held, default=0))) - held
    assert known.final == (held == set(range(TICKS)))


def test_without_end_never_final() -> None:
    known = TickRanges()
    known.add(0, 10**9)
    assert known.horizon == 10**9 and not known.final
