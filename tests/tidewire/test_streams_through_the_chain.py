"""Streams through the whole chain: whatever is cut, lost and begun anew, answers are right and finals are final.

A history publishes events, early and late ones, to one partition and then to two, says silences, and asks questions;
meanwhile batches are cut anywhere and broken off, edges are lost, and epochs begin. `Tide`, the twin, decides from the
records alone what is late, what each question's answer is, and whether it is final. Where windows are kept for a while
alone, whoever asks too late is refused, and all others are told the same finals as if they were kept for ever.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.kafka.partitioner import home_partition
from overlay.subscriptions.summaries import Patience
from tests.effort import deep_examples
from tidewire.pure_pipeline import PurePipeline
from tidewire.scenario.subscriber import Subscriber

EDGES = 2
LATENESS = 3
DDL = (
    "CREATE STREAM s (g VARCHAR, x INTEGER, ts TIMESTAMP) WITH ('topic'='s', 'event_time'='ts', 'lateness'='3 min');"
    "CREATE VIEW v AS SELECT g, DATE_TRUNC('hour', ts) AS hour, MIN(x) AS low, MAX(x) AS high, COUNT(*) AS n, "
    "SUM(x) AS total FROM s WHERE x < 90 GROUP BY g, DATE_TRUNC('hour', ts);"
    "CREATE VIEW w AS SELECT DATE_TRUNC('day', hour) AS day, SUM(n) AS n, MAX(high) AS high FROM v "
    "GROUP BY DATE_TRUNC('day', hour)"
)
START = dt.datetime(2026, 3, 1, 22)
Event = tuple[str | None, int, int]
"""g, x, and the minutes since `START`."""


def moment(minutes: int) -> str:
    return (START + dt.timedelta(minutes=minutes)).isoformat()


@dataclass(frozen=True)
class Question:
    """A statement; its answer of the events that count, as rows; and when it is final, in minutes, None for never."""

    sql: str
    answer: Callable[[list[Event]], list[list[object]]]
    final: int | None
    first: int = 0
    """When its first window begins."""


def groups(hour: int, kept: Iterable[Event]) -> dict[str | None, list[int]]:
    """Return the values of an hour by group, those that the view's WHERE passes."""
    found: dict[str | None, list[int]] = {}
    for g, x, at in kept:
        if at // 60 == hour and x < 90:
            found.setdefault(g, []).append(x)
    return found


def of(hour: int, kept: Iterable[Event]) -> list[int]:
    return groups(hour, kept).get("a", [])


def all_of(kept: Iterable[Event], *hours: int) -> list[int]:
    return [x for hour in hours for values in groups(hour, kept).values() for x in values]


def first(hour: int, kept: Iterable[Event]) -> list[list[object]]:
    """Return the group with the greatest value; of equal ones the first, NULL being the last."""
    tops = sorted((-max(values), g is None, g or "") for g, values in groups(hour, kept).items())
    return [[None if nothing else g, -top] for top, nothing, g in tops[:1]]


def of_an_hour(hour: int) -> list[Question]:
    at, end = moment(60 * hour), 60 * hour + 60
    where, whose = f"hour = TIMESTAMP '{at}'", "g = 'a' AND"
    return [
        Question(
            f"SELECT MAX(high) FROM v WHERE {whose} {where}", lambda kept: [[max(of(hour, kept), default=None)]], end
        ),
        Question(
            f"SELECT MIN(low) FROM v WHERE {whose} {where} NOTIFY FINAL",
            lambda kept: [[min(of(hour, kept), default=None)]],
            end,
        ),
        Question(
            f"SELECT MAX(n) FROM v WHERE {whose} {where} NOTIFY LATEST",
            lambda kept: [[len(of(hour, kept)) or None]],
            end,
        ),
        Question(
            f"SELECT g, total FROM v WHERE {where}",
            lambda kept: [[g, sum(values)] for g, values in groups(hour, kept).items()],
            end,
        ),
        Question(
            f"SELECT g, high FROM v WHERE {where} ORDER BY high DESC, g, hour LIMIT 1",
            lambda kept: first(hour, kept),
            end,
        ),
    ]


