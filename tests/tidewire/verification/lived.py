"""A life with what it was told, of a simulated engine."""

from tests.tidewire.verification.simulated_engine import Asked, SimulatedEngine
from tidewire.verification.records.batches import Batches
from tidewire.verification.records.lifetimes import Life, Lives, read_lives


def lived(changes: int = 4) -> tuple[Life, Lives, Batches]:
    """Return the life of a subscription that was told a snapshot, then a change in each batch, and all around it."""
    engine = SimulatedEngine()
    engine.run_batch()
    engine.subscribe("s", Asked())
    for price in range(changes):
        engine.publish(1, "a", 0, price)
        engine.run_batch()
    journal = engine.journal()
    lives = read_lives(journal)
    [life] = lives.lives
    return life, lives, Batches(journal.batches.all())
