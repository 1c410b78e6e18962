"""What an edge answers: its own subscriptions, others' addresses, its health."""

from __future__ import annotations

import numpy as np

from catalog.query.compiler import Compiler
from connectors.http.answer import Elsewhere, Found, NotNow, Unknown
from connectors.kafka.admin import Member
from overlay.delivery.delivery import Position
from overlay.process.committed_view import CommittedView
from overlay.process.edge_answers import EdgeAnswers, _body
from overlay.process.ownership import Ownership, client_id
from tests.overlay.arrivals import newcomers
from tests.overlay.filter_bench import FilterBench
from tests.overlay.process.test_owned_edges import CATALOG, TOPICS, Log, begin, names_of, owned_edges


def answers(*members: Member) -> EdgeAnswers:
    return EdgeAnswers(CommittedView(), Ownership(lambda: members, TOPICS.subscriptions))


def test_before_it_serves() -> None:
    idle = answers()
    idle.state = "waiting for topic `x`"
    assert idle.subscription("a") == NotNow("the edge is waiting for topic `x`")
    assert idle.health()[0] is False


def test_its_own_and_others() -> None:
    log = Log()
    owned = owned_edges(log)
    begin(owned, log)
    mine, theirs = next(names_of(0)), next(names_of(1))
    owned.feed(log.subscribe(mine))
    owned.step()
    del owned._owned[1]
    edge = answers(Member(client_id("b:2"), "", frozenset({(TOPICS.subscriptions, 1)})))
    edge.serve(owned, 2, "a:1")
    edge.state = "running"
    found = edge.subscription(mine)
    assert isinstance(found, Found)
    assert (found.body["id"], found.body["status"], found.body["n"]) == (mine, "accepted", 0)
    assert edge.subscription(theirs) == Elsewhere("b:2")
    assert edge.subscription(list(zip(names_of(0), range(9), strict=False))[8][0]) == Unknown()
    well, body = edge.health()
    assert well
    assert edge.epoch() == -1
    assert body["readers"] == 0
    assert list(body["virtual_edges"]) == ["0"]  # type: ignore[call-overload]


def test_while_it_moves() -> None:
    log = Log()
    owned = owned_edges(log)
    owned.clear()
    edge = answers(Member(client_id("a:1"), "", frozenset({(TOPICS.subscriptions, 1)})))
    edge.serve(owned, 2, "a:1")
    for home in (0, 1):
        assert isinstance(edge.subscription(next(names_of(home))), NotNow)


def test_filters_are_counted_by_table_where_there_are_some() -> None:
    log, answer = Log(), answers()
    owned = owned_edges(log)
    begin(owned, log)
    answer.serve(owned, 2, "a:1")
    assert "filters" not in answer.health()[1]["virtual_edges"]["0"]  # type: ignore[index]
    edge = owned.edges[0]
    (relation,) = CATALOG.relations.values()
    compiled = Compiler(CATALOG).compile(f"SELECT * FROM {relation.name}")
    slots = edge._store.add(newcomers((b"a", 1, compiled), relation=relation))
    edge._store.slots.filters.start(slots, slots + 3, *[slots.astype(np.uint64)] * 2)
    edge._store.sync(slots, slots, slots > 0, slots + 1)
    told = answer.health()[1]["virtual_edges"]["0"]  # type: ignore[index]
    figures = told["filters"][relation.name]
    assert (figures["filters"], figures["crowded"], told["largest_bag"]) == (1, False, 3) and figures["bytes"] > 0


def test_the_processes_of_its_stack_are_told_where_it_belongs_to_one() -> None:
    edge = answers()
    assert "processes" not in edge.health()[1]
    edge.processes = lambda: [{"name": "engine", "state": "waiting"}]
    assert edge.health()[1]["processes"] == [{"name": "engine", "state": "waiting"}]


def test_a_bag_is_told_over_http_by_form_columns_key_and_number() -> None:
    bench = FilterBench()
    bench.start("SELECT price, symbol FROM stock WHERE price < 9 NOTIFY TRANSITIONS", (800, "A"))
    found = bench.edge.find(b"a")
    assert found is not None
    body = _body(found)
    assert body == {
        "id": "a", "status": "live", "version": 0, "n": 1, "form": "bag", "columns": ("price", "symbol"), "key": (1,),
        "rows": 1, "at": Position(5, 0), "sql": found.sql,
    }  # fmt: skip
