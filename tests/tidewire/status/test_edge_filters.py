"""Filters of an edge, as its `/health` tells of them."""

from __future__ import annotations

import pytest

from tidewire.status.edge_filters import TableFilters, called, cells_wanted_in, filters_in, largest_bag_in


def test_virtual_edges_are_taken_together() -> None:
    one = {"filters": {"u": {"filters": 2, "bytes": 10, "candidates_per_hit": 3.5, "crowded": False}}, "largest_bag": 7}
    two = {"filters": {"u": {"filters": 1, "bytes": 5, "candidates_per_hit": 70.0, "crowded": True},
                       "t": {"filters": 4, "bytes": 8, "candidates_per_hit": 1.0, "crowded": False}}}  # fmt: skip
    health: dict[str, object] = {"virtual_edges": {"0": one, "1": two | {"live": 5}, "2": {"live": 1}}}
    assert filters_in(health) == {"t": TableFilters(4, 8, 1.0, False), "u": TableFilters(3, 15, 70.0, True)}
    assert largest_bag_in(health) == 7


@pytest.mark.parametrize("health", [None, {}, {"virtual_edges": {"0": {"live": 1}}}, {"virtual_edges": {"0": 3}}])
def test_who_says_nothing_of_them_or_nothing_readable_has_none(health: dict[str, object] | None) -> None:
    assert filters_in(health) == {} and largest_bag_in(health) == 0


def test_joins_are_called_by_their_tables_and_what_waits_is_told_once() -> None:
    assert called("quote") == "quote" and called('[["a","a"],[[[0,"k"],[1,"k"]]]]') == "a JOIN a"
    health: dict[str, object] = {"virtual_edges": {
        "0": {"cells_wanted": [["a", "b"], ["a"]]}, "1": {"cells_wanted": [["a", "b"]]}, "2": {},
    }}  # fmt: skip
    assert cells_wanted_in(health) == [("a",), ("a", "b")]
