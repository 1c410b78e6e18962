"""Ends in bulk against ends one by one, of every kind of answer and in every standing."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.schema.catalog import Catalog
from operators.answer import Members, Parts, Tally
from operators.control import EpochBegins, Progress, RegisterAll
from overlay.subscriptions.endings import Endings
from state.change_batch import I64
from tests.effort import deep_examples
from tests.overlay.edge_bench import Bench
from tests.overlay.views import views

ONE_BY_ONE = Endings.end
ASKED: list[tuple[str, int | None, Parts | None]] = [
    ("SELECT MIN(price) FROM stock", 1025, None),
    ("SELECT MIN(price) FROM stock WHERE risk < 3", None, None),
    ("SELECT MAX(day) FROM stock WHERE symbol >= 'b' AND symbol < 'é'", 20_000, None),
    ("SELECT MIN(price) FROM stock NOTIFY LATEST DELIVER PACKED", 7, None),
    ("SELECT MIN(price) FROM stock WHERE risk < 4 NOTIFY MIN CHANGE 5", 7, None),
    ("SELECT COUNT(*) FROM stock DELIVER PUSH", 0, (Tally.of(3, 0),)),
    ("SELECT COUNT(*), SUM(price) FROM stock TTL 9", 0, (Tally.of(3, 0), Tally.of(3, 501))),
    ("SELECT DISTINCT price FROM stock", 0, (Members((None, 5, 1025)),)),
    ("SELECT DISTINCT symbol FROM stock TTL 9 DELIVER PACKED", 0, (Members(('é"', "b")),)),
]
names = ["a", 'é"', "c", "d"]
history = st.lists(
    st.one_of(
        st.tuples(st.just("ask"), st.sampled_from(names), st.sampled_from(range(len(ASKED)))),
        st.tuples(st.just("crowd"), st.sampled_from(range(len(ASKED)))),
        st.tuples(st.just("unsubscribe"), st.lists(st.sampled_from([*names, "nobody"]), min_size=1, max_size=6)),
        st.tuples(st.just("batch")),
        st.tuples(st.just("epoch")),
    ),
    max_size=12,
)
last = st.sampled_from(["unsubscribe", "drop", "expire"])


class Run:
    """A virtual edge that is driven through a history; what it says is kept by topic and id."""

    def __init__(self) -> None:
        self.bench = Bench()
        self.epoch, self.batch, self.version, self.catalog = 5, -1, 0, 0
        self.asked: dict[int, int] = {}
        self.said: dict[tuple[str, bytes], list[bytes]] = {}

    def ask(self, name: str, what: int) -> None:
        self.asked[self.version] = what
        self.bench.ask(self.version, name, ASKED[what][0])
        self.version += 1

    def crowd(self, what: int) -> None:
        for i in range(4):
            self.ask(f"of-{what}-{i}", what)

    def unsubscribe(self, those: list[str]) -> None:
        count = len(those)
        offsets = range(self.version, self.version + count)
        self.bench.edge.subscribe_all(offsets, [name.encode() for name in those], [None] * count)
        self.version += count

    def epoch_begins(self) -> None:
        self.epoch, self.batch = self.epoch + 1, -1
        self.bench.control(EpochBegins(self.epoch, self.catalog), RegisterAll(self.epoch, self.catalog))

    def progress(self, time: str = "2026-03-01T00:00:00Z") -> None:
        self.batch += 1
        waiting = [int(v) for v in self.bench.edge._store.slots.version[self.bench.edge._store.slots.awaiting()]]
        self.take()
        rows = [ASKED[self.asked[version]] for version in waiting]
        if waiting and len(waiting) % 2:
            answers = {version: row[1] for version, row in zip(waiting, rows, strict=True)}
            parts = {i: row[2] for i, row in enumerate(rows) if row[2] is not None}
            self.bench.snapshot(self.batch, answers, self.epoch, parts=parts)
        self.bench.control(Progress(self.epoch, self.batch, self.catalog, time))

    def take(self) -> None:
        for topic, records in self.bench.take().items():
            for record in records if topic in ("acks", "deliveries") else ():
                self.said.setdefault((topic, record.key or b""), []).append(record.value or b"")
        for record in self.bench.edge.pushed:
            self.said.setdefault(("pushed", record.key or b""), []).append(record.value or b"")

    def step(self, name: str, *what: object) -> None:
        match name:
            case "batch":
                self.progress()
            case "epoch":
                self.epoch_begins()
            case _:
                getattr(self, name)(*what)

    def finish(self, how: str) -> None:
        if how == "unsubscribe":
            self.unsubscribe(sorted({view.id for view in views(self.bench.edge)}))
        elif how == "drop":
            self.catalog = 2
            self.progress()
        else:
            self.progress("2026-03-01T00:00:09Z")
        self.take()
        self.bench.edge.check()
        self.bench.again()


def one_by_one(self: Endings, slots: I64, reason: str) -> None:
    for slot in slots.tolist():
        ONE_BY_ONE(self, np.array([slot]), reason)


@pytest.mark.deep
@settings(max_examples=deep_examples(200), deadline=None)
@given(history, last)
def test_in_bulk_is_the_same_as_one_by_one(steps: list[tuple], how: str) -> None:
    bulk, alone = Run(), Run()
    for run in (bulk, alone):
        with pytest.MonkeyPatch.context() as patch:
            if run is alone:
                patch.setattr(Endings, "end", one_by_one)
            for step in steps:
                run.step(*step)
            run.finish(how)
    assert bulk.said == alone.said
    assert bulk.bench.edge.counters == alone.bench.edge.counters
    listed = [sorted(views(run.bench.edge), key=lambda view: view.version) for run in (bulk, alone)]
    assert listed[0] == listed[1]


def test_a_dropped_table_ends_all_its_subscriptions_and_no_other() -> None:
    run = Run()
    run.bench.edge._catalogs = {0: Catalog(0, {}), 1: Catalog(1, {})}.__getitem__
    for what in range(len(ASKED)):
        run.crowd(what)
    run.ask("odd", 0)
    run.progress()
    run.take()
    live = run.bench.edge.counts["live"]
    run.bench.edge._announce(1)
    said = run.bench.take()
    ended = [msgspec.json.decode(record.value or b"") for record in said["acks"]]
    assert len(ended) == live == 37 and {(ack["status"], ack["reason"]) for ack in ended} == {
        ("ended", "table dropped")
    }
    assert [ack["version"] for ack in ended] == sorted(ack["version"] for ack in ended)
    assert run.bench.edge.counts == {"live": 0, "accepted": 0, "held": 0} and not list(run.bench.edge._store.shapes)
