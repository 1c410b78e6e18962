"""Joins whose rows are mostly only named, through the whole chain: edges take over, lose what was told, epochs begin.

No row that is named is ever missed, all is judged by the verification, and mistakes in what edges keep must show.
"""

from __future__ import annotations

import json
import random
from unittest import mock

import pytest

from operators.packed import is_packed, unpack
from overlay.machine.virtual_edge import VirtualEdge
from overlay.maintain.sent_window import SentWindow
from overlay.subscriptions.registrations import Registrations
from overlay.subscriptions.summaries import Patience
from tests.effort import deep_examples
from tests.tidewire.test_joins_interrupted import DAMAGED
from tests.tidewire.verification.test_against_the_chain import EDGES
from tests.tidewire.verification.test_joins_against_the_chain import DDL, Joined
from tidewire.verification.verify import verify

QUESTIONS = [
    "SELECT a.*, b.* FROM a JOIN b ON a.g = b.g",
    "SELECT x.k, y.l FROM a x JOIN a y ON x.g = y.g",
    "SELECT a.l, c.n, b.id FROM a JOIN b ON a.g = b.g JOIN c ON c.g = a.g",
]


def drive(seed: int, begins: bool = True) -> tuple[Joined, bool]:
    """Run a chain; return it, and whether a row that was named was not there."""
    choose = random.Random(seed)
    chain = Joined(Patience(0, 0), choose.choice([2, 3, 5]))
    chain.apply(DDL)
    for i in range(5):
        ask(chain, b"s%d" % i, choose)
    chain.settle()
    chain.make_cells()
    missed = False
    for step in range(25):
        for _ in range(choose.choice([1, 2, 4])):
            choose.choice([chain.change_a, chain.change_b, chain.change_c])(choose)
        if choose.random() < 0.2:
            chain.break_off(choose.random())
        chain.run_batch()
        if choose.random() < 0.1:
            damage(chain, choose)
        for number in range(EDGES):
            chain.run_edge(number, choose.choice([None, None, 2, 5]))
            missed |= any("which are not here" in why for why in chain.edges[number].losses())
            if choose.random() < 0.25:
                chain.lose_edge(number, choose.random() < 0.3)
        if choose.random() < 0.1:
            ask(chain, b"s%d" % (5 + step), choose)
        if begins and step == 6:
            chain.begin_epoch()
    chain.settle()
    chain.make_cells()
    return chain, missed


def ask(chain: Joined, name: bytes, choose: random.Random) -> None:
    sql = choose.choice(QUESTIONS)
    chain.append(chain.topics.subscriptions, name, json.dumps({"sql": sql}).encode())


def damage(chain: Joined, choose: random.Random) -> None:
    """Let an edge not be able to read some of what it was told last; it has come to rest before and does after."""
    chain.settle()
    chain.change_a(choose)
    chain.run_batch()
    number, topic = choose.randrange(EDGES), chain.topics.notifications
    log = chain.logs[topic][number]
    told = [i for i in range(chain._fed[topic, number], len(log)) if not (log[i][0] or b"@").startswith(b"@")]
    if told:
        log[choose.choice(told)] = (b"@", DAMAGED)
    chain.settle()


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(deep_examples(48, few=3)))
def test_all_that_is_told_is_right_and_no_row_is_missed(seed: int) -> None:
    chain, missed = drive(seed)
    report = verify(chain.journal())
    assert report.clean, report.faults
    assert not missed


def _late(window: SentWindow) -> int | None:
    offset = _OFFSET(window)
    return None if offset is None else offset + 1


def _never_anew(registrations: Registrations) -> None:
    told = set(registrations._told_anew)
    _CLEAR(registrations)
    registrations._told_anew = told | {"cell/a/0", "cell/a+b/0", "cell/a+b+c/0"}


_OFFSET, _CLEAR, _DROP = SentWindow.offset.fget, Registrations.clear, SentWindow.drop  # type: ignore[attr-defined]
MISTAKES = {
    "who takes over collects nothing": (VirtualEdge, "collect", lambda *_: None, 0),
    "who takes over begins too late": (SentWindow, "offset", property(_late), 0),
    "dropped a batch too early": (SentWindow, "drop", lambda window, batch: _DROP(window, batch + 1), 0),
    "rows of another epoch stay": (SentWindow, "clear", lambda window: None, 5),
    "a loss is not said": (Registrations, "clear", _never_anew, 7),
}
"""What is wrong, and a run that shows it; where it does no longer, the others are tried."""


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_show(mistake: str) -> None:
    of, name, wrong, first = MISTAKES[mistake]
    with mock.patch.object(of, name, wrong):
        for seed in (first, *range(60)):
            try:
                chain, missed = drive(seed)
            except (AssertionError, ValueError, LookupError):
                return
            if missed or not verify(chain.journal()).clean:
                return
    raise AssertionError(f"nothing shows that {mistake}")


def test_the_window_is_used() -> None:
    chain, _ = drive(0)
    assert sum(json.loads(value or b"{}").get("named", 0) for _, value in chain.logs[chain.topics.engines][0]) > 25


@pytest.mark.deep
def test_who_misses_a_row_asks_anew_and_tells_nothing_wrong() -> None:
    """As an edge does whose state is of before there were windows: it does not know where to read again.

    (What is lost just before an epoch ends cannot be judged.)
    """
    with mock.patch.object(VirtualEdge, "window_offset", property(lambda _: None)):
        runs = [drive(seed, begins=False) for seed in range(deep_examples(32, few=2))]
    assert any(missed for _, missed in runs)
    for chain, _ in runs:
        report = verify(chain.journal())
        assert report.clean, report.faults


def test_a_cell_is_told_once_that_nothing_is_there() -> None:
    chain, choose = Joined(window=4), random.Random(1)
    chain.apply(DDL)
    for name in (b"s0", b"s1", b"s2"):
        chain.append(chain.topics.subscriptions, name, json.dumps({"sql": QUESTIONS[0]}).encode())
        chain.settle()
        chain.make_cells()
    assert all(said(chain, number) in ([], [True], [True, False], [True, False, False]) for number in range(EDGES))
    number = next(number for number in range(EDGES) if said(chain, number))
    before = len(said(chain, number))
    chain.change_a(choose)
    chain.run_batch()
    chain.edges[number].notifications_lost()
    chain.settle()
    assert said(chain, number)[before:] == [True]


def said(chain: Joined, number: int) -> list[bool]:
    """Return of each registration with the cell of a and b whether nothing is there."""
    records = chain.logs[chain.topics.registrations][number]
    return [unpack(value).header.anew for key, value in records if key == b"cell/a+b/0" and value and is_packed(value)]
