"""What first rows are measured with hears what NumPy would find, and counts what it says it counts."""

from __future__ import annotations

from benchmarks.bestk_edge_cost import BestChain, Follows, restored
from overlay.process.jit_warmup import warm


def test_lists_become_live_follow_and_are_restored() -> None:
    warm()
    chain = BestChain(400)
    chain.subscribe(60)
    assert chain.edge.counts["live"] == 60
    with Follows() as follows:
        us, hears, written = chain.timed(2)
    assert us > 0 and hears > 0 and written > 0 and follows.pairs > 0 and min(follows.each().values()) > 0
    stored, _, taken = restored(chain.edge)
    assert stored > 0 and taken > 0
    chain.edge.check()
    x, y, live = chain._x, chain._y, chain._live
    for i, sql in enumerate(chain.statements(60, 100)):
        words = sql.split()
        lo, hi, limit = int(words[8]), int(words[10]), int(words[-1])
        rows = sorted((y[k], k) for k in range(400) if live[k] and lo <= x[k] <= hi)[:limit]
        view = chain.edge.find(b"subscriber-%07d" % i)
        assert view is not None and view.answer == [[k, value] for value, k in rows]
