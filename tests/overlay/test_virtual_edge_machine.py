"""The virtual edge against its naive twin, under epochs, replays, repeats, replacements, drops and crashes."""

from __future__ import annotations

import msgspec
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from catalog.shape import Region
from state.order_code import INT64_MAX, INT64_MIN
from tests.oracle.naive_edge import Wanted
from tests.oracle.naive_shard import DOMAIN, Publication
from tests.overlay.edge_world import EdgeWorld, shape, table

names = st.sampled_from(["a", "b", "c"])
tables = st.sampled_from(["t", "u"])
values = st.sampled_from(DOMAIN)


@st.composite
def wanted(draw: st.DrawFn) -> Wanted:
    """A question: of several shapes and ranges, now and then one that cannot be answered."""
    kind = draw(st.integers(0, 15))
    if kind == 0:
        return Wanted("SELECT MIN(m FROM t", None, "syntax")
    relation, grouped, ranged = draw(tables), draw(st.booleans()), draw(st.integers(0, 3))
    aggregate = draw(st.sampled_from(["min", "max"]))
    column = "e" if kind == 1 else "m"
    clauses, group, lo, hi = [], b"[]", INT64_MIN, INT64_MAX
    if grouped:
        g = draw(values)
        clauses.append(f"g = {g}")
        group = b"[%d]" % g
    if ranged:
        lo, hi, clause = _range(draw(values), draw(values), ranged)
        clauses.append(clause)
    sql = f"SELECT {aggregate.upper()}({column}) FROM {relation}"
    sql += f" WHERE {' AND '.join(clauses)}" if clauses else ""
    kind_of = msgspec.structs.replace(shape(relation, aggregate, grouped, bool(ranged)), measure=column)
    return Wanted(sql, Region(kind_of, group, lo, hi, lo > hi), columns=(column,))


def _range(a: int, b: int, how: int) -> tuple[int, int, str]:
    if how == 1:
        return a, INT64_MAX, f"x >= {a}"
    if how == 2:
        return INT64_MIN, b - 1, f"x < {b}"
    return a, b, f"x BETWEEN {a} AND {b}"


rows = st.lists(
    st.tuples(tables, st.sampled_from("pqr"), st.none() | st.tuples(values, values, values)), min_size=4, max_size=9
)
chunks = st.sampled_from([1, 2, 50])
flows = st.sampled_from(["all", "all", "all", "read", "no"])


class EdgeMachine(RuleBasedStateMachine):
    """`flow` says how far an event is followed at once: not at all, read by the edge, or committed too."""

    @initialize(both=st.booleans(), early=st.lists(st.tuples(names, wanted()), max_size=3), begun=st.booleans())
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

    @rule(rows=rows, chunk=chunks, ends=st.lists(st.integers(0, 3), max_size=2), announced=st.integers(0, 3), how=flows)
    def run_batch(self, rows: list, chunk: int, ends: list[int], announced: int, how: str) -> None:
        made = []
        for relation, key, row in rows:
            if relation in self.world.catalog.relations:
                content = None if row is None else dict(zip("gxm", row, strict=True))
                made.append(Publication(relation, key, content, self.world.offset))
                self.world.offset += 1
        self.world.run_batch(made, chunk, ends)
        for _ in range(announced):
            self.world.announce(repeat=False)
        self.flow(how)

    @rule(rows=rows, chunk=chunks)
    def keep_up(self, rows: list, chunk: int) -> None:
        """Everybody is registered and everything is announced before rows are published."""
        self.world.register()
        self.flow("all")
        self.run_batch([], chunk, [], 9, "all")
        self.run_batch(rows, chunk, [], 9, "all")

    @rule(name=names, wanted=wanted(), rows=rows, chunk=chunks)
    def ask_and_keep_up(self, name: str, wanted: Wanted, rows: list, chunk: int) -> None:
        self.ask(name, wanted)
        self.keep_up(rows, chunk)

    @rule()
    def repeat_progress(self) -> None:
        self.world.announce(repeat=True)

    @rule()
    def zombie(self) -> None:
        self.world.zombie()

    @rule(topic=st.sampled_from(["subscriptions", "notifications"]), count=st.integers(1, 4))
    def feed(self, topic: str, count: int) -> None:
        self.world.feed(topic, count)

    @rule()
    def settle(self) -> None:
        self.world.settle()

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
        assert world.heard == world.twin.heard
        mine = {name: [_brief(ack) for ack in acks] for name, acks in world.acks.items()}
        assert mine == world.twin.acks
        assert world.edge.counters.suppressed == 0
        for name, one in world.twin.live.items():
            view = world.edge.find(name.encode())
            assert view is not None and (view.status, view.answer, view.n) == ("live", one.value, one.n)
            assert view.at is not None and (view.at.epoch, view.at.batch) == one.at

    def teardown(self) -> None:
        if hasattr(self, "world"):
            self.take()


def _brief(ack: dict) -> tuple:
    match ack["status"]:
        case "refused":
            return ack["version"], "refused", ack["code"]
        case "live":
            return ack["version"], "live", (ack["at"]["epoch"], ack["at"]["batch"])
        case "ended":
            return ack["version"], "ended", ack["reason"]
    return ack["version"], ack["status"], None


TestEdgeMachine = EdgeMachine.TestCase
TestEdgeMachine.settings = settings(
    max_examples=60, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
)
