"""The fast way of joins tells to the byte what the general one does, on one virtual edge and where several share it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import msgspec
import numpy as np
import pytest

from catalog.schema.join import Join
from connectors.kafka.partitioner import home_partition
from operators.reply import Rows
from overlay.delivery.packed_deliveries import PACKED_KEY, lines_of
from overlay.index import join_index
from overlay.index.join_index import JoinIndex
from overlay.maintain.join_fast_path import of_join
from tests.effort import examples
from tests.operators.timelines import JOIN, small
from tests.overlay.join_bench import ASK, Bench, JoinBench, Part, filing, quote

FROM = "FROM quote q JOIN filing f ON q.symbol = f.symbol"
EVERYTHING = f"SELECT q.id, q.symbol, q.price, f.id, f.symbol, f.kind {FROM}"
LISTS = ["q.price, f.kind", "f.id, q.id", "f.kind", "q.symbol, f.kind, q.price"]
CONDITIONS = [
    "q.price > 5", "q.price BETWEEN 3 AND 8", "q.price <> 7", "q.price IS NULL", "q.symbol = 'A'", "f.kind = '8-K'",
    "f.kind IS NULL", "f.kind LIKE '8%'", "(q.price < 4 OR q.price > 8)", "f.id = 'f1'", "q.id = 'q1'", "f.symbol = ''",
]  # fmt: skip
TOLD = ["", "", " NOTIFY LATEST", " DELIVER PACKED", " DELIVER PUSH", " NOTIFY LATEST DELIVER PACKED"]
IDS = [f"subscriber {i}" for i in range(24)]
STEPS = 5
Lines = dict[str, list[dict[str, Any]]]


def statement(source: Random) -> str:
    conditions = source.sample(CONDITIONS, source.randrange(4))
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return f"SELECT {source.choice(LISTS)} {FROM}{where}{source.choice(TOLD)}"


def record(source: Random) -> tuple[Part, ...]:
    """What one record does: a row is set or deleted, or several go."""
    number, symbol = source.randrange(3), source.choice(["A", "A", "B", "", None])
    one: Part = quote(f"q{number}", symbol, source.choice([None, 200, 400, 700, 700, 900]))
    if source.random() < 0.5:
        one = filing(f"f{number}", symbol, source.choice([None, "8-K", "8-K", "10-Q"]))
    kind = source.random()
    if kind < 0.1:
        return tuple((one[0], f"{one[0][0]}{i}", None) for i in range(3))
    return ((one[0], one[1], None),) if kind < 0.25 else (one,)


class Script:
    """What happens, step by step: who comes and goes on each virtual edge, then a batch of the cell."""

    def __init__(self, seed: int, edges: int) -> None:
        self.source, self.edges = Random(seed), edges
        there = [quote(f"q{i}", "A", 100 * self.source.randrange(10)) for i in range(3)] + [filing("f0", "A", "8-K")]
        cell = JoinBench(1, *there)
        self.chunks = []
        for step in range(STEPS):
            records = [record(self.source) for _ in range(self.source.randint(1, 8))]
            self.chunks.append(cell.chunks(2 * step + 2, *records, joins=(EVERYTHING, ASK)))
        names = [[name for name in IDS if home_partition(name.encode(), edges) == edge] for edge in range(edges)]
        self.acts = [[self._acts(names[edge], step) for step in range(STEPS)] for edge in range(edges)]

    def _acts(self, names: Sequence[str], step: int) -> list[tuple[str, str | None]]:
        chosen = self.source.sample(names, min(len(names), self.source.randrange(5))) if step else names
        ends = 0.3 if step else 0.0
        return [(name, None if self.source.random() < ends else statement(self.source)) for name in chosen]

    def play(self, joins: JoinIndex | None) -> tuple[list[Lines], list[dict[str, object]]]:
        """Return what each virtual edge tells whom, and what it remembers in the end."""
        benches = [JoinBench(1, number=edge, partitions=self.edges, joins=joins) for edge in range(self.edges)]
        told: list[Lines] = [{} for _ in benches]
        at, order = [0] * self.edges, Random(self.edges)
        while waiting := [edge for edge in range(self.edges) if at[edge] < STEPS]:
            edge = order.choice(waiting)
            self._step(benches[edge], edge, at[edge])
            for key, line in lines(benches[edge]):
                told[edge].setdefault(key, []).append(line)
            at[edge] += 1
        for bench in benches:
            bench.edge.check()
        return told, [bench.edge.dump() for bench in benches]

    def _step(self, bench: JoinBench, edge: int, step: int) -> None:
        versions = []
        for i, (name, sql) in enumerate(self.acts[edge][step]):
            version = 100 * step + i
            if sql is None:
                bench.edge.subscription(version, name.encode(), None)
            else:
                bench.ask(version, name, sql)
                versions.append(version)
        bench.answer(2 * step + 1, [(version, Rows(())) for version in versions])
        bench.end(2 * step + 1)
        for chunk in self.chunks[step]:
            bench.give(chunk)
        bench.end(2 * step + 2)


def lines(bench: Bench) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what a bench tells, however it is told."""
    keys = {name.encode() for name in IDS}
    for one in [*bench.take().get("deliveries", []), *bench.edge.pushed]:
        packed = lines_of(one.value or b"", keys) if one.key == PACKED_KEY else [(one.key or b"", one.value or b"")]
        for key, value in packed:
            if key != b"@progress":
                yield key.decode(), msgspec.json.decode(value)


@pytest.mark.parametrize("seed", range(examples(12, fewest=3)))
def test_it_tells_what_the_general_way_tells(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    script, index = Script(seed, 1), JoinIndex()
    told, left = script.play(index)
    assert len(index) and sum(line["kind"] == "change" for own in told for one in own.values() for line in one) > 10
    monkeypatch.setattr(join_index, "fit", lambda shape, terms: None)
    assert script.play(None) == (told, left)


@pytest.mark.parametrize("seed", range(examples(12, fewest=3)))
def test_virtual_edges_that_share_an_index_tell_what_they_would_alone(seed: int) -> None:
    script = Script(seed, 3)
    assert script.play(JoinIndex()) == script.play(None)


def test_of_a_timeline_with_views_the_fast_way_takes_the_two_tables_of_its_join() -> None:
    whole = small()
    assert of_join(whole, JOIN.name) is whole and of_join(whole, Join(("r", "v"), JOIN.classes, ("r",)).name) is None
    view = replace(whole.rows[1], table="v")
    more = replace(whole, rows=(view, *whole.rows), table=np.array([1, 0, 1]))
    some = of_join(more, JOIN.name)
    assert some is not None and some.rows == whole.rows
    assert (some.number.tolist(), some.table.tolist(), some.cause.tolist()) == ([3, 5], [0, 0], [2, 3])
    assert (some.after.tolist(), some.offset.tolist()) == ([1, 2], [7, 2**40])
