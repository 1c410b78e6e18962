"""Views on a whole stack: created on rows that are there, asked in every way, told right whatever dies on the way.

What clients hold after all their deliveries is compared with what plain Python makes of all that was published; each
subscription's deliveries are numbered without a gap, and name publications of the tables.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.stack.hearer import Hearer
from tests.stack.live_stack import LiveStack, eventually
from tests.stack.stack_program import PROGRAM
from tests.stack.traffic import Traffic
from tidewire.client.client import Client

pytestmark = [pytest.mark.stack, pytest.mark.timeout(1800)]
DDL = """
CREATE TABLE trade (id INTEGER PRIMARY KEY, g VARCHAR, x INTEGER);
CREATE TABLE issuer (g VARCHAR PRIMARY KEY, sector VARCHAR)
"""
LOWS = "CREATE VIEW lows AS SELECT g, MIN(x) AS low, COUNT(*) AS n FROM trade WHERE x < 90 GROUP BY g"
SECTORS = """
CREATE VIEW sectors AS
  SELECT i.sector, MAX(v.low) AS high, SUM(v.n) AS n FROM lows v JOIN issuer i ON v.g = i.g GROUP BY i.sector
"""
GROUPS = [*"abcdef", None]
LONG = 400.0
Rows = dict[Any, dict[str, Any]]
Truth = Callable[["Trades"], Any]


class Trades(Traffic):
    """Random changes of both tables; `trade` and `issuer` are what they come to."""

    def __init__(self, stack: LiveStack) -> None:
        self.trade: Rows = {}
        self.issuer: Rows = {}
        super().__init__(stack)

    def change(self, client: Client) -> None:
        choose, roll = self._choose, self._choose.random()
        changed = choose.sample(range(40), 3)
        if roll < 0.2:
            client.delete("trade", changed)
            for key in changed:
                self.trade.pop(key, None)
        elif roll < 0.9:
            rows = [{"id": key, "g": choose.choice(GROUPS), "x": choose.randrange(100)} for key in changed]
            client.publish("trade", rows)
            self.trade.update({row["id"]: row for row in rows})
        else:
            row = {"g": choose.choice(GROUPS[:-1]), "sector": choose.choice(["s1", "s2", None])}
            client.publish("issuer", [row])
            self.issuer[row["g"]] = row

    def lows(self) -> dict[str | None, tuple[int, int]]:
        """The rows of `lows`: of each group the least x, and how many there are."""
        groups: dict[str | None, list[int]] = defaultdict(list)
        for row in self.trade.values():
            if row["x"] < 90:
                groups[row["g"]].append(row["x"])
        return {group: (min(values), len(values)) for group, values in groups.items()}

    def sectors(self) -> Counter[tuple[str | None, int, int]]:
        """The rows of `sectors`."""
        groups: dict[str | None, list[tuple[int, int]]] = defaultdict(list)
        for group, row in self.lows().items():
            if group in self.issuer:
                groups[self.issuer[group]["sector"]].append(row)
        made = ((sector, max(low for low, _ in rows), sum(n for _, n in rows)) for sector, rows in groups.items())
        return Counter(made)

    def below(self, x: int) -> int | None:
        """How many rows of `trade` are below x, None where none is."""
        return sum(row["x"] < x for row in self.trade.values()) or None

    def most(self) -> int | None:
        return max((low for low, n in self.lows().values() if n >= 2), default=None)

    def first(self) -> list[tuple[str | None, int]]:
        rows = ((group, low) for group, (low, _) in self.lows().items())
        return sorted(rows, key=lambda row: (row[1], row[0] is None, row[0] or ""))[:3]


QUESTIONS: dict[str, tuple[str, Truth]] = {
    "most": ("SELECT MAX(low) FROM lows WHERE n >= 2", lambda t: t.most()),
    "groups": ("SELECT COUNT(*) FROM lows", lambda t: len(t.lows())),
    "few": ("SELECT g, n FROM lows WHERE n < 5", lambda t: Counter((g, n) for g, (_, n) in t.lows().items() if n < 5)),
    "first": ("SELECT g, low FROM lows ORDER BY low, g LIMIT 3", lambda t: t.first()),
    "of_a": ("SELECT MIN(low) FROM lows WHERE g = 'a'", lambda t: t.lows().get("a", (None, 0))[0]),
    "latest": ("SELECT SUM(n) FROM lows NOTIFY LATEST", lambda t: sum(n for _, n in t.lows().values()) or None),
}
JOINED: dict[str, tuple[str, Truth]] = {
    "sectors": ("SELECT sector, high, n FROM sectors WHERE n > 0", lambda t: t.sectors()),
    "highest": ("SELECT MAX(high) FROM sectors", lambda t: max((high for _, high, _ in t.sectors()), default=None)),
}


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveStack]:
    live = LiveStack(tmp_path_factory.mktemp("views"), PROGRAM)
    live.start()
    yield live
    live.stop()


@pytest.fixture(scope="module")
def client(stack: LiveStack) -> Iterator[Client]:
    with Client(stack.settings.address) as one:
        one.apply(DDL, timeout=LONG)
        yield one


@pytest.fixture(scope="module")
def traffic(stack: LiveStack, client: Client) -> Iterator[Trades]:
    made = Trades(stack)
    yield made
    made.close()


def held(hearer: Hearer, name: str) -> Any:
    """What a client has after all deliveries."""
    one = hearer.held(name)
    return one.rows if one.form == "bag" else one.answer


def check(hearer: Hearer, traffic: Trades, questions: dict[str, tuple[str, Truth]], topics: set[str]) -> None:
    """While nothing is published, wait until each subscription holds what the tables come to."""
    with traffic.stilled():
        for name, (_, truth) in questions.items():
            meant = truth(traffic)
            eventually(lambda name=name, meant=meant: held(hearer, name) == meant, f"{name} to be {meant}", LONG)
    for name in questions:
        told = hearer.deliveries(name)
        numbers = [one.n for one in told if not one.same]
        assert numbers == list(range(1, len(numbers) + 1)), name
        assert {one.at.topic for one in told if one.kind == "change"} <= topics, name


def subscribe(client: Client, questions: dict[str, tuple[str, Truth]]) -> None:
    for name, (sql, _) in questions.items():
        client.subscribe(name, sql, timeout=LONG)


def test_a_view_on_rows_that_are_there_is_told_to_all_kinds_of_questions(
    stack: LiveStack, client: Client, hearer: Hearer, traffic: Trades
) -> None:
    eventually(lambda: len(traffic.trade) > 25, "rows before there is a view")
    client.apply(LOWS, timeout=LONG)
    subscribe(client, QUESTIONS)
    check(hearer, traffic, QUESTIONS, {"trade"})


@pytest.mark.ordeal
def test_an_engine_that_dies_amid_it(stack: LiveStack, client: Client, hearer: Hearer, traffic: Trades) -> None:
    before = stack.child("engine")["pid"]
    (stack.directory.path / "die-untold").touch()
    stack.await_restart("engine", before)
    stack.await_ready("engine")
    stack.kill_session("engine")
    stack.await_ready("engine")
    check(hearer, traffic, QUESTIONS, {"trade"})


def test_a_view_of_a_view_and_a_table_in_a_cell(
    stack: LiveStack, client: Client, hearer: Hearer, traffic: Trades
) -> None:
    client.apply(SECTORS, timeout=LONG)
    subscribe(client, JOINED)
    check(hearer, traffic, JOINED, {"trade", "issuer"})
    stack.kill_session("engine")
    stack.await_ready("engine")
    check(hearer, traffic, JOINED | QUESTIONS, {"trade", "issuer"})


@pytest.mark.ordeal
@pytest.mark.parametrize("point", ["unseeded", "seeded", "entered", "touched"])
def test_an_engine_that_dies_while_the_cell_of_a_view_comes_live(
    stack: LiveStack, client: Client, hearer: Hearer, traffic: Trades, point: str
) -> None:
    client.apply("DROP VIEW sectors; DROP JOIN issuer, trade", timeout=LONG)
    before = stack.child("engine")["pid"]
    (stack.directory.path / f"die-{point}").touch()
    client.apply(SECTORS, timeout=LONG)
    assert (stack.directory.path / f"died-{point}").exists() and stack.child("engine")["pid"] != before
    named = {f"{name}-{point}": question for name, question in JOINED.items()}
    subscribe(client, named)
    check(hearer, traffic, named | QUESTIONS, {"trade", "issuer"})


@pytest.mark.ordeal
def test_a_view_that_comes_and_goes_under_load(
    stack: LiveStack, client: Client, hearer: Hearer, traffic: Trades
) -> None:
    view = "CREATE VIEW passing AS SELECT g, MAX(x) AS low, COUNT(*) AS n FROM trade WHERE x < {} GROUP BY g"
    for turn, below in enumerate([50, 70, 90]):
        client.apply(view.format(below), timeout=LONG)
        client.subscribe(f"passing-{turn}", "SELECT SUM(n) FROM passing", timeout=LONG)
        if turn == 1:
            stack.kill_session("engine")
            stack.await_ready("engine")
        question = {f"passing-{turn}": ("", lambda t, below=below: t.below(below))}
        check(hearer, traffic, question, {"trade"})
        client.apply("DROP VIEW passing", timeout=LONG)
        eventually(lambda name=f"passing-{turn}": hearer.ended(name), "its end", LONG)
    check(hearer, traffic, QUESTIONS, {"trade"})


def test_status_tells_of_views(stack: LiveStack, client: Client, traffic: Trades) -> None:
    lows, sectors = stack.look().views
    assert (lows.name, lows.home, sectors.name, sectors.home) == ("lows", "trade/0", "sectors", "cell/issuer+trade/0")
    assert lows.counters is not None and lows.counters.rows > 3 and lows.counters.bytes > 0
    assert sectors.counters is not None and sectors.counters.rows > 0


def test_a_view_that_is_dropped_ends_its_subscriptions(
    stack: LiveStack, client: Client, hearer: Hearer, traffic: Trades
) -> None:
    client.subscribe("sectors-last", JOINED["sectors"][0], timeout=LONG)
    client.apply("DROP VIEW sectors", timeout=LONG)
    for name in (*JOINED, "sectors-last"):
        ended = eventually(lambda name=name: hearer.ended(name), name, LONG)
        assert ended.reason == "view dropped"
    client.apply("DROP VIEW lows; " + LOWS.replace("MIN(x)", "MAX(x)"), timeout=LONG)
    for name in QUESTIONS:
        eventually(lambda name=name: hearer.ended(name), f"the end of {name}", LONG)
    client.subscribe("anew", "SELECT COUNT(*) FROM lows", timeout=LONG)
    check(hearer, traffic, {"anew": ("", lambda t: len(t.lows()))}, {"trade"})
