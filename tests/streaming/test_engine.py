"""The whole engine over a real broker and a real session, with a shard that writes down what it is given."""

from __future__ import annotations

import pytest

from operators.control import EpochBegins, Progress, RegisterAll
from tests.streaming.conftest import World, eventually

pytestmark = [pytest.mark.broker, pytest.mark.spark]


def test_from_claim_to_progress(world: World) -> None:
    world.make("stock", 2)
    world.declare("stock")
    world.publish("stock", b"1", b"2", None)
    engine = world.engine()
    eventually(lambda: len(world.rows()) == 3, engine=engine)
    world.publish("stock", b"3", partition=1)
    eventually(lambda: len(world.rows()) == 4, engine=engine)
    eventually(lambda: world.progress()[-1].batch >= 1, engine=engine)
    engine.stop()
    assert engine.error is None
