"""Offers and those who ask for them: all are taken, judged clean, and who is told of rows for others is found."""

from __future__ import annotations

import pytest

from catalog.query import plan
from tests.stack.offers import OFFER, Offers
from tests.tidewire.verification.test_against_the_chain import EDGES, Judged
from tidewire.verification.records.journal import Journal, TopicLog
from tidewire.verification.verify import verify


def ran(batches: int) -> Judged:
    chain = Judged(virtual_edges=EDGES)
    offers = Offers(3, chain.topics)
    chain.apply(OFFER)
    for _ in range(batches):
        for record in [*offers.questions(6), *offers.changes(40)]:
            chain.append(record.topic, record.key, record.value)
        chain.settle()
    return chain


def journal_of(chain: Judged) -> Journal:
    journal = chain.journal()
    journal.relations = {"offer": TopicLog.of("offer", chain.log("offer", 1).all(), 1)}
    return journal


def test_all_are_taken_and_told_right() -> None:
    chain = ran(4)
    report = verify(journal_of(chain))
    assert report.clean and report.unjudged == 0, report.faults
    acks = [value for part in chain.logs[chain.topics.acks].values() for _, value in part]
    assert report.right > 100 and not any(b"refused" in (ack or b"") for ack in acks), acks


def test_who_is_told_of_rows_for_others_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A product that takes attributes and forgets them."""
    monkeypatch.setattr(plan, "with_audience", lambda relation, question, text: question)
    report = verify(journal_of(ran(2)))
    assert report.extra > 10 and report.wrong > 0
