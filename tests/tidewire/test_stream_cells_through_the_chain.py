"""Cells of streams through the whole chain: views of two streams and a table, made amid a history, lost, begun anew.

Each stream has its `Tide`, the twin of `test_streams_through_the_chain.py`, and the table is a dict; from these alone
it follows what every question's answer is and whether it is final. Beside that, what a cell folds is what the streams'
own groups do, at each rest: the same rows, horizons and first windows.
"""

from __future__ import annotations

import datetime as dt
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.ddl.statements import apply_ddl
from catalog.query.compiler import Compiler
from catalog.schema.catalog import Catalog
from catalog.schema.placed_stage import folds_in, stages_beside
from catalog.sql.errors import SubscriptionError
from connectors.kafka.partitioner import home_partition
from overlay.subscriptions.summaries import Patience
from shard.group import Group
from shard.state import ShardState
from tests.effort import deep_examples
from tests.tidewire.test_streams_through_the_chain import EDGES, Event, Tide, asking, moment, row
from tidewire.pure_pipeline import PurePipeline
from tidewire.scenario.subscriber import Subscriber

DDL = "CREATE TABLE t (g VARCHAR PRIMARY KEY, name VARCHAR)" + "".join(
    f"; CREATE STREAM {s} (g VARCHAR, x INTEGER, ts TIMESTAMP) "
    f"WITH ('topic'='{s}', 'event_time'='ts', 'lateness'='3 min'{{keep}});"
    f"CREATE VIEW of_{s} AS SELECT g, DATE_TRUNC('hour', ts) AS hour, MAX(x) AS high, COUNT(*) AS n FROM {s} "
    "WHERE x < 90 GROUP BY g, DATE_TRUNC('hour', ts)"
    for s in "sr"
)
VIEWS = {
    "named": "SELECT o.g, o.hour, o.high, o.n, t.name FROM of_s o JOIN t ON t.g = o.g",
    "anyhow": "SELECT o.g, o.hour, o.high, t.name FROM of_s o LEFT JOIN t ON o.g = t.g",
    "sectors": "SELECT name, SUM(n) AS n, MAX(high) AS high FROM named GROUP BY name",
    "both": "SELECT g, hour, high, n FROM of_s UNION ALL SELECT g, hour, high, n FROM of_r",
    "hours": "SELECT hour, SUM(n) AS n, MAX(high) AS high FROM both GROUP BY hour",
    "pairs": "SELECT s.hour, s.g, s.n AS one, r.n AS other FROM of_s s JOIN of_r r ON s.hour = r.hour AND s.g = r.g",
    "every": "SELECT b.g, b.hour, b.n, t.name FROM both b JOIN t ON t.g = b.g",
    "groups": "SELECT g, COUNT(*) AS n FROM s GROUP BY g",
    "told": "SELECT o.g, o.n, t.name FROM groups o LEFT JOIN t ON o.g = t.g",
}
Grouped = dict[tuple[str | None, int], list[int]]


@dataclass(frozen=True)
class World:
    """What there is: values of rows that count by stream, group and hour; the table; rows that view `groups` has."""

    of: Mapping[str, Grouped]
    names: Mapping[str, str | None]
    groups: Counter[str | None]


@dataclass(frozen=True)
class Question:
    """A statement about a view; its answer as rows; and when it is final, in minutes, None for never."""

    view: str
    sql: str
    answer: Callable[[World], list[list[object]]]
    final: int | None = None
    streams: str = "sr"


def named(world: World) -> list[list[object]]:
    found = world.of["s"].items()
    return [
        [g, moment(60 * h), max(x), len(x), world.names[g]] for (g, h), x in found if g is not None and g in world.names
    ]


def anyhow(world: World) -> list[list[object]]:
    found = world.of["s"].items()
    return [[g, moment(60 * h), max(x), None if g is None else world.names.get(g)] for (g, h), x in found]


