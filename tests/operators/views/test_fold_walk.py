"""Each walk of a Fold against a loop over dictionaries: few groups, few values, NULLs, in one batch or cut in two."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from operators.views.fold_walk import Measure, Walked, counted, extreme, latest, number_groups, summed
from state.change_batch import I64, Bool
from tests.state.test_ordering import CALM

GROUPS = 3
Walk = Callable[[Measure, I64, Bool], Walked]
Cell = int | None


def fresh(values: I64, valid: Bool) -> Measure:
    held = np.zeros((len(values), GROUPS), np.int64)
    return Measure(np.where(valid, values, 0), valid, held, np.zeros(GROUPS, np.bool_))


def drawn(rng: Random, width: int = 1) -> tuple[I64, Measure]:
    rows = rng.randint(0, 8)
    group = np.array([rng.randrange(GROUPS) for _ in range(rows)], np.int64)
    values = np.array([[rng.choice((-1, 0, 1, 2)) for _ in range(rows)] for _ in range(width)], np.int64)
    valid = np.array([rng.random() < 0.8 for _ in range(rows)], np.bool_)
    return group, fresh(values.reshape(width, rows), valid)


def check(
    rng: Random, walk: Walk, group: I64, measure: Measure, step: Callable[[Cell, int], Cell], begin: Cell
) -> None:
    """Let a walk go in two parts, and compare values, and which rows changed their group, with `step` of each row."""
    cells = dict.fromkeys(range(GROUPS), begin)
    cut = rng.randint(0, len(group))
    for part in (slice(0, cut), slice(cut, len(group))):
        own = Measure(measure.values[:, part].copy(), measure.valid[part], measure.cells, measure.there)
        changed = np.zeros(len(own.valid), np.bool_)
        walked = walk(own, group[part], changed)
        for i, g in enumerate(group[part].tolist()):
            before = cells[g]
            if own.valid[i]:
                cells[g] = step(before, int(own.values[0, i]))
            expected = cells[g]
            assert (int(walked.values[0, i]) if walked.there[i] else None) == expected
            assert walked.there[i] or walked.values[0, i] == 0
            assert changed[i] == (before != expected)


@CALM
@given(st.integers(0, 2**32))
@pytest.mark.parametrize("least", [True, False])
def test_extremes(least: bool, seed: int) -> None:
    rng = Random(seed)
    group, measure = drawn(rng)
    best = min if least else max
    step = lambda before, value: value if before is None else best(before, value)  # noqa: E731
    check(rng, lambda m, g, changed: extreme(m, g, least, changed), group, measure, step, None)


@CALM
@given(st.integers(0, 2**32))
def test_counts(seed: int) -> None:
    rng = Random(seed)
    group, measure = drawn(rng)
    check(rng, counted, group, measure, lambda before, _: (before or 0) + 1, 0)


@CALM
@given(st.integers(0, 2**32))
def test_sums(seed: int) -> None:
    rng = Random(seed)
    group, measure = drawn(rng)
    check(rng, summed, group, measure, lambda before, value: (before or 0) + value, None)


@CALM
@given(st.integers(0, 2**32))
def test_limbs_are_added_each_by_itself(seed: int) -> None:
    group, measure = drawn(Random(seed), 3)
    walked = summed(measure, group, np.zeros(len(group), np.bool_))
    for i, g in enumerate(group.tolist()):
        mine = [j for j in range(i + 1) if group[j] == g and measure.valid[j]]
        assert walked.values[:, i].tolist() == measure.values[:, mine].sum(axis=1).tolist()


@CALM
@given(st.integers(0, 2**32))
def test_the_latest_is_the_greatest_of_the_greatest_time(seed: int) -> None:
    rng = Random(seed)
    group, measure = drawn(rng)
    valid = np.array([rng.random() < 0.8 for _ in group], np.bool_)
    by = fresh(np.array([[rng.choice((0, 1, 2)) for _ in group]], np.int64).reshape(1, len(group)), valid)
    changed = np.zeros(len(group), np.bool_)
    walked = latest(measure, by, group, changed)
    assert not by.there.any(), "what it reads takes the rows itself"
    held: dict[int, Cell] = dict.fromkeys(range(GROUPS))
    for i, g in enumerate(group.tolist()):
        mine = [
            (int(by.values[0, j]), bool(measure.valid[j]), int(measure.values[0, j]))
            for j in range(i + 1)
            if group[j] == g and by.valid[j]
        ]
        _, there, value = max(mine, default=(0, False, 0))
        assert (int(walked.values[0, i]) if walked.there[i] else None) == (value if there else None)
        assert changed[i] == (held[g] != (value if there else None))
        held[g] = value if there else None


@CALM
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.booleans()), max_size=9), st.randoms())
def test_groups_are_numbered_as_they_first_come(versions: list[tuple[int, int, bool]], rng: Random) -> None:
    codes = np.array([[a for a, _, _ in versions], [b if v else 0 for _, b, v in versions]], np.int64)
    valid = np.array([[True] * len(versions), [v for _, _, v in versions]], np.bool_)
    read = sorted(rng.sample(range(len(versions)), rng.randint(0, len(versions))))
    group, first = number_groups(
        codes.reshape(2, -1), valid.reshape(2, -1), np.array([0, 1], np.int64), np.array(read, np.int64)
    )
    keys = [(versions[i][0], versions[i][1] if versions[i][2] else None) for i in read]
    order = list(dict.fromkeys(keys))
    assert group.tolist() == [order.index(key) for key in keys]
    assert first.tolist() == [keys.index(key) for key in order]
