"""A subscription as its edge sees it: held back, accepted, live, and about to be replaced."""

from __future__ import annotations

from overlay.delivery.delivery import Position
from tests.overlay.edge_bench import ASK, Bench


def test_a_view_follows_the_life_of_a_subscription() -> None:
    bench = Bench()
    assert bench.edge.find(b"a") is None
    bench.ask(0, "a", "SELECT MIN(v) FROM nowhere")
    held = bench.edge.find(b"a")
    assert held is not None and (held.status, held.version, held.sql, held.at) == ("held", 0, "", None)
    bench.edge.subscription(1, b"a", None)
    bench.live("b")
    bench.ask(2, "c")
    accepted = bench.edge.find(b"c")
    assert accepted is not None and (accepted.status, accepted.n, accepted.at) == ("accepted", 0, None)
    bench.ask(3, "b", "SELECT COUNT(*) FROM stock")
    live = bench.edge.find(b"b")
    assert live is not None and (live.status, live.sql, live.answer) == ("live", ASK, "10.25")
    assert (live.n, live.at, live.replaced_by) == (1, Position(5, 0), 3)
