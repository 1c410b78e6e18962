"""Joins on a whole stack: cells come live on demand, amid publications, whatever dies on the way; others hear nothing.

What a client holds after all its deliveries is compared with the join of what was published, and each subscription's
deliveries are numbered without a gap.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

from tests.stack.hearer import Hearer
from tests.stack.live_stack import LiveStack, eventually
from tests.stack.stack_program import PROGRAM
from tests.stack.traffic import Traffic
from tidewire.client.client import Client
from tidewire.client.failures import NotAnswered

pytestmark = [pytest.mark.stack, pytest.mark.timeout(1800)]
TABLES = ("a", "b", "c")
DDL = "; ".join(f"CREATE TABLE {name} (id INTEGER PRIMARY KEY, k INTEGER, v INTEGER)" for name in TABLES)
POINTS = {"unseeded": "ab", "seeded": "ac", "entered": "bc", "touched": "aa"}
"""Where the engine dies, and whose join is asked for then."""
BESIDE = "SELECT v, k FROM a WHERE v < 70"
KEYS, IDS = 6, 30
LONG = 400.0
"""Seconds, on a machine that has other things to do; alone it takes about ten for a join."""


def joined_sql(tables: str) -> str:
    first, second = tables
    return f"SELECT x.v, y.v FROM {first} x JOIN {second} y ON x.k = y.k WHERE x.v < 80"


class Tables(Traffic):
    """Random changes of all tables; `rows` are what they come to."""

    def __init__(self, stack: LiveStack) -> None:
        self.rows: dict[str, dict[int, dict[str, Any]]] = {table: {} for table in TABLES}
        super().__init__(stack)

    def change(self, client: Client) -> None:
        choose, table = self._choose, self._choose.choice(TABLES)
        changed = choose.sample(range(IDS), 3)
        if choose.random() < 0.2:
            client.delete(table, changed)
            for key in changed:
                self.rows[table].pop(key, None)
        else:
            k = choose.choice([None, *range(KEYS)])
            rows = [{"id": key, "k": k, "v": choose.randrange(100)} for key in changed]
            client.publish(table, rows)
            self.rows[table].update({row["id"]: row for row in rows})

    def of_join(self, tables: str) -> Counter[tuple[int, int]]:
        first, second = (self.rows[table].values() for table in tables)
        pairs = ((x, y) for x, y in product(first, second) if x["k"] == y["k"] and x["k"] is not None and x["v"] < 80)
        return Counter((x["v"], y["v"]) for x, y in pairs)

    def beside(self) -> Counter[tuple[int, int | None]]:
        return Counter((row["v"], row["k"]) for row in self.rows["a"].values() if row["v"] < 70)


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveStack]:
    live = LiveStack(tmp_path_factory.mktemp("joins"), PROGRAM)
    live.start()
    yield live
    live.stop()


@pytest.fixture(scope="module")
def client(stack: LiveStack) -> Iterator[Client]:
    with Client(stack.settings.address) as one:
        one.apply(DDL, timeout=LONG)
        yield one


@pytest.fixture(scope="module")
def traffic(stack: LiveStack, client: Client) -> Iterator[Tables]:
    made = Tables(stack)
    yield made
    made.close()


def check(hearer: Hearer, traffic: Tables, names: dict[str, str]) -> None:
    """While nothing is published, wait until each subscription holds what its tables come to."""
    with traffic.stilled():
        for name, tables in names.items():
            meant = traffic.of_join(tables) if tables else traffic.beside()
            eventually(lambda name=name, meant=meant: hearer.held(name).rows == meant, f"the rows of {name}", LONG)
    for name in names:
        newest = hearer.deliveries(name)[-1].version
        numbers = [one.n for one in hearer.deliveries(name) if one.version == newest and not one.same]
        assert numbers == list(range(1, len(numbers) + 1)), name


def test_the_first_join_makes_its_cell_and_others_notice_nothing(
    stack: LiveStack, client: Client, hearer: Hearer, traffic: Tables
) -> None:
    client.subscribe("beside", BESIDE, timeout=LONG)
    began = time.monotonic()
    ack = client.subscribe("first", joined_sql("ab"), timeout=LONG)
    print(f"the first join is live after {time.monotonic() - began:.1f} s")
    assert ack.form == "bag"
    client.subscribe("second", joined_sql("ba"), timeout=LONG)
    check(hearer, traffic, {"first": "ab", "second": "ba", "beside": ""})
    [cell] = stack.look().cells
    assert cell.tables == ("a", "b") and cell.counters is not None and cell.counters.rows > 0
    assert {one.kind for one in hearer.deliveries("beside")} <= {"snapshot", "change"}


@pytest.mark.ordeal
@pytest.mark.parametrize("point", POINTS)
def test_an_engine_that_dies_while_a_cell_comes_live(
    stack: LiveStack, client: Client, hearer: Hearer, traffic: Tables, point: str
) -> None:
    tables, folder = POINTS[point], stack.directory.path
    if any(cell.tables == tuple(sorted(set(tables))) for cell in stack.look().cells):
        client.apply(f"DROP JOIN {', '.join(sorted(set(tables)))}", timeout=LONG)
    before = stack.child("engine")["pid"]
    (folder / f"die-{point}").touch()
    client.subscribe(point, joined_sql(tables), timeout=LONG)
    assert (folder / f"died-{point}").exists() and stack.child("engine")["pid"] != before
    client.subscribe("again", BESIDE, timeout=LONG)
    check(hearer, traffic, {point: tables, "beside": "", "again": ""})
    assert {one.kind for one in hearer.deliveries("beside")} <= {"snapshot", "change"}


def test_a_cell_that_is_dropped_and_made_again_has_the_rows_of_now(
    stack: LiveStack, client: Client, hearer: Hearer, traffic: Tables
) -> None:
    client.apply("CREATE JOIN a, b", timeout=LONG)
    client.subscribe("kept", joined_sql("ab"), timeout=LONG)
    client.apply("DROP JOIN a, b", timeout=LONG)
    eventually(lambda: hearer.ended("kept"), "the end of what is dropped", 60)
    time.sleep(2)
    client.subscribe("anew", joined_sql("ab"), timeout=LONG)
    check(hearer, traffic, {"anew": "ab", "beside": ""})


@pytest.mark.ordeal
def test_edges_that_die_while_a_join_waits_ask_for_its_cell_again(
    stack: LiveStack, client: Client, hearer: Hearer, traffic: Tables
) -> None:
    stack.kill_session("engine")
    with pytest.raises(NotAnswered):
        client.subscribe("waiting", "SELECT x.v, z.v FROM a x JOIN c y ON x.k = y.k JOIN b z ON y.k = z.k", timeout=1)
    for edge in ("edge-0", "edge-1"):
        stack.kill(edge)
    stack.await_ready("engine", "edge-0", "edge-1")
    eventually(lambda: any(cell.tables == TABLES for cell in stack.look().cells), "a cell of all tables", LONG)
    eventually(lambda: hearer.held("waiting").whole, "its rows", LONG)


def test_a_table_that_is_dropped_ends_its_joins(
    stack: LiveStack, client: Client, hearer: Hearer, traffic: Tables
) -> None:
    traffic.close()
    client.apply("DROP TABLE b", timeout=LONG)
    eventually(lambda: hearer.ended("anew"), "the end of joins of what is dropped", LONG)
    assert all("b" not in cell.tables for cell in stack.look().cells)