def sectors(world: World) -> list[list[object]]:
    found = defaultdict[object, list[list[int]]](list)
    for (g, _), x in world.of["s"].items():
        if g is not None and g in world.names:
            found[world.names[g]].append(x)
    return [[name, sum(map(len, each)), max(map(max, each))] for name, each in found.items()]


def total(world: World, hour: int) -> list[list[object]]:
    return [[sum(len(x) for of in world.of.values() for (_, h), x in of.items() if h == hour) or None]]


def lists(world: World, hour: int) -> list[list[object]]:
    return [[g, max(x), len(x)] for of in world.of.values() for (g, h), x in of.items() if h == hour]


def pairs(world: World, hour: int) -> list[list[object]]:
    one, other = world.of["s"], world.of["r"]
    return [
        [g, len(x), len(other[g, h])] for (g, h), x in one.items() if h == hour and g is not None and (g, h) in other
    ]


def every(world: World) -> list[list[object]]:
    found = [item for of in world.of.values() for item in of.items()]
    return [[g, len(x), world.names[g]] for (g, _), x in found if g is not None and g in world.names]


def told(world: World) -> list[list[object]]:
    return [[g, n, None if g is None else world.names.get(g)] for g, n in world.groups.items()]


def questions() -> list[Question]:
    """Return one of each kind, and of each hour those that become final."""
    found = [
        Question("named", "SELECT g, hour, high, n, name FROM named", named),
        Question("anyhow", "SELECT g, hour, high, name FROM anyhow", anyhow),
        Question("sectors", "SELECT name, n, high FROM sectors", sectors),
        Question("every", "SELECT g, n, name FROM every", every),
        Question("told", "SELECT g, n, name FROM told", told),
    ]
    for hour in range(3):
        where, end = f"WHERE hour = TIMESTAMP '{moment(60 * hour)}'", 60 * hour + 60
        found += [
            Question(
                "named",
                f"SELECT COUNT(*) FROM named {where}",
                lambda w, h=hour: [[sum(at == moment(60 * h) for _, at, *_ in named(w))]],
            ),
            Question("both", f"SELECT SUM(n) FROM both {where}", lambda w, h=hour: total(w, h), end),
            Question("both", f"SELECT g, high, n FROM both {where}", lambda w, h=hour: lists(w, h), end),
            Question("hours", f"SELECT MAX(n) FROM hours {where} NOTIFY FINAL", lambda w, h=hour: total(w, h), end),
            Question("pairs", f"SELECT g, one, other FROM pairs {where}", lambda w, h=hour: pairs(w, h), end),
        ]
    return found


QUESTIONS = questions()


