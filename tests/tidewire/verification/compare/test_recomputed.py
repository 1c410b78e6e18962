"""What is recomputed of a life in a journal by hand: what it was told, by the table's own sequence."""

from __future__ import annotations

from tests.tidewire.verification.simulated_engine import TOPIC
from tests.tidewire.verification.told_journal import engine_by_hand
from tidewire.verification.compare.recomputed import Recompute, Recomputed
from tidewire.verification.input.declared import Declared
from tidewire.verification.input.ordering import TakenRecords, sequences
from tidewire.verification.input.registry_schemas import Told
from tidewire.verification.input.rows import Rows
from tidewire.verification.input.silences import Silences
from tidewire.verification.recomputation import Recomputation
from tidewire.verification.records.batches import Batches
from tidewire.verification.records.lifetimes import read_lives
from tidewire.verification.records.policy import EVERY_CHANGE


def test_the_answers_and_what_was_asked_about() -> None:
    journal = engine_by_hand().journal()
    batches, lives, declared = Batches(journal.batches.all()), read_lives(journal), Declared(journal.catalog.all())
    taken = sequences(declared, batches, {TOPIC: journal.relations[TOPIC]}, Told())
    recompute: Recompute = Recomputation(taken, batches, declared, Rows(batches, Silences()), lives)
    [life] = lives.lives
    made = recompute(life, life.delivered[0].at.position)
    assert made.answers is not None and made.policy == EVERY_CHANGE
    assert (made.subject or made.sequence.subject) == ("p", 0)
    held = [made.answers.shown(made.answers.at(made.sequence.end_of(batch))) for batch in range(3)]
    assert held == [None, 3, 5]


def test_where_nothing_else_is_known_every_change_is_told_and_nothing_is_final() -> None:
    made = Recomputed(TakenRecords(3), None)
    assert (made.policy, made.finality, made.subject) == (EVERY_CHANGE, None, None)
