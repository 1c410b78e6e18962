"""What stands for several messages leads to the same answer as all of them."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from overlay.delivery.bag_delivery import bag_change, bag_whole
from overlay.delivery.delivery import Position, delivery, json_text, moved
from overlay.delivery.list_delivery import list_change, list_difference
from overlay.push.message import ANSWER, Missed, answer_message, read_all, read_at, read_told

AT = Position(0, 3).text


def line(kind: str, version: int, n: int, body: str) -> bytes:
    return delivery('"s"', kind, version, n, body, AT)


def test_a_delivery_is_read_and_goes_on_as_it_is() -> None:
    told = read_told(line("change", 5, 2, moved("1", "2")))
    assert (told.mark, told.kind, told.stands_alone) == ((5, 2), "change", False)
    missed = Missed()
    missed.add([told])
    assert missed.lines() == [told.line]
    assert missed.mark == (5, 2)


def test_one_that_was_cut_is_made_whole() -> None:
    def part(number: int, removed: list[int], added: list[int]) -> bytes:
        values = {"removed": removed, "added": added, "at": {"epoch": 0, "batch": 3}, "part": number, "of": 3}
        return msgspec.json.encode({"id": "s", "kind": "change", "version": 5, "n": 2} | values)

    parts = [part(0, [1, 2], []), part(1, [3], [4]), part(2, [], [5])]
    before, whole, after = read_all(
        [line("snapshot", 5, 1, moved("1", "2")), *parts, line("change", 5, 3, moved("2", "3"))]
    )
    assert (before.n, whole.mark, after.n) == (1, (5, 2), 3)
    told = msgspec.json.decode(whole.line)
    assert (told["removed"], told["added"], told["at"]) == ([1, 2, 3], [4, 5], {"epoch": 0, "batch": 3})
    assert not {"part", "of"} & set(told)


def test_nothing_missed() -> None:
    assert Missed().lines() == []
    assert Missed().mark is None


@given(st.lists(st.integers(0, 3), min_size=2, max_size=6))
def test_changes_become_one(values: list[int]) -> None:
    missed = Missed()
    for n, (old, new) in enumerate(pairwise(values), 2):
        missed.add([read_told(line("change", 5, n, moved(str(old), str(new))))])
    [told] = [msgspec.json.decode(one) for one in missed.lines()]
    assert (told["old"], told["new"], told["n"]) == (values[0], values[-1], len(values))
    assert told.get("changes", 1) == len(values) - 1
    assert told.get("conflated", False) == (len(values) > 2)


@given(st.lists(st.sets(st.sampled_from([None, 1, 2, 3])), min_size=2, max_size=6))
def test_differences_of_a_distinct_become_one(sets: list[set[int | None]]) -> None:
    missed = Missed()
    for n, (old, new) in enumerate(pairwise(sets), 2):
        body = f'"removed":{json_text(list(old - new))},"added":{json_text(list(new - old))}'
        missed.add([read_told(line("change", 5, n, body))])
    [told] = [msgspec.json.decode(one) for one in missed.lines()]
    assert set(told["removed"]) <= sets[0]
    assert sets[0] - set(told["removed"]) | set(told["added"]) == sets[-1]
    assert not sets[0] & set(told["added"])


rows = st.lists(st.sampled_from(["[0]", '["a"]']), max_size=4)


@given(st.lists(rows, min_size=2, max_size=5), st.booleans())
def test_differences_of_rows_become_one(states: list[list[str]], listed: bool) -> None:
    missed = Missed()
    for n, (old, new) in enumerate(pairwise(states), 2):
        if listed:
            body = list_change(*list_difference(old, new))
        else:
            one, other = Counter(old), Counter(new)
            body = bag_change(list((one - other).elements()), list((other - one).elements()))
        missed.add([read_told(line("change", 5, n, body))])
    [told] = [msgspec.json.decode(one) for one in missed.lines()]
    assert (told["n"], told.get("changes", 1)) == (len(states), len(states) - 1)
    assert told.get("conflated", False) == (len(states) > 2)
    held = [msgspec.json.decode(row) for row in states[0]]
    for member in told["removed"]:
        held.pop(member[0]) if listed else held.remove(member)
    for member in told["added"]:
        held.insert(*member) if listed else held.append(member)
    expected = [msgspec.json.decode(row) for row in states[-1]]
    assert held == expected if listed else sorted(map(str, held)) == sorted(map(str, expected))


def test_a_whole_resync_takes_the_place_of_all_before() -> None:
    missed = Missed()
    missed.add([read_told(line("change", 5, 2, bag_change(['["a"]'], [])))])
    missed.add([read_told(line("resync", 5, 3, bag_whole(['["b"]', '["b"]'])))])
    missed.add([read_told(line("change", 5, 4, bag_change(['["b"]'], [])))])
    assert [msgspec.json.decode(one)["n"] for one in missed.lines()] == [3, 4]


@given(st.lists(st.sampled_from(["snapshot", "change", "resync", "ended", ANSWER]), min_size=1, max_size=8))
def test_what_stands_alone_takes_the_place_of_all_before(kinds: list[str]) -> None:
    missed = Missed()
    for n, kind in enumerate(kinds, 1):
        if kind == ANSWER:
            missed.add([answer_message({"id": "s", "version": 5, "n": n, "answer": n}, False)])
        else:
            missed.add([read_told(line(kind, 5, n, moved(str(n - 1), str(n))))])
    told = [msgspec.json.decode(one) for one in missed.lines()]
    assert 1 <= len(told) <= 2
    assert told[-1]["n"] == len(kinds) == (missed.mark or (0, 0))[1]
    alone = [n for n, kind in enumerate(kinds, 1) if kind not in ("change", "resync")]
    if alone:
        assert (told[0]["kind"], told[0]["n"]) == (kinds[alone[-1] - 1], alone[-1])


KINDS = st.sampled_from(["snapshot", "change", "resync", "ended"])


@given(st.lists(st.lists(KINDS, max_size=4), max_size=5), st.booleans(), st.integers(0, 5))
def test_messages_of_one_transaction_are_missed_as_one_by_one(
    transactions: list[list[str]], distinct: bool, lost_before: int
) -> None:
    together, apart, n = Missed(), Missed(), 0
    for number, kinds in enumerate(transactions):
        if number == lost_before:
            together.lose()
            apart.lose()
        told = []
        for kind in kinds:
            n += 1
            body = f'"removed":[{n - 1}],"added":[{n}]' if distinct else moved(str(n - 1), str(n))
            told.append(read_told(line(kind, 5, n, body)))
        together.add(told)
        for one in told:
            apart.add([one])
        assert (together.mark, together.size, together.lost) == (apart.mark, apart.size, apart.lost)
        assert together.lines() == apart.lines()


def test_many_readers_hold_what_they_missed_together() -> None:
    transactions = [
        [read_told(line("change", 5, 9 * t + i, '"removed":[],"added":[1]')) for i in range(9)] for t in (0, 1)
    ]
    readers = [Missed() for _ in range(300)]
    for told in transactions:
        for one in readers:
            one.add(told)
    assert all(list(map(id, one._differences)) == list(map(id, transactions)) for one in readers)


def test_an_answer_is_marked() -> None:
    body = {"id": "s", "version": 5, "n": 3, "answer": [1], "at": Position(0, 1)}
    assert msgspec.json.decode(answer_message(body, True).line)["conflated"] is True
    assert "conflated" not in msgspec.json.decode(answer_message(body, False).line)


def test_where_progress_is() -> None:
    assert read_at(b'{"kind":"progress","epoch":2,"batch":9,"time":"t"}') == (2, 9)
