"""The chain that joins are measured in tells what plain Python finds, and its figures are shown with their goals."""

from __future__ import annotations

import re

import msgspec
import numpy as np

from benchmarks import join_cost, join_traffic
from benchmarks.edge_chain import TOPICS
from benchmarks.join_chain import PARTNERS, JoinChain, statements
from benchmarks.report import GOALS, lines
from connectors.record import RawRecords
from state.change_batch import I64


class Followed(JoinChain):
    """A chain whose last images and deliveries are kept."""

    def __init__(self, rows: int) -> None:
        self.x: list[dict[int, int]] = [{}, {}]
        self.changes: dict[tuple[str, int], tuple[int, int, int | None, int]] = {}
        super().__init__(rows)

    def _records(self, row: I64, table: int) -> RawRecords:
        records = super()._records(row, table)
        for value, offset in zip(records.values, records.offset.tolist(), strict=True):
            assert value is not None
            image = msgspec.json.decode(value)
            before = self.x[table].get(image["id"])
            self.x[table][image["id"]] = image["x"]
            self.changes["rs"[table], offset] = (table, image["id"], before, image["x"])
        return records


def test_deliveries_are_of_the_changes_that_meet_a_range() -> None:
    chain = Followed(100)
    asked = [[int(number) for number in re.findall(r"-?\d+", sql.split("WHERE")[1])] for sql in statements(60, 8)]
    chain.subscribe(60, 8)
    assert chain.edge.counts["live"] == 60
    start, keys = len(chain.changes), 100 // PARTNERS
    x = [dict(each) for each in chain.x]
    told = []
    take = chain.edge.take
    chain.edge.take = lambda: told.extend(written := take()) or written  # type: ignore[method-assign, func-returns-value]
    chain.change(40)
    expected = set()
    changes = sorted([*chain.changes.items()][start:], key=lambda each: each[0][1])
    for (topic, offset), (table, row, _, after) in changes:
        for number, bounds in enumerate(asked):
            own, other = bounds[2 * table : 2 * table + 2], bounds[2 - 2 * table : 4 - 2 * table]
            if any(other[0] <= x[1 - table][row % keys + keys * i] <= other[1] for i in range(PARTNERS)) and any(
                own[0] <= each <= own[1] for each in (x[table][row], after)
            ):
                expected.add((number, topic, offset))
        x[table][row] = after
    found = set()
    for record in told:
        if record.topic == TOPICS.deliveries and record.key and record.value and not record.key.startswith(b"@"):
            delivery = msgspec.json.decode(record.value)
            found.add((int(delivery["id"].split("-")[1]), delivery["at"]["topic"], delivery["at"]["offset"]))
    assert found == expected and len(found) > 20


def test_figures_of_the_chain_are_shown_with_their_goals() -> None:
    figures = join_cost.measure(300, 600, 1, rows=500, changes=400)
    shown = {path: goal for path, _, goal, _ in lines(figures)}
    assert {path.split(".")[0] for path in shown} == set(figures)
    assert all(shown[path] for path in GOALS if path.split(".")[0] in figures)
    crowd = figures["join_chain_us"]["100k"]
    assert 0.7 < crowd["few"]["deliveries"] / crowd["many"]["deliveries"] < 1.4


def test_joined_rows_that_somebody_asks_for_are_found() -> None:
    workload = join_traffic.Workload(200)
    new = workload.drawn_r(10, join_traffic.R_ROWS)
    expected = {
        (int(workload.edge[i]), event, partner)
        for event in range(10)
        for partner in np.flatnonzero(workload.s.key == new.key[event]).tolist()
        for i in range(200)
        if workload.a[0][i] <= new.value[event] <= workload.a[1][i]
        and workload.c[0][i] <= workload.s.value[partner] <= workload.c[1][i]
    }
    found = zip(*(each.tolist() for each in workload.wanted(new)), strict=True)
    assert set(found) == expected and expected


def test_both_ways_of_sending_have_bytes() -> None:
    sizes = join_traffic.measure(200, 20, 3)["join_bytes"]
    assert min(sizes.values()) > 0 and sizes["ref_j_plus"] < sizes["plain"]
