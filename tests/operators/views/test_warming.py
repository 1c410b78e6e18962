"""Kernels of views are compiled once, however tables came to be, and say the same as plain Python."""

from __future__ import annotations

from random import Random

import pytest
from numba.core.dispatcher import Dispatcher

from operators.views import warming
from shard.tables import warm
from tests.effort import examples
from tests.operators.views import test_fold
from tests.operators.views.stage_draws import draw_chain
from tests.operators.views.view_draws import draw_batches, table
from tests.operators.views.view_world import ViewWorld
from tests.oracle.plain_kernels import plain_kernels

TABLES = {"t": table("t"), "s": table("s")}


def play(seed: int) -> None:
    rng = Random(seed)
    world = ViewWorld(TABLES, draw_chain(rng, list(TABLES.values()), 5))
    for causes in draw_batches(rng, TABLES, 4):
        world.play(causes)
        if rng.random() < 0.5:
            world.reopen()


def test_warm_leaves_one_specialisation_of_each_kernel() -> None:
    warm()
    for seed in range(examples(60)):
        play(seed)
        test_fold.play(seed)
    kernels = [kernel for module in warming.KERNELS for kernel in module.ENTRIES if isinstance(kernel, Dispatcher)]
    assert len(kernels) == sum(len(module.ENTRIES) for module in warming.KERNELS)
    for kernel in kernels:
        assert len(kernel.signatures) == 1, kernel


@pytest.mark.parametrize("seed", range(100, 106))
def test_plain(seed: int) -> None:
    with plain_kernels(*warming.KERNELS):
        play(seed)
        test_fold.play(seed)
