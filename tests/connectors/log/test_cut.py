from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.log.cut import Cut, Lives, Place, Span, earlier, joinable, joined, steps
from connectors.log.mark import LogMark
from tests.effort import examples

NEVER = 10**9


def at(ends: dict[int, int], life: int = 0) -> Cut:
    return {"s": Place(life, ends)}


def test_steps_between_marks_as_drawn() -> None:
    marks = [at({0: end}) for end in (5, 9, 14, 20)]
    found = list(steps(at({0: 7}), marks, at({0: 16}), NEVER))
    assert [(step[0].begin, step[0].end) for step in found] == [({0: 7}, {0: 9}), ({0: 9}, {0: 14}), ({0: 14}, {0: 16})]


def test_a_topic_created_again_begins_at_its_beginning() -> None:
    marks = [at({0: 5}), at({0: 2}, 1), at({0: 9}, 1)]
    found = list(steps({}, marks, marks[2], NEVER))
    assert [(s[0].life, s[0].begin, s[0].end) for s in found] == [
        (0, {0: 0}, {0: 5}), (1, {0: 0}, {0: 2}), (1, {0: 2}, {0: 9}),
    ]  # fmt: skip
    assert not joinable(found[:1], found[1])
    assert joined(found[1:]) == [Span("s", 1, {0: 0}, {0: 9})]
    assert list(steps(marks[1], marks, marks[1], NEVER)) == []
    assert [s[0].end for s in steps(marks[0], marks, marks[1], NEVER)] == [{0: 2}]


def test_what_nobody_remembers_is_cut_evenly() -> None:
    [one, two, three] = steps({}, [], at({0: 10, 1: 4}), 5)
    assert joined([one, two, three]) == [Span("s", 0, {0: 0, 1: 0}, {0: 10, 1: 4})]
    assert one[0].end == {0: 3, 1: 1}


def test_earlier() -> None:
    assert earlier({}, at({0: 1}))
    assert not earlier(at({0: 1}), at({0: 1}))
    assert earlier(at({0: 9}), at({0: 0, 1: 1}))
    assert not earlier(at({0: 0}, 1), at({0: 5}))


def test_lives_are_numbered_as_they_come() -> None:
    lives = Lives()
    one = LogMark(home="", writer="", number=0, time="", ids={"s": "a"}, end={"s": {"0": 3}})
    two = LogMark(home="", writer="", number=1, time="", ids={"s": "b"}, end={"s": {"0": 1}})
    assert [lives.cut(mark)["s"] for mark in (one, two, one)] == [Place(0, {0: 3}), Place(1, {0: 1}), Place(0, {0: 3})]
    assert (lives.id("s", 1), lives.count("s"), lives.count("t")) == ("b", 2, 0)


ENDS = st.dictionaries(st.integers(0, 1), st.integers(0, 6), max_size=2)


@settings(max_examples=examples(150), deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("st"), st.booleans(), ENDS), max_size=8),
    st.integers(0, 8), st.integers(0, 8), st.integers(1, 9),
)  # fmt: skip
def test_every_offset_once_and_in_order(
    growth: list[tuple[str, bool, dict[int, int]]], low: int, high: int, largest: int
) -> None:
    """Against the naive way: list what each mark brought, and keep what lies between."""
    marks: list[Cut] = []
    brought: list[list[tuple[str, int, int, int]]] = []
    now: Cut = {}
    for topic, again, more in growth:
        before = now.get(topic, Place(0, {}))
        life, ends = (before.life + 1, {}) if again and topic in now else (before.life, before.ends)
        after = {p: ends.get(p, 0) + more.get(p, 0) for p in ends | more}
        brought.append([(topic, life, p, o) for p in after for o in range(ends.get(p, 0), after[p])])
        now = now | {topic: Place(life, after)}
        marks.append(now)
    low, high = sorted((min(low, len(marks)), min(high, len(marks))))
    cuts = [Cut(), *marks]
    found = []
    for step in steps(cuts[low], marks, cuts[high], largest):
        assert sum(span.records for span in step) <= largest + 4 * len(step)
        found += sorted((s.topic, s.life, p, o) for s in step for p in s.end for o in range(s.begin[p], s.end[p]))
    expected = [place for number in range(low, high) for place in brought[number]]
    assert sorted(found) == sorted(expected)
    position = {place: number for number in range(len(brought)) for place in brought[number]}
    assert [position[place] for place in found] == sorted(position[place] for place in found)
