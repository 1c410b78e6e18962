"""TopK against its twin, after every cause."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from catalog.schema.relation import Relation
from tests.operators.views.stage_draws import draw_top_k
from tests.operators.views.view_draws import draw_batches, table
from tests.operators.views.view_world import ViewWorld
from tests.state.test_ordering import CALM

T: Relation = table("t")


@CALM
@given(st.integers(0, 2**32))
def test_drawn(seed: int) -> None:
    rng = Random(seed)
    world = ViewWorld({"t": T}, [draw_top_k(rng, T, "v"), draw_top_k(rng, T, "u")])
    for causes in draw_batches(rng, {"t": T}, 7):
        world.play(causes)
