"""The workload of subject spaces: whom changes are about is what the regions say."""

from __future__ import annotations

import numpy as np

from benchmarks.subject_bench import (
    DIMENSIONS,
    EVERYTHING,
    Shard,
    draw_publications,
    draw_subscriptions,
    laid_out,
    matched,
    one_step_on,
    with_other_values,
)


def test_changes_are_about_whom_either_region_overlaps() -> None:
    source = np.random.default_rng(5)
    subscriptions = draw_subscriptions(source, 2_000)
    index, old = laid_out(subscriptions, source), draw_publications(source, 20, 25)

    def met(regions: np.ndarray) -> np.ndarray:
        lower, upper = regions[:, :DIMENSIONS], regions[:, DIMENSIONS:]
        dimension, least, most = subscriptions
        return ((lower[:, dimension] <= most) & (upper[:, dimension] >= least)).all(axis=2)

    assert ((old[:, :DIMENSIONS] > EVERYTHING[0]).sum(axis=1) == 25).all()
    for new in (old, with_other_values(source, old), one_step_on(source, old)):
        comes = matched(index, None, new)
        assert np.bincount(comes.change, minlength=20).tolist() == met(new).sum(axis=1).tolist()
        hits = matched(index, old, new)
        assert np.count_nonzero(hits.kind == 1) == np.count_nonzero(met(old) & ~met(new))
        assert np.count_nonzero(hits.kind == 2) == np.count_nonzero(met(new) & ~met(old))


def test_a_step_is_one_and_other_values_are_within_the_same_dimensions() -> None:
    source = np.random.default_rng(6)
    old = draw_publications(source, 30, 25)
    bounded = np.tile(old[:, :DIMENSIONS] > EVERYTHING[0], 2)
    assert (np.abs(one_step_on(source, old) - old) == bounded).all()
    fresh = with_other_values(source, old)
    assert ((fresh != old) <= bounded).all() and (fresh[:, :DIMENSIONS] <= fresh[:, DIMENSIONS:]).all()


def test_a_shard_takes_updates_again_and_again() -> None:
    shard = Shard(np.random.default_rng(7), 300)
    shard.update()
    shard.update()