def of_several() -> list[Question]:
    return [
        Question(
            f"SELECT SUM(n) FROM v WHERE hour <= TIMESTAMP '{moment(119)}'",
            lambda kept: [[len(all_of(kept, 0, 1)) or None]],
            120,
        ),
        Question(
            "SELECT MAX(high) FROM w WHERE day = TIMESTAMP '2026-03-01 00:00:00'",
            lambda kept: [[max(all_of(kept, 0, 1), default=None)]],
            120,
        ),
        Question(
            "SELECT COUNT(*) FROM v WHERE g = 'a'",
            lambda kept: [[len({at // 60 for g, x, at in kept if g == "a" and x < 90})]],
            None,
        ),
    ]


def of_two_hours(hour: int) -> Question:
    begin, end = moment(60 * hour), moment(60 * hour + 60)
    return Question(
        f"SELECT SUM(n) FROM v WHERE hour BETWEEN TIMESTAMP '{begin}' AND TIMESTAMP '{end}'",
        lambda kept: [[len(all_of(kept, hour, hour + 1)) or None]],
        60 * hour + 120,
    )


HOURS = [one for hour in range(4) for one in of_an_hour(hour)]
QUESTIONS = [*HOURS, *of_several()]


def whole(keep: int) -> list[Question]:
    """Return the questions that become final where windows are kept for so many minutes."""
    spans = [replace(of_two_hours(hour), first=60 * hour) for hour in range(3)] if keep >= 60 else []
    return [*(replace(one, first=(one.final or 0) - 60) for one in HOURS), *spans]


@dataclass
class Tide:
    """What counts, and how far it is complete, by the documented rules. `reached` in minutes, by partition."""

    reached: dict[int, int | None] = field(default_factory=lambda: {0: None})
    kept: list[Event] = field(default_factory=list)
    late: int = 0

    @property
    def upto(self) -> int | None:
        found = [None if at is None else at - LATENESS for at in self.reached.values()]
        return None if None in found else min(at for at in found if at is not None)

    def publish(self, partition: int, event: Event) -> None:
        if partition not in self.reached:
            self.reached[partition] = None if self.upto is None else self.upto + LATENESS
        reached = self.reached[partition]
        if reached is not None and event[2] < reached - LATENESS:
            self.late += 1
            return
        self.kept.append(event)
        self.reached[partition] = event[2] if reached is None else max(reached, event[2])

    def silence(self, upto: int) -> None:
        for partition, reached in self.reached.items():
            self.reached[partition] = upto if reached is None else max(reached, upto)


class Chain:
    """The chain and its subscribers."""

    def __init__(self, draw: Random, keep: int | None = None) -> None:
        """`keep` in minutes, None: for ever."""
        self.draw = draw
        self.keep = keep
        self.questions = QUESTIONS if keep is None else whole(keep)
        self.pipeline = PurePipeline(EDGES, Patience(floor=0, calm=0))
        self.pipeline.apply(DDL if keep is None else DDL.replace("'3 min'", f"'3 min', 'keep'='{keep} min'", 1))
        self.tide = Tide()
        self.asked: dict[str, Question] = {}
        self.subscribers: dict[str, Subscriber] = {}
        self.read = dict.fromkeys(range(EDGES), 0)
        self.ended: set[str] = set()

    def publish(self) -> None:
        first = 1 not in self.tide.reached and self.draw.random() < 0.1
        partition = 1 if first else self.draw.choice(list(self.tide.reached))
        if first:
            self.settle()
        now = max((at for at in self.tide.reached.values() if at is not None), default=0)
        event = (
            self.draw.choice(["a", "b", None]),
            self.draw.choice([1, 2, 2, 3, 99]),
            max(0, now + self.draw.randint(-9, 14)),
        )
        self.pipeline.append("s", None, row(event), partition)
        self.tide.publish(partition, event)
        if first:
            self.settle()

    def silence(self) -> None:
        self.settle()
        now = max((at for at in self.tide.reached.values() if at is not None), default=0)
        upto = now + self.draw.randint(-5, 20)
        micros = int((START + dt.timedelta(minutes=upto) - dt.datetime(1970, 1, 1)).total_seconds()) * 1_000_000
        self.pipeline.silence("s", micros)
        self.tide.silence(upto)
        self.settle()

    def ask(self) -> None:
        id = f"q{self.draw.randrange(6)}"
        self.settle()
        question = self.draw.choice(self.questions)
        self.pipeline.append(self.pipeline.topics.subscriptions, id.encode(), asking(question.sql))
        if self.is_gone(question):
            self.settle()
            assert self.ack(id)["code"] == "window_gone", question.sql
            return
        self.asked[id] = question
        self.subscribers.setdefault(id, Subscriber())
        self.ended.discard(id)
        if self.keep is not None:
            self.settle()

    def is_gone(self, question: Question) -> bool:
        """Whether rows that a question is about may have gone."""
        upto = self.tide.upto
        return self.keep is not None and upto is not None and upto >= question.first + 60 + self.keep

    def ack(self, id: str) -> dict[str, object]:
        log = self.pipeline.logs[self.pipeline.topics.acks][home_partition(id.encode(), EDGES)]
        told: dict[str, object] = json.loads([value for key, value in log if key == id.encode() and value][-1])
        return told

    def disturb(self) -> None:
        number = self.draw.randrange(EDGES)
        match self.draw.randrange(4):
            case 0:
                self.pipeline.run_edge(number)
            case 1:
                self.pipeline.run_batch()
            case 2:
                self.pipeline.break_off(self.draw.random())
            case _:
                self.pipeline.lose_edge(number, compact=self.draw.random() < 0.5)

    def begin_epoch(self) -> None:
        self.settle()
        self.pipeline.begin_epoch()

    def settle(self) -> None:
        self.pipeline.settle()
        self.hear()
        self.check()

    def hear(self) -> None:
        for partition in range(EDGES):
            log = self.pipeline.logs[self.pipeline.topics.deliveries][partition]
            for key, value in log[self.read[partition] :]:
                if key is not None and not key.startswith(b"@") and value is not None:
                    told = json.loads(value)
                    self.subscribers[told["id"]].take(told)
                    if told["kind"] == "ended":
                        self.end(told["id"], told["reason"])
            self.read[partition] = len(log)

    def end(self, id: str, reason: str) -> None:
        """Take the end of a subscription: it was told the final answer, or asks about what went between two epochs."""
        if reason == "window_gone":
            assert self.is_gone(self.asked[id]) and not self.subscribers[id].final
            del self.asked[id]
        else:
            assert reason == "final", reason
            self.ended.add(id)

    def check(self) -> None:
        upto = self.tide.upto
        for id, question in self.asked.items():
            subscriber = self.subscribers[id]
            assert subscriber.fault is None, (id, question.sql, subscriber.fault)
            over = question.final is not None and upto is not None and upto >= question.final
            assert subscriber.final == over, (id, question.sql, upto, question.final)
            by_final = question.sql.endswith("FINAL")
            assert (id in self.ended) == (over and by_final), (id, question.sql)
            if by_final:
                continue
            expected = sorted(question.answer(self.tide.kept), key=repr)
            assert sorted(subscriber.rows, key=repr) == expected, (id, question.sql, subscriber.rows, expected)
        letters = [json.loads(value or b"") for _, value in self.pipeline.logs[self.pipeline.topics.dead_letters][0]]
        assert {letter["code"] for letter in letters} <= {"late"}
        assert len({(one["partition"], one["offset"]) for one in letters}) == self.tide.late
        for edge in self.pipeline.edges:
            edge.check()
            assert edge.counters.contradictions == 0, edge.contradictions()
            assert edge.counters.losses == 0, edge.losses()


@pytest.mark.deep
@settings(max_examples=deep_examples(200), deadline=None)
@given(st.integers(0, 2**32))
def test_answers_are_right_and_finals_final(seed: int) -> None:
    play(Random(seed), None)


@pytest.mark.deep
@settings(max_examples=deep_examples(200), deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([1, 50, 60, 130]))
def test_what_is_kept_for_a_while_has_the_same_finals(seed: int, keep: int) -> None:
    play(Random(seed), keep)


def play(draw: Random, keep: int | None) -> None:
    """Play a history."""
    chain = Chain(draw, keep)
    actions = [chain.publish] * 8 + [chain.disturb] * 5 + [chain.ask] * 3 + [chain.silence, chain.settle]
    for _ in range(draw.randrange(10, 60)):
        draw.choice(actions)()
        if draw.random() < 0.02:
            chain.begin_epoch()
    chain.settle()
    chain.begin_epoch()
    chain.settle()


def test_homes_are_spread() -> None:
    assert {home_partition(f"q{i}".encode(), EDGES) for i in range(6)} == set(range(EDGES))


def test_a_topic_that_is_made_anew_contradicts_finals_and_tells_nobody() -> None:
    chain = finals_of_two_hours()
    chain.begin_epoch()
    chain.settle()
    pipeline, told = chain.pipeline, of_subscribers(chain)
    pipeline.logs["s"][0][:2] = [(None, row(("a", 5, 5))), (None, row(("a", 0, 8)))]
    pipeline.begin_epoch()
    pipeline.settle()
    found = [each for edge in pipeline.edges for each in edge.contradictions()]
    assert sorted((each.id, each.upto, each.told, each.found) for each in found) == [
        ("a", moment(60), "2", "5"),
        ("c", moment(60), "1", "2"),
        ("d", moment(60), "2 rows", "1 row"),
        ("e", moment(60), '[["b",3]]', '[["a",5]]'),
    ]
    assert of_subscribers(chain) == told, "nothing more is told of what is final"

    for number in range(EDGES):
        pipeline.lose_edge(number)
    pipeline.append("s", None, row(("a", 1, 150)), 0)
    pipeline.settle()
    again = sorted(each.id for edge in pipeline.edges for each in edge.contradictions())
    assert again == list("acde") and of_subscribers(chain) == told, "the next process finds them again"


def finals_of_two_hours() -> Chain:
    """Return a chain whose subscribers have their finals, about all kinds of answers; "b" is over with it."""
    chain = Chain(Random(1))
    for id, question in zip("abcdefg", [*of_an_hour(0), of_several()[0], of_an_hour(1)[0]], strict=True):
        chain.pipeline.append(chain.pipeline.topics.subscriptions, id.encode(), asking(question.sql))
        chain.asked[id], chain.subscribers[id] = question, Subscriber()
    chain.settle()
    for event in (("a", 2, 5), ("b", 3, 6), ("a", 1, 70), ("a", 1, 140)):
        chain.pipeline.append("s", None, row(event), 0)
        chain.tide.publish(0, event)
        chain.settle()
    assert all(chain.subscribers[id].final for id in "abcdefg")
    return chain


def of_subscribers(chain: Chain) -> list[tuple[bytes | None, bytes | None]]:
    """Return what subscribers were told."""
    logs = chain.pipeline.logs[chain.pipeline.topics.deliveries].values()
    return [(key, value) for log in logs for key, value in log if key is not None and not key.startswith(b"@")]


def asking(sql: str) -> bytes:
    return json.dumps({"sql": sql}).encode()


def row(event: Event) -> bytes:
    return json.dumps({"g": event[0], "x": event[1], "ts": moment(event[2])}).encode()
