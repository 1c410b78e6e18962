"""The virtual edge against its naive twin, under epochs, replays, repeats, replacements, drops and crashes."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace
from decimal import Decimal

import msgspec
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from catalog.query.best_shape import BestShape
from catalog.query.shape import COUNTS, Output, Region, Shape
from catalog.sql.notify import Notify
from overlay.subscriptions.bag_looks import LookedRows
from tests.effort import deep_examples
from tests.oracle.naive_channels import DOMAIN, Publication, full_row
from tests.oracle.naive_edge import Wanted
from tests.overlay.best_questions import firsts
from tests.overlay.edge_world import EdgeWorld, table
from tests.overlay.filter_questions import filters
from tests.overlay.range_questions import RANGED, is_empty, range_of

names = st.sampled_from(["a", "b", "c", "d", "e"])
tables = st.sampled_from(["t", "u"])
values = st.sampled_from(DOMAIN)


functions = st.sampled_from(["min", "max", "count", "sum", "avg", "count *", "count_distinct"])
NUMBERS = ("m", "m", "d", "w")
POLICIES = [
    (Notify("every"), ""),
    (Notify("every"), " NOTIFY EVERY CHANGE"),
    (Notify("latest"), " NOTIFY LATEST"),
    (Notify("min_change", Decimal("0.5")), " NOTIFY MIN CHANGE 0.5"),
    (Notify("min_change", Decimal(2)), " NOTIFY MIN CHANGE 2"),
    (Notify("min_change", Decimal(60), True), " NOTIFY MIN CHANGE 60 %"),
]


@st.composite
def outputs(draw: st.DrawFn) -> tuple[Output, ...]:
    """A SELECT list: DISTINCT alone, or one to three others."""
    if draw(st.integers(0, 4)) == 0:
        return (Output("distinct", draw(st.sampled_from(["m", "d", "w", "s", "e"]))),)
    items = []
    for function in draw(st.lists(functions, min_size=1, max_size=3)):
        column = draw(st.sampled_from([*NUMBERS, "e"] if function in ("sum", "avg") else [*NUMBERS, "s", "e"]))
        items.append(Output("count", None) if function == "count *" else Output(function, column))
    return tuple(items)


@st.composite
def wanted(draw: st.DrawFn) -> Wanted:
    """A question: of any shape, range and policy, now and then one that cannot be answered."""
    if draw(st.integers(0, 15)) == 0:
        return Wanted("SELECT MIN(m FROM t", None, "syntax")
    of_rows = draw(st.sampled_from([None, None, filters, filters, firsts]))
    if of_rows is not None:
        return draw(of_rows(draw(tables)))
    relation, grouped, ranged = draw(tables), draw(st.booleans()), draw(st.sampled_from(RANGED))
    items = draw(outputs() | st.just((Output("min", "m"),)))
    clauses, group = [], b"[]"
    if grouped:
        g = draw(values)
        clauses.append(f"g = {g}")
        group = b"[%d]" % g
    lo, hi, clause = range_of(ranged, draw(values), draw(values), draw(st.integers(1, 3)))
    if clause:
        clauses.append(clause)
    first = items[0]
    number = len(items) == 1 and (first.function in COUNTS or (first.function != "distinct" and first.column != "s"))
    notify, said = draw(st.sampled_from(POLICIES if number else POLICIES[:3]))
    ttl = draw(st.sampled_from([None] * 7 + [2, 9]))
    sql = f"SELECT {', '.join(map(_item, items))} FROM {relation}"
    sql += f" WHERE {' AND '.join(clauses)}" if clauses else ""
    sql += said + ("" if ttl is None else f" TTL {ttl} SECONDS") + draw(st.sampled_from(["", "", " DELIVER PUSH"]))
    shape = Shape(relation, items, ("g",) if grouped else (), ranged)
    columns = tuple({output.column for output in items if output.column is not None})
    return Wanted(sql, Region(shape, group, lo, hi, is_empty(lo, hi)), "", columns, notify, ttl)


def _item(output: Output) -> str:
    if output.function == "distinct":
        return f"DISTINCT {output.column}"
    if output.function == "count_distinct":
        return f"COUNT(DISTINCT {output.column})"
    return f"{output.function.upper()}({output.column or '*'})"


maybe = st.none() | values
rows = st.lists(
    st.tuples(
        tables, st.sampled_from("pqr"), st.none() | st.tuples(maybe, maybe, maybe) | st.tuples(values, values, values)
    ),
    min_size=4,
    max_size=9,
)
chunks = st.sampled_from([1, 2, 50])
flows = st.sampled_from(["all", "all", "all", "read", "no"])


class EdgeMachine(RuleBasedStateMachine):
    """`flow` says how far an event is followed at once: not at all, read by the edge, or committed too."""

    @initialize(both=st.booleans(), early=st.lists(st.tuples(names, wanted()), max_size=6), begun=st.booleans())
    def start(self, both: bool, early: list[tuple[str, Wanted]], begun: bool) -> None:
        self.world = EdgeWorld()
        self.world.apply_catalog({"t": table("t", 0)} | ({"u": table("u", 0)} if both else {}))
        for name, question in early:
            self.ask(name, question)
        self.world.begin_epoch()
        if begun:
            self.world.register()
            self.flow("all")

    def ask(self, name: str, question: Wanted) -> None:
        value = msgspec.json.encode({"sql": question.sql})
        self.world.subscriptions.append((name.encode(), value, question))

    def flow(self, how: str) -> None:
        if how != "no":
            self.world.feed("subscriptions", 99)
            self.world.feed("notifications", 99)
        if how == "all":
            self.world.take()
            self.compare()

    @rule(name=names, wanted=wanted(), how=flows)
    def subscribe(self, name: str, wanted: Wanted, how: str) -> None:
        self.ask(name, wanted)
        self.flow(how)

    @rule(name=names, how=flows)
    def unsubscribe(self, name: str, how: str) -> None:
        self.world.subscriptions.append((name.encode(), None, None))
        self.flow(how)

    @rule(which=st.integers(0, 5), name=tables)
    def change_catalog(self, which: int, name: str) -> None:
        relations = dict(self.world.catalog.relations)
        if which == 0:
            relations.pop(name, None)
        elif which == 1:
            relations[name] = table(name, len(self.world.catalogs))
        elif name in relations:
            relations[name] = table(name, relations[name].born, extra=True)
        else:
            relations[name] = table(name, len(self.world.catalogs))
        self.world.apply_catalog(relations)

    @rule(registers=st.booleans(), how=flows)
    def begin_epoch(self, registers: bool, how: str) -> None:
        self.world.begin_epoch()
        if registers:
            self.world.register()
        self.flow(how)

    @rule(how=flows)
    def register(self, how: str) -> None:
        self.world.register()
        self.flow(how)

    @rule(
        rows=rows,
        chunk=chunks,
        ends=st.lists(st.integers(0, 3), max_size=2),
        announced=st.integers(0, 3),
        how=flows,
        joined=st.sets(st.integers(0, 8), max_size=3),
        later=st.sampled_from([0, 0, 0, 1, 2]),
    )
    def run_batch(
        self, rows: list, chunk: int, ends: list[int], announced: int, how: str,
        joined: Set[int] = frozenset(), later: int = 0,
    ) -> None:  # fmt: skip
        """`joined`: rows that the record before changes too, if it is of their table."""
        made: list[Publication] = []
        for i, (relation, key, row) in enumerate(rows):
            if relation not in self.world.catalog.relations:
                continue
            content = None if row is None else full_row(*row)
            if i in joined and made and made[-1].relation == relation:
                made[-1] = replace(made[-1], more=(*made[-1].more, (key, content)))
            else:
                made.append(Publication(relation, key, content, self.world.offset))
                self.world.offset += 1
        self.world.run_batch(made, chunk, ends, later)
        for _ in range(announced):
            self.world.announce(repeat=False)
        self.flow(how)

    @rule(most=st.sampled_from([1, 2, 100]))
    def bound_answers(self, most: int) -> None:
        """Let answers of filters have at most so many rows from now on."""
        self.world.most = most

    @rule(batches=st.lists(rows, min_size=1, max_size=3), chunk=chunks, joined=st.sets(st.integers(0, 8), max_size=3))
    def keep_up(self, batches: list[list], chunk: int, joined: Set[int] = frozenset()) -> None:
        """Everybody is registered and everything is announced before rows are published."""
        self.world.register()
        self.flow("all")
        for rows in [[], *batches]:
            self.run_batch(rows, chunk, [], 9, "all", joined)

    @rule(
        asked=st.lists(st.tuples(names, wanted()), min_size=1, max_size=5),
        batches=st.lists(rows, min_size=1, max_size=3),
        chunk=chunks,
    )
    def ask_and_keep_up(self, asked: list[tuple[str, Wanted]], batches: list[list], chunk: int) -> None:
        for name, wanted in asked:
            self.ask(name, wanted)
        self.keep_up(batches, chunk)

    @rule(looked=st.lists(names, min_size=1, max_size=3), rows=rows, chunk=chunks)
    def look_and_keep_up(self, looked: list[str], rows: list, chunk: int) -> None:
        """Look at rows while others come: what is seen is behind a delivery, whatever follows it."""
        self.keep_up([], chunk)
        for name in looked:
            self.world.look(name)
        self.flow("all")
        self.run_batch(rows, chunk, [], 9, "all")

    @rule(name=names)
    def look(self, name: str) -> None:
        self.world.look(name)

    @rule()
    def repeat_progress(self) -> None:
        self.world.announce(repeat=True)

    @rule()
    def zombie(self) -> None:
        self.world.zombie()

    @rule(topic=st.sampled_from(["subscriptions", "notifications"]), count=st.integers(1, 4))
    def feed(self, topic: str, count: int) -> None:
        self.world.feed(topic, count)

    @rule(steps=st.integers(1, 3))
    def lose(self, steps: int) -> None:
        """Lose a part of `notifications`, and perhaps what was told next, before any of it is answered."""
        for _ in range(steps):
            self.world.lose()
            self.world.take()

    @rule(
        before=st.integers(1, 2),
        batches=st.lists(st.tuples(rows, st.booleans()), min_size=1, max_size=4),
        chunk=chunks,
        repeated=st.booleans(),
    )
    def lose_while_rows_come(self, before: int, batches: list[tuple[list, bool]], chunk: int, repeated: bool) -> None:
        """Some batches are lost amid others, while answers to what was registered before are on their way."""
        self.keep_up([], chunk)
        self.lose(before)
        for some, lost in batches:
            self.run_batch(some, chunk, [1] if repeated else [], 9, "no" if lost else "all")
            if lost:
                self.lose(1)
        self.run_batch([], chunk, [], 9, "all")

    @rule()
    def refuse_held(self) -> None:
        self.world.refuse_held()

    @rule()
    def take(self) -> None:
        self.world.take()
        self.compare()

    @rule()
    def compact(self) -> None:
        self.world.compact()

    @rule()
    def crash(self) -> None:
        self.world.crash()

    def compare(self) -> None:
        world = self.world
        heard = {name: settled(log) for name, log in world.heard.items()}
        assert heard == world.twin.heard, differing(heard, world.twin.heard)
        for number, seen in world.edge.looked():
            if isinstance(seen, LookedRows):
                at = seen.at.epoch, seen.at.batch
                rows = [msgspec.json.decode(row) for row in seen.rows]
                assert (seen.version, seen.n, at, rows) == world.twin.seen[number]
        mine = {name: [_brief(ack) for ack in acks] for name, acks in world.acks.items()}
        assert mine == world.twin.acks
        asked = [one.region.shape for *_, one in world.subscriptions if one is not None and one.region is not None]
        lists = any(isinstance(shape, BestShape) for shape in asked)
        assert world.edge.counters.suppressed == 0 or lists, "a list may be shown as before, all else is told"
        for name, one in world.twin.live.items():
            view = world.edge.find(name.encode())
            assert view is not None and (view.status, view.n) == ("live", one.n)
            assert (view.rows if one.is_bag else view.answer) == one.json
            assert view.at is not None and (view.at.epoch, view.at.batch) == one.at

    def teardown(self) -> None:
        if hasattr(self, "world"):
            self.take()


def differing(mine: dict[str, list[dict]], wanted: dict[str, list[dict]]) -> dict[str, tuple]:
    """Return by name what was heard and what should have been, from where they differ."""
    found = {}
    for name in sorted({*mine, *wanted}):
        one, other = mine.get(name, []), wanted.get(name, [])
        same = next((i for i, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), None)
        if one != other:
            start = min(len(one), len(other)) if same is None else same
            found[name] = one[start:], other[start:]
    return found


def settled(log: list[dict]) -> list[dict]:
    """Return deliveries in which a change of a list says what is held behind it: several changes may lead there."""
    held: dict[int, list] = {}
    told = []
    for one in log:
        version = one["version"]
        if one.get("form") == "list":
            held[version] = [row for _, row in one["added"]]
        elif one["kind"] == "change" and version in held:
            rows = held[version]
            assert [rows.pop(place) for place, _ in one["removed"]] == [row for _, row in one["removed"]]
            for place, row in one["added"]:
                assert place <= len(rows)
                rows.insert(place, row)
            one = {name: value for name, value in one.items() if name not in ("removed", "added")} | {"holds": [*rows]}
        told.append(one)
    return told


def _brief(ack: dict) -> tuple:
    match ack["status"]:
        case "refused":
            return ack["version"], "refused", ack["code"]
        case "live":
            return ack["version"], "live", (ack["at"]["epoch"], ack["at"]["batch"])
        case "ended":
            return ack["version"], "ended", ack["reason"]
    return ack["version"], ack["status"], None


TestEdgeMachine = pytest.mark.deep(EdgeMachine.TestCase)
TestEdgeMachine.settings = settings(
    max_examples=deep_examples(60), stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
)