class Chain:
    """The chain, its twins and its subscribers."""

    def __init__(self, draw: Random, keep: int | None = None) -> None:
        self.draw = draw
        self.keep = keep
        self.pipeline = PurePipeline(EDGES, Patience(floor=0, calm=0))
        self.pipeline.apply(DDL.replace("{keep}", "" if keep is None else f", 'keep'='{keep} min'"))
        self.tides = {"s": Tide(), "r": Tide()}
        self.names: dict[str, str | None] = {}
        self.since = 0
        self.asked: dict[str, Question] = {}
        self.subscribers: dict[str, Subscriber] = {}
        self.read = dict.fromkeys(range(EDGES), 0)
        self.ended: set[str] = set()

    @property
    def world(self) -> World:
        of: dict[str, Grouped] = {name: {} for name in self.tides}
        for name, tide in self.tides.items():
            for g, x, at in tide.kept:
                if x < 90:
                    of[name].setdefault((g, at // 60), []).append(x)
        return World(of, self.names, Counter(g for g, _, _ in self.tides["s"].kept[self.since :]))

    def declare(self) -> None:
        views = self.pipeline.catalog.views
        able = [
            name for name, query in VIEWS.items()
            if name not in views and all(other in views for other in VIEWS if f"FROM {other} " in f"{query} ")
        ]  # fmt: skip
        if able:
            self.settle()
            name = self.draw.choice(able)
            if name == "groups":
                self.since = len(self.tides["s"].kept)
            self.pipeline.apply(f"CREATE VIEW {name} AS {VIEWS[name]}")

    def publish(self) -> None:
        name = self.draw.choice("ssr")
        tide = self.tides[name]
        first = 1 not in tide.reached and self.draw.random() < 0.1
        partition = 1 if first else self.draw.choice(list(tide.reached))
        if first:
            self.settle()
        now = max((at for at in tide.reached.values() if at is not None), default=0)
        event: Event = (
            self.draw.choice(["a", "b", None]),
            self.draw.choice([1, 2, 2, 3, 99]),
            max(0, now + self.draw.randint(-9, 18)),
        )
        self.pipeline.append(name, None, row(event), partition)
        tide.publish(partition, event)
        if first:
            self.settle()

    def change(self) -> None:
        g = self.draw.choice("abc")
        if self.draw.random() < 0.3:
            self.names.pop(g, None)
            self.pipeline.append("t", json.dumps({"g": g}).encode(), None)
        else:
            self.names[g] = self.draw.choice(["x", "y", None])
            value = json.dumps({"g": g, "name": self.names[g]}).encode()
            self.pipeline.append("t", json.dumps({"g": g}).encode(), value)

    def silence(self) -> None:
        self.settle()
        name = self.draw.choice("sr")
        tide = self.tides[name]
        upto = max((at for at in tide.reached.values() if at is not None), default=0) + self.draw.randint(-5, 40)
        self.pipeline.silence(name, micros(upto))
        tide.silence(upto)
        if self.draw.random() < 0.5:
            self.change()
        self.settle()

    def ask(self) -> None:
        able = [question for question in QUESTIONS if question.view in self.pipeline.catalog.views]
        if not able:
            return
        question, id = self.draw.choice(able), f"q{self.draw.randrange(6)}"
        if self.keep is not None and "FINAL" in question.sql:
            return
        self.settle()
        self.pipeline.append(self.pipeline.topics.subscriptions, id.encode(), asking(question.sql))
        self.asked[id] = question
        self.subscribers.setdefault(id, Subscriber())
        self.ended.discard(id)

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
        self.since = 0

    def settle(self) -> None:
        self.pipeline.settle()
        self.hear()
        self.check()
        for name in self.pipeline.catalog.cells:
            check_cell(self.pipeline, name)

    def hear(self) -> None:
        for partition in range(EDGES):
            log = self.pipeline.logs[self.pipeline.topics.deliveries][partition]
            for key, value in log[self.read[partition] :]:
                if key is not None and not key.startswith(b"@") and value is not None:
                    said = json.loads(value)
                    self.subscribers[said["id"]].take(said)
                    if said["kind"] == "ended":
                        assert said["reason"] == "final"
                        self.ended.add(said["id"])
            self.read[partition] = len(log)

    def check(self) -> None:
        uptos = [tide.upto for tide in self.tides.values()]
        upto = None if None in uptos else min(at for at in uptos if at is not None)
        for id, question in self.asked.items():
            subscriber = self.subscribers[id]
            assert subscriber.fault is None, (id, question.sql, subscriber.fault)
            over = self.keep is None and question.final is not None and upto is not None and upto >= question.final
            assert subscriber.final == over, (id, question.sql, uptos, question.final)
            by_final = question.sql.endswith("FINAL")
            assert (id in self.ended) == (over and by_final), (id, question.sql)
            if not by_final and self.keep is None:
                expected = sorted(question.answer(self.world), key=repr)
                assert sorted(subscriber.rows, key=repr) == expected, (id, question.sql, subscriber.rows, expected)
        letters = [json.loads(value or b"") for _, value in self.pipeline.logs[self.pipeline.topics.dead_letters][0]]
        late = {(one["topic"], one["partition"], one["offset"]) for one in letters if one["code"] == "late"}
        assert len(late) == sum(tide.late for tide in self.tides.values())
        for edge in self.pipeline.edges:
            edge.check()
            assert edge.counters.contradictions == 0, edge.contradictions()
            assert edge.counters.losses == 0, edge.losses()


def micros(minutes: int) -> int:
    return (dt.datetime.fromisoformat(moment(minutes)) - dt.datetime(1970, 1, 1)) // dt.timedelta(microseconds=1)


def check_cell(pipeline: PurePipeline, name: str) -> None:
    """Compare what a cell has of streams with what their own groups have."""
    catalog, state = pipeline.catalog, pipeline.groups.get(name)
    cell = catalog.cells[name]
    if state is None:
        return
    for table in cell.tables:
        relation = catalog.relations[table]
        own, copy = (
            of(pipeline, relation.shard, relation.shard, catalog),
            of(pipeline, name, cell.member(table), catalog),
        )
        if relation.stream is not None:
            assert seen(own) == seen(copy), table
    for fold, stream in folds_in(catalog, cell).items():
        home = catalog.relations[stream].shard
        own, copy = of(pipeline, home, f"{fold}/0", catalog), of(pipeline, name, cell.member(fold), catalog)
        if own.filled and copy.filled:
            assert (own.first_window, own.last_gone) == (copy.first_window, copy.last_gone), fold
            assert rows(own) == rows(copy), fold


def of(pipeline: PurePipeline, group: str, member: str, catalog: Catalog) -> ShardState:
    stages = [each for name in catalog.relations for each in stages_beside(catalog, name)]
    relations = {**catalog.relations, **{stage.relation.name: stage.relation for stage in stages}}
    bare = (
        member.removeprefix(f"{group}/").removesuffix("/0") if group.startswith("cell/") else member.removesuffix("/0")
    )
    relation = relations[bare.replace("%2F", "/")]
    return Group.open(group, {member: relation}, pipeline.groups.get(group))[member]


def seen(member: ShardState) -> bytes:
    """Return how far a stream is; rows of windows from before a fold are counted where they are told."""
    horizon = member.horizon
    return b"" if horizon is None else msgspec.msgpack.encode(msgspec.structs.replace(horizon, unfolded=0))


def rows(member: ShardState) -> dict[object, object]:
    stored = member.table.stored
    return {stored.key(row): stored.image(row) for row in range(len(stored))}


@pytest.mark.deep
@settings(max_examples=deep_examples(200), deadline=None)
@given(st.integers(0, 2**32))
def test_answers_are_right_and_finals_final(seed: int) -> None:
    play(Random(seed), None)


@pytest.mark.deep
@settings(max_examples=deep_examples(60), deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([1, 60]))
def test_what_a_stream_keeps_for_a_while_is_the_same_in_a_cell_and_never_final(seed: int, keep: int) -> None:
    play(Random(seed), keep)


def play(draw: Random, keep: int | None) -> None:
    """Play a history."""
    chain = Chain(draw, keep)
    actions = [chain.publish] * 8 + [chain.change] * 2 + [chain.disturb] * 5 + [chain.ask] * 3 + [chain.declare] * 2
    actions += [chain.silence, chain.settle]
    for _ in range(draw.randrange(10, 60)):
        draw.choice(actions)()
        if draw.random() < 0.02:
            chain.begin_epoch()
    chain.settle()
    chain.begin_epoch()
    chain.settle()


def test_what_is_joined_with_a_table_cannot_be_told_when_it_is_final() -> None:
    catalog = apply_ddl(apply_ddl(Catalog(), DDL.replace("{keep}", ""), 0), f"CREATE VIEW named AS {VIEWS['named']}", 1)
    sql = f"SELECT MAX(high) FROM named WHERE hour = TIMESTAMP '{moment(0)}' NOTIFY FINAL"
    with pytest.raises(SubscriptionError, match="rows that never become final") as raised:
        Compiler(catalog).compile(sql)
    assert "no table beside" in (raised.value.hint or "")


def test_homes_are_spread() -> None:
    assert {home_partition(f"q{i}".encode(), EDGES) for i in range(6)} == set(range(EDGES))
