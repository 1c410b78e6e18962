"""Joined against its twin, after every cause."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from tests.operators.views.stage_draws import draw_join
from tests.operators.views.view_draws import draw_batches, table
from tests.operators.views.view_world import ViewWorld
from tests.state.test_ordering import CALM

TABLES = {"t": table("t"), "s": table("s")}


@CALM
@given(st.integers(0, 2**32))
def test_drawn(seed: int) -> None:
    rng = Random(seed)
    stages = [draw_join(rng, list(TABLES.values()), name) for name in "vu"]
    world = ViewWorld(TABLES, [stage for stage in stages if stage is not None])
    for causes in draw_batches(rng, TABLES):
        world.play(causes)
