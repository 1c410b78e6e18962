"""A member whose virtual edges are revoked keeps its readers for a moment: mostly they come back."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from types import SimpleNamespace

import pytest

from connectors.kafka.group import Assignment
from overlay.process.committed_view import CommittedView
from overlay.process.edge_member import HOMELESS_SECONDS, EdgeMember

NOTHING = Assignment(frozenset(), None)
TWO = Assignment(frozenset({("subscriptions", 0), ("subscriptions", 2)}), None)


@pytest.fixture
def told() -> list[set[int]]:
    return []


@pytest.fixture
def member(told: list[set[int]]) -> EdgeMember:
    """A member that has a group and readers, and nothing else."""

    def owned(virtual_edges: Iterable[int]) -> None:
        told.append(set(virtual_edges))

    made = EdgeMember.__new__(EdgeMember)
    made._view, made._owned, made._board = CommittedView(), SimpleNamespace(clear=int), SimpleNamespace(owned=owned)  # type: ignore[assignment]
    made._answers = SimpleNamespace(state="running")  # type: ignore[assignment]
    made._looks = SimpleNamespace(lost=lambda: None)  # type: ignore[assignment]
    made._cells = SimpleNamespace(forget=lambda: None)  # type: ignore[assignment]
    made._group = SimpleNamespace(poll=lambda seconds, limit: [], assignment=NOTHING)  # type: ignore[assignment]
    made._assignment, made._adopted, made._forgot, made._left = TWO, True, 0.0, []
    return made


def test_what_is_revoked_may_come_back(member: EdgeMember, told: list[set[int]]) -> None:
    member.turn(threading.Event())
    member.turn(threading.Event())
    assert told == []
    member._group.assignment = TWO
    member._forget()
    assert told == [{0, 2}]


def test_readers_do_not_wait_for_ever(member: EdgeMember, told: list[set[int]]) -> None:
    member.turn(threading.Event())
    member._forgot = time.monotonic() - HOMELESS_SECONDS - 0.1
    member.turn(threading.Event())
    assert told == [set()]
