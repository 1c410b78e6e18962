"""The workload of regions: what it hits is what its conditions say."""

from __future__ import annotations

import numpy as np

from benchmarks.region_cost import CHANGES, OF_AUDIENCE, OF_REGION, Case, _updates, draw_offers, draw_subscribers
from state.filter_columns import NULL


def test_updates_hit_what_meets_all_conditions_before_or_after() -> None:
    for width in (OF_REGION, OF_AUDIENCE):
        source = np.random.default_rng(3)
        filters = draw_subscribers(source, 3_000, width)
        updates = _updates(source, draw_offers)
        case = Case(filters, draw_offers(source, 500), updates)
        head, lo, hi = (filters.conditions[:, i].reshape(-1, width) for i in range(3))
        null = (head >> NULL & 1).astype(bool)

        def met(rows: np.ndarray, valid: np.ndarray) -> np.ndarray:
            values, there = rows[:, None, :width], valid[:, None, :width]  # noqa: B023
            return np.where(there, (lo <= values) & (values <= hi), null).all(axis=2)  # noqa: B023

        old, new = met(*updates[:2]), met(*updates[2:])
        hits = case.match()
        entering, leaving = hits.kind == 2, hits.kind == 1
        assert set(zip(hits.change[entering].tolist(), hits.slot[entering].tolist(), strict=True)) == {
            *zip(*(each.tolist() for each in np.nonzero(new & ~old)), strict=True)
        }
        assert np.count_nonzero(leaving) == np.count_nonzero(old & ~new) and len(hits.kind) <= CHANGES * 3_000
