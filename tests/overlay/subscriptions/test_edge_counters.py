from __future__ import annotations

import msgspec

from overlay.subscriptions.edge_counters import EdgeCounters


def test_everything_is_counted_from_nothing_and_can_be_summed_up() -> None:
    """`status` adds what edges tell, name by name."""
    counted = msgspec.to_builtins(EdgeCounters())
    assert counted and set(counted.values()) == {0}
    counters = EdgeCounters()
    counters.unwanted += 2
    assert msgspec.to_builtins(counters) == counted | {"unwanted": 2}


def test_each_count_is_explained() -> None:
    explained = EdgeCounters.__doc__ or ""
    plain = {"deliveries", "messages", "refused"}
    assert {name for name in msgspec.to_builtins(EdgeCounters()) if f"`{name}`" not in explained} == plain
