"""Deliveries of rows against a naive engine: right ones are clean, and each that is not is found."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.effort import deep_examples
from tests.tidewire.verification.asked_rows import AskedRows, random_rows
from tests.tidewire.verification.simulated_engine import SimulatedEngine, home
from tidewire.verification.compare.report import Report
from tidewire.verification.records.journal import Journal, Record
from tidewire.verification.verify import verify

Told = dict[str, Any]
Fault = Callable[[list[Told], int], list[Told] | None]
"""Change deliveries at a place among them; None where there is nothing of this kind to change."""


def simulate(seed: int) -> SimulatedEngine:
    """Run a random history of questions of rows alone."""
    choose = random.Random(seed)
    engine = SimulatedEngine()
    for id in ("a", "b", "c"):
        engine.subscribe(id, random_rows(choose))
    for _ in range(40):
        action = choose.random()
        if action < 0.65:
            values = (choose.choice(["u", "v", None]), choose.choice([None, 0, 1, 2]), choose.choice([None, 1, 2, 3]))
            engine.publish(choose.randrange(5), *values)
        elif action < 0.75:
            engine.delete(choose.randrange(5))
        elif action < 0.8:
            engine.begin_epoch()
        else:
            engine.run_batch({0: choose.randrange(6), 1: choose.randrange(6)})
    engine.run_batch()
    engine.run_batch()
    return engine


@pytest.mark.deep
@settings(max_examples=deep_examples(60), deadline=None)
@given(st.integers(0, 10**9))
def test_right_deliveries_are_clean(seed: int) -> None:
    report = verify(simulate(seed).journal())
    assert report.clean and report.unjudged == 0, report.faults
    assert report.right == report.deliveries > 0


def drop(told: list[Told], i: int) -> list[Told] | None:
    side = next((name for name in ("added", "removed") if told[i][name]), None)
    return None if side is None else replaced(told, i, **{side: told[i][side][1:]})


def double(told: list[Told], i: int) -> list[Told] | None:
    side = next((name for name in ("removed", "added") if told[i][name]), None)
    return None if side is None else replaced(told, i, **{side: [told[i][side][0], *told[i][side]]})


def reorder(told: list[Told], i: int) -> list[Told] | None:
    for side in ("added", "removed"):
        turned = told[i][side][::-1]
        if turned != told[i][side]:
            return replaced(told, i, **{side: turned})
    return None


def swap_sides(told: list[Told], i: int) -> list[Told] | None:
    removed, added = told[i]["removed"], told[i]["added"]
    return None if removed == added else replaced(told, i, removed=added, added=removed)


def number_wrongly(told: list[Told], i: int) -> list[Told]:
    return replaced(told, i, n=told[i]["n"] + 1)


def lose(told: list[Told], i: int) -> list[Told] | None:
    return None if told[i]["kind"] != "change" else renumbered([*told[:i], *told[i + 1 :]], i, told[i], -1)


def tell_twice(told: list[Told], i: int) -> list[Told] | None:
    """Tell a change again, as if it were another: everything behind it counts on."""
    if told[i]["kind"] != "change":
        return None
    again = told[i] | {"n": told[i]["n"] + 1}
    return [*told[: i + 1], again, *renumbered(told[i + 1 :], 0, told[i], 1)]


def join(told: list[Told], i: int) -> list[Told] | None:
    """Tell two changes of two causes as one."""
    later = next((j for j in range(i + 1, len(told)) if told[j]["id"] == told[i]["id"]), None)
    if later is None or any(told[j]["kind"] != "change" for j in (i, later)):
        return None
    both = {side: sorted([*told[i][side], *told[later][side]], key=json.dumps) for side in ("removed", "added")}
    made = replaced(told, later, n=told[i]["n"], **both)
    return renumbered([*made[:i], *made[i + 1 :]], later, told[i], -1)


def forget_the_form(told: list[Told], i: int) -> list[Told] | None:
    return replaced(told, i, form=None) if "form" in told[i] else None


def say_same(told: list[Told], i: int) -> list[Told] | None:
    """Say of a resync that told everything anew that nothing has changed."""
    if "whole" not in told[i]:
        return None
    less = {name: value for name, value in told[i].items() if name not in ("whole", "form", "key")}
    made = [*told[:i], less | {"same": True, "removed": [], "added": [], "n": told[i]["n"] - 1}, *told[i + 1 :]]
    return renumbered(made, i + 1, told[i], -1)


def tell_anew(told: list[Told], i: int) -> list[Told] | None:
    """Say of a resync that found nothing new that everything went."""
    if "same" not in told[i]:
        return None
    more = {name: value for name, value in told[i].items() if name != "same"} | {"whole": True, "n": told[i]["n"] + 1}
    return renumbered([*told[:i], more, *told[i + 1 :]], i + 1, told[i], 1)


FAULTS: dict[str, Fault] = {
    "a row dropped": drop,
    "a row doubled": double,
    "rows reordered": reorder,
    "sides swapped": swap_sides,
    "a wrong n": number_wrongly,
    "a change lost": lose,
    "a change told twice": tell_twice,
    "two causes in one": join,
    "no form": forget_the_form,
    "same, and it is not": say_same,
    "anew, and it is the same": tell_anew,
}


def replaced(told: list[Told], i: int, **members: Any) -> list[Told]:
    return [*told[:i], told[i] | members, *told[i + 1 :]]


def renumbered(told: list[Told], begin: int, like: Told, by: int) -> list[Told]:
    """Count `n` on or back behind a place, for the same subscription: as an engine would that does not know better."""
    who = ("id", "version")
    return [
        one | {"n": one["n"] + by} if i >= begin and all(one[name] == like[name] for name in who) else one
        for i, one in enumerate(told)
    ]


def with_deliveries(journal: Journal, partition: int, told: list[Told]) -> Journal:
    """Put `told` in place of the deliveries of a partition, the progress behind each position where it belongs."""
    progress = [r for r in journal.deliveries.records[partition] if r.key == b"@progress"]
    made: list[Record] = []
    waiting = list(progress)
    for one in told:
        at = (one["at"]["epoch"], one["at"]["batch"])
        while one["kind"] == "change" and waiting and position(waiting[0]) < at:
            made.append(waiting.pop(0))
        made.append(Record(partition, 0, 0, one["id"].encode(), json.dumps(one).encode()))
    made += waiting
    journal.deliveries.records[partition] = [record._replace(offset=i) for i, record in enumerate(made)]
    return journal


def position(record: Record) -> tuple[int, int]:
    body = json.loads(record.value or b"")
    return body["epoch"], body["batch"]


def judged(engine: SimulatedEngine, partition: int, told: list[Told]) -> Report:
    return verify(with_deliveries(engine.journal(), partition, told))


def deliveries(engine: SimulatedEngine, partition: int) -> list[Told]:
    records = engine.journal().deliveries.records[partition]
    return [json.loads(record.value or b"") for record in records if record.key != b"@progress"]


@pytest.mark.deep
@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_found(fault: str) -> None:
    find_each(FAULTS[fault], simulate, ["a", "b", "c"])


@cache
def history(simulate: Callable[[int], SimulatedEngine], seed: int) -> SimulatedEngine:
    """Return a history that is made once for all faults: none of them changes it."""
    return simulate(seed)


@cache
def is_clean(simulate: Callable[[int], SimulatedEngine], seed: int, partition: int) -> bool:
    """Whether what was told of a history is right, judged once for all faults."""
    engine = history(simulate, seed)
    return judged(engine, partition, deliveries(engine, partition)).clean


def find_each(fault: Fault, simulate: Callable[[int], SimulatedEngine], ids: list[str]) -> None:
    """Spoil what was told to one of `ids` in many histories: what was right is clean, and what was spoiled is not."""
    tried = 0
    for seed in range(400):
        choose = random.Random(seed)
        engine = history(simulate, seed)
        partition = home(choose.choice(ids))
        told = deliveries(engine, partition)
        places = [(i, made) for i in range(len(told)) if (made := fault(told, i)) is not None]
        if not places:
            continue
        i, made = choose.choice(places)
        assert is_clean(simulate, seed, partition)
        assert not judged(engine, partition, made).clean, (seed, told[i])
        tried += 1
        if tried == deep_examples(24):
            break
    assert tried


def test_a_change_that_changed_nothing_shown_is_extra() -> None:
    engine = SimulatedEngine()
    engine.subscribe("a", AskedRows(("y",), "x <> 1"))
    engine.publish(1, "u", 0, 5)
    engine.run_batch()
    engine.publish(1, "v", 2, 5)
    engine.run_batch()
    told = deliveries(engine, home("a"))
    assert [one["kind"] for one in told] == ["snapshot", "change"] and judged(engine, home("a"), told).clean
    silent = told[1] | {"n": 3, "removed": [[5]], "added": [[5]]}
    silent["at"] = told[1]["at"] | {"batch": 1, "offset": 1}
    report = judged(engine, home("a"), [*told, silent])
    assert (report.right, report.extra) == (2, 1)


def test_rows_that_are_equal_are_told_one_by_one() -> None:
    engine = SimulatedEngine()
    engine.subscribe("a", AskedRows(("y",)))
    engine.publish(1, "u", 0, 5)
    engine.publish(2, "u", 0, 5)
    engine.run_batch()
    engine.delete(1)
    engine.run_batch()
    told = deliveries(engine, home("a"))
    assert [one["added"] for one in told] == [[], [[5]], [[5]], []] and told[-1]["removed"] == [[5]]
    assert judged(engine, home("a"), told).clean


def test_an_ack_of_another_form_is_wrong() -> None:
    engine = SimulatedEngine()
    engine.subscribe("a", AskedRows(("y",)))
    engine.run_batch()
    journal = engine.journal()
    [ack] = journal.acks.records[home("a")]
    journal.acks.records[home("a")] = [ack._replace(value=(ack.value or b"").replace(b'"bag"', b'"list"'))]
    assert verify(journal).wrong == 1
