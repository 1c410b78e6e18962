"""Filters and row changes to measure an index of filters with: 20 attributes, conjunctions of 2 to 5 conditions.

Ten attributes are categorical, of 2 to 20,000 values with Zipf's frequencies; ten are numeric: uniform, log-normal,
normal, Pareto. Everything is order codes. A filter asks for attributes that are popular by Zipf's law too; it holds
where a row drawn by itself lies, and about `hits / n` of all rows (log-normal spread), so that a row meets about `hits`
filters whatever n is. With `templates` filters have the attributes of so many statements; without, any.

An update changes 1, 2 or 3 attributes of a row (70, 20, 10 %), numeric ones four times as often. All from fixed seeds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from state.change_batch import I64, Bool

VALUES = (2, 5, 8, 12, 20, 50, 200, 1_000, 5_000, 20_000)
CATEGORICAL, NUMERIC = len(VALUES), 10
COLUMNS = CATEGORICAL + NUMERIC
MOST = 5
"""Conditions of a filter."""
F64 = npt.NDArray[np.float64]


class Conjunctions(NamedTuple):
    """n filters: columns, lo and hi of their conditions, int64[n, 5]; column -1: none."""

    columns: I64
    lo: I64
    hi: I64


class Changes(NamedTuple):
    """m changes: images int64[m, columns], and whether there was a row and is one."""

    old: I64
    new: I64
    had: Bool
    has: Bool


def zipf(n: int, s: float = 1.0) -> F64:
    """Return n frequencies by Zipf's law."""
    weights = 1.0 / np.arange(1, n + 1) ** s
    return weights / weights.sum()


FREQUENCIES = [zipf(n) for n in VALUES]
_CUMULATED = [np.cumsum(frequencies) for frequencies in FREQUENCIES]
_POPULAR = zipf(COLUMNS, 0.8)[np.random.default_rng(7).permutation(COLUMNS)]


def draw_rows(source: np.random.Generator, n: int) -> I64:
    """Return n rows, int64[n, columns]."""
    rows = np.empty((n, COLUMNS), np.int64)
    for c, cumulated in enumerate(_CUMULATED):
        rows[:, c] = np.minimum(np.searchsorted(cumulated, source.random(n)), VALUES[c] - 1)
    for c in range(NUMERIC):
        family = c % 4
        if family == 0:
            values = source.random(n) * 1e9
        elif family == 1:
            values = np.exp(source.normal(10, 1.5, n))
        elif family == 2:
            values = source.normal(0, 1e6, n)
        else:
            values = (source.pareto(1.2, n) + 1) * 1e4
        rows[:, CATEGORICAL + c] = values.astype(np.int64)
    return rows


def draw_changes(seed: int, m: int, updates: bool) -> Changes:
    """Return m rows that come, or m updates."""
    source = np.random.default_rng(seed)
    old, fresh = draw_rows(source, m), draw_rows(source, m)
    if not updates:
        return Changes(old, fresh, np.zeros(m, np.bool_), np.ones(m, np.bool_))
    new = old.copy()
    many = source.choice([1, 2, 3], m, p=[0.7, 0.2, 0.1])
    often = np.array([0.02] * CATEGORICAL + [0.08] * NUMERIC)
    for k in range(3):
        which = np.flatnonzero(many > k)
        column = source.choice(COLUMNS, m, p=often)[which]
        new[which, column] = fresh[which, column]
    return Changes(old, new, np.ones(m, np.bool_), np.ones(m, np.bool_))


def draw_filters(n: int, hits: float, templates: int = 0) -> Conjunctions:
    """Return n filters of which a new row meets about `hits`, as a sample of rows says. Cost: 20 us each."""
    few, factor = min(n, 20_000), 1.0
    rows = draw_changes(5, 400, updates=False).new
    for _ in range(3):
        found = _met(_draw_filters(2, few, hits * factor / n, templates), rows) * n / few
        factor *= (hits / max(found, hits / 20)) ** 0.9
    return _draw_filters(1, n, hits * factor / n, templates)


def _met(filters: Conjunctions, rows: I64) -> float:
    """Return how many filters a row meets on average."""
    total = 0
    for row in rows:
        values = row[filters.columns]
        total += int(((filters.columns < 0) | ((filters.lo <= values) & (values <= filters.hi))).all(axis=1).sum())
    return total / len(rows)


def _draw_filters(seed: int, n: int, share: float, templates: int) -> Conjunctions:
    """Return n filters that about `share` of the rows meet."""
    source = np.random.default_rng(seed)
    ranked = np.sort(draw_rows(source, 100_000)[:, CATEGORICAL:], axis=0)
    shares = np.minimum(share * np.exp(source.normal(-0.5, 1.0, n)), 0.9)
    many = source.choice([2, 3, 4, 5], n, p=[0.3, 0.3, 0.25, 0.15])
    chosen = source.choice(templates, n, p=zipf(templates, 0.7)) if templates else np.zeros(n, np.int64)
    rows = draw_rows(source, n)
    orders = np.argsort(-(source.random((n, COLUMNS)) ** (1.0 / _POPULAR)), axis=1)
    shifts = source.random((n, MOST))
    statements = _statements(templates)
    filters = Conjunctions(*np.full((1, n, MOST), -1), *np.zeros((2, n, MOST), np.int64))
    for i in range(n):
        order = orders[i].tolist()
        asked = list(statements[chosen[i]]) if templates else order[: many[i]]
        exact = _settle(asked, order, rows[i], shares[i])
        ranges = sum(c >= CATEGORICAL for c in asked)
        width = min((shares[i] / exact) ** (1.0 / max(ranges, 1)), 1.0)
        for j, c in enumerate(asked):
            filters.columns[i, j] = c
            if c < CATEGORICAL:
                filters.lo[i, j] = filters.hi[i, j] = rows[i, c]
            else:
                values = ranked[:, c - CATEGORICAL]
                filters.lo[i, j], filters.hi[i, j] = _around(values, rows[i, c], width, shifts[i, j])
    return filters


def _statements(templates: int) -> list[list[int]]:
    """Return the columns of so many statements."""
    source = np.random.default_rng(3)
    return [
        source.choice(COLUMNS, source.integers(2, MOST + 1), replace=False, p=_POPULAR).tolist()
        for _ in range(templates)
    ]


def _settle(asked: list[int], order: list[int], row: I64, share: float) -> float:
    """Replace columns by numeric ones until `=` on the others can leave `share` of the rows; return what it leaves."""
    while True:
        equal = [c for c in asked if c < CATEGORICAL]
        left = float(np.prod([FREQUENCIES[c][row[c]] for c in equal])) if equal else 1.0
        if equal and left < share / 10:
            worst = min(equal, key=lambda c: float(FREQUENCIES[c][row[c]]))
        elif equal and len(equal) == len(asked) and left > 3 * share:
            worst = equal[-1]
        else:
            return left
        asked.remove(worst)
        asked.append(next(c for c in order if c >= CATEGORICAL and c not in asked))


def _around(values: I64, value: int, width: float, shift: float) -> tuple[int, int]:
    """Return an interval that holds `value` and `width` of the sorted `values`."""
    at = np.searchsorted(values, value) / len(values)
    first = min(max(at - shift * width, 0.0), 1.0 - width)
    last = min(first + width, 1.0)
    ends = [int(values[min(int(part * len(values)), len(values) - 1)]) for part in (first, last)]
    return ends[0], ends[1]
