"""Which table or cell a life is asked of, and what is built once for all who ask the same."""

from __future__ import annotations

import pytest

from tests.tidewire.verification.simulated_engine import Asked, SimulatedEngine
from tests.tidewire.verification.simulated_joins import FORMS, AskedJoin, SimulatedJoins
from tidewire.verification.input.declared import Declared
from tidewire.verification.input.ordering import sequences
from tidewire.verification.input.registry_schemas import Inquiry
from tidewire.verification.input.rows import Rows
from tidewire.verification.recomputation import Recomputation
from tidewire.verification.records.batches import Batches, Position
from tidewire.verification.records.lifetimes import Life, read_lives
from tidewire.verification.records.question import Unreadable

PAIR = AskedJoin(over=FORMS[0], columns_shown=("p.id", "q.id"))


def recomputed(engine: SimulatedEngine) -> tuple[Recomputation, dict[str, Life], Position]:
    """What recomputes the engine's answers, the lives by id, and where the first one began."""
    journal = engine.journal()
    lives, batches, declared = read_lives(journal), Batches(journal.batches.all()), Declared(journal.catalog.all())
    taken = sequences(declared, batches, journal.relations, Inquiry(None).ask(declared, journal.relations))
    found = {life.id: life for life in lives.lives}
    return Recomputation(taken, batches, declared, Rows(), lives), found, lives.lives[0].delivered[0].at.position


def joined(*ids: str) -> SimulatedJoins:
    engine = SimulatedJoins()
    engine.declare("CREATE JOIN p, q")
    for id in ids:
        engine.subscribe(id, PAIR)
    engine.run_batch()
    engine.publish_row("q", {"id": 1, "g": "u", "x": "1", "z": None})
    engine.publish_row("p", {"id": 2, "g": "u", "x": 1, "y": None})
    engine.run_batch()
    return engine


def test_lives_of_one_question_share_its_answers() -> None:
    engine = SimulatedEngine()
    for id in "ab":
        engine.subscribe(id, Asked())
    engine.publish(1, "u", 0, 5)
    engine.run_batch()
    recompute, lives, at = recomputed(engine)
    one, other = recompute(lives["a"], at), recompute(lives["b"], at)
    assert one.answers is other.answers is not None
    assert recompute.subjects == {(life.id, life.version): ("p", 0) for life in lives.values()}


def test_a_join_is_asked_of_its_cell_whose_histories_are_built_once() -> None:
    recompute, lives, at = recomputed(joined("a", "b"))
    one, other = recompute(lives["a"], at), recompute(lives["b"], at)
    assert one.answers is other.answers is not None and one.sequence is other.sequence
    assert one.sequence.subject == ("JOIN p, q", 1) and len(one.sequence.taken) == 2
    assert recompute.subjects == {(life.id, life.version): ("JOIN p, q", 1) for life in lives.values()}
    assert [one.answers.at(seq) for seq in (0, 1)] == [one.answers.at(0)] * 2 != [one.answers.at(2)] * 2


def test_before_there_was_the_join_nothing_can_be_said() -> None:
    engine = SimulatedJoins()
    engine.run_batch()
    early = Position(engine.epoch, engine.batch - 1)
    engine.declare("CREATE JOIN p, q")
    engine.subscribe("a", PAIR)
    engine.run_batch()
    recompute, lives, _ = recomputed(engine)
    with pytest.raises(Unreadable, match="no join of p, q was declared"):
        recompute(lives["a"], early)


def test_times_to_live_are_those_of_who_was_told_something() -> None:
    engine = SimulatedEngine()
    engine.subscribe("a", Asked(ttl=90))
    engine.subscribe("b", Asked())
    engine.run_batch()
    engine.subscribe("late", Asked(ttl=5))
    recompute, lives, _ = recomputed(engine)
    assert lives.keys() == {"a", "b", "late"}
    assert recompute.ttls(read_lives(engine.journal())) == {("a", lives["a"].version): 90}
