"""Bags of rows over versions by hand: what is netted, what is silent, what goes by the key."""

from collections import Counter
from typing import Any

import pytest

from tests.tidewire.verification.recompute.test_answers import DDL, ROWS
from tests.tidewire.verification.recompute.test_history import history
from tidewire.verification.recompute.answers import answers_to
from tidewire.verification.recompute.bag_answers import BagAnswers
from tidewire.verification.recompute.history import FOREVER
from tidewire.verification.recompute.ranked_column import Measure
from tidewire.verification.records.policy import Policy, told_steps
from tidewire.verification.records.question import Query, Unreadable, parse

TYPES = {"k": "INTEGER", "m": "DECIMAL(6,2)", "d": "DOUBLE", "v": "VARCHAR"}
NUMBERS = Measure("INTEGER", [None, *range(1, 10)])


def bag(*versions: tuple[int, int | None, int, int], **more: Any) -> BagAnswers:
    """Versions (from, to, key, value) as rows of both."""
    starts, ends, keys, values = zip(*sorted(versions, key=lambda one: one[0]), strict=True)
    rows = list(zip(keys, values, strict=True))
    return BagAnswers([NUMBERS, NUMBERS], starts, [end or FOREVER for end in ends], rows, **more)


def told(answers: BagAnswers) -> list[tuple[int, Any, Any]]:
    return [(s.seq, answers.said(s)["removed"], answers.said(s)["added"]) for s in answers.steps(0, 99)]


def selected(select: str, where: str = "") -> list[tuple[int, Any, Any]]:
    made = history(ROWS, DDL, ("k", "m", "d", "v"))
    question = parse(made.database, Query(f'SELECT {select} FROM "odd name" {where}'), set())
    found = answers_to(question.over(list(TYPES)), made, TYPES, ["k"])
    assert isinstance(found, BagAnswers)
    return told(found)


def test_rows_that_meet_a_condition_come_and_go() -> None:
    assert selected("v, k", "WHERE NOT (m > 2 OR v = 'zz')") == [(1, [], [["b", 1]]), (4, [["b", 1]], [])]
    assert selected("*", "WHERE m IN (2, NULL, 2.50)") == [
        (2, [], [[2, "2.00", 0.2, None]]),
        (4, [], [[1, "2.50", 0.1, "a"]]),
        (5, [[2, "2.00", 0.2, None]], []),
        (6, [[1, "2.50", 0.1, "a"]], []),
    ]


def test_equal_rows_of_several_keys_are_counted() -> None:
    assert selected("v", "WHERE k <> 2") == [
        (1, [], [["b"]]), (3, [], [["b"]]), (4, [["b"]], [["a"]]), (6, [["a"]], []), (7, [["b"]], [])
    ]  # fmt: skip


def test_a_change_of_what_is_not_shown_is_silent() -> None:
    assert selected("d", "WHERE k = 1") == [(1, [], [[0.1]]), (6, [[0.1]], [])]


def test_one_cause_is_one_difference_whatever_it_did() -> None:
    answers = bag((1, 5, 1, 7), (2, 5, 2, 7), (3, 5, 3, 8), (5, None, 4, 8))
    assert told(answers)[-1] == (5, [[1, 7], [2, 7], [3, 8]], [[4, 8]])
    assert answers.at(4).total() == 3 and answers.at(5) == Counter({(4, 8): 1}) and not answers.at(0)


def test_there_and_back_is_two_changes_and_none_of_a_batch() -> None:
    answers = bag((1, 2, 1, 7), (2, 3, 1, 8), (3, None, 1, 7))
    steps = list(answers.steps(1, 3))
    assert [step.seq for step in steps] == [2, 3]
    assert told_steps(answers, [(0, step) for step in steps], Policy("latest"), None) == []
    [first, second] = told_steps(answers, list(enumerate(steps)), Policy("latest"), None)
    assert (answers.said(first)["added"], answers.said(second)["added"]) == ([[1, 8]], [[1, 7]])


def test_transitions_tell_who_came_and_left_and_how_they_left() -> None:
    versions = (1, 2, 1, 7), (2, 3, 1, 8), (2, None, 2, 7), (3, None, 3, 8)
    answers = bag(*versions, key=(0,), policy=Policy("transitions"))
    assert told(answers) == [(1, [], [[1, 7]]), (2, [], [[2, 7]]), (3, [[1, 8]], [[3, 8]])]
    assert answers.said(next(answers.steps(0, 9)))["key"] == [0]
    entered = bag(*versions, (4, 5, 4, 1), key=(0,), policy=Policy("enter"))
    assert told(entered) == [(1, [], [[1, 7]]), (2, [], [[2, 7]]), (3, [], [[3, 8]]), (4, [], [[4, 1]])]
    assert entered.at(2) == Counter({(1, 8): 1, (2, 7): 1})


def test_what_a_resync_says() -> None:
    every, by_key = bag((1, None, 1, 7)), bag((1, None, 1, 7), key=(0,), policy=Policy("transitions"))
    held, other = every.shown(every.at(1)), Counter({(1, 8): 1})
    same = {"same": True, "removed": [], "added": []}
    assert every.between(held, held) == same == by_key.between(other, held)
    assert every.between(other, held) == {"form": "bag", "whole": True, "removed": [], "added": [[1, 7]]}
    assert by_key.between(Counter(), held)["key"] == [0]
    bare = bag((1, None, 1, 7), policy=Policy(bare=True))
    assert bare.first(held) == {"form": "bag", "snapshot": "none", "removed": [], "added": []}
    assert bare.between(other, held) == {"form": "bag", "whole": "look", "removed": [], "added": []}
    assert every.last(held) == {"removed": [], "added": []}


def test_their_size_is_that_of_their_json() -> None:
    assert bag((1, None, 1, 7)).size_of(Counter({(1, 7): 3})) == (3, 3 * len("[1,7],"))


def test_rows_that_go_by_their_key_must_show_it() -> None:
    made = history(ROWS, DDL, ("v",))
    question = parse(made.database, Query('SELECT v FROM "odd name" NOTIFY TRANSITIONS'), set())
    with pytest.raises(Unreadable, match="without their key"):
        answers_to(question, made, TYPES, ["k"])
