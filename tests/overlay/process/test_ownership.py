"""Who owns a virtual edge, as the group's description says."""

from __future__ import annotations

import pytest

from connectors.http.address import parse_address
from connectors.kafka.admin import Member
from overlay.process.ownership import CACHE_SECONDS, Ownership, client_id, edge_address


class Directory:
    def __init__(self) -> None:
        self.members: list[Member] = []
        self.asked = 0
        self.now = 0.0

    def __call__(self) -> list[Member]:
        self.asked += 1
        return self.members


def test_the_owner_is_found_and_remembered_for_a_while() -> None:
    directory = Directory()
    directory.members = [
        Member(client_id("a:1"), "h", frozenset({("subs", 0), ("notes", 0), ("notes", 5)})),
        Member(client_id("b:2"), "h", frozenset({("subs", 1)})),
        Member("somebody else", "h", frozenset({("subs", 2)})),
    ]
    ownership = Ownership(directory, "subs", lambda: directory.now)
    assert [ownership.address(number) for number in (0, 1, 2, 5)] == ["a:1", "b:2", None, None]
    assert directory.asked == 1
    directory.members = []
    directory.now = CACHE_SECONDS - 0.1
    assert ownership.address(0) == "a:1"
    directory.now = CACHE_SECONDS
    assert ownership.address(0) is None
    assert directory.asked == 2


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("a:1", "tidewire-edge@a:1"),
        ("http://a:1", "tidewire-edge@a:1"),
        ("[::1]:1", "tidewire-edge@[::1]:1"),
        ("https://a:1/b", "tidewire-edge@https://a:1/b"),
        ("http://a:1/b", "tidewire-edge@http://a:1/b"),
    ],
)
def test_plain_addresses_are_written_as_edges_before_did(written: str, read: str) -> None:
    """An edge of the version before writes and reads `tidewire-edge@host:port`."""
    address = parse_address(written)
    assert client_id(address.label) == read
    assert parse_address(edge_address(Member(read, "h", frozenset())) or "") == address


@pytest.mark.parametrize("named", ["tidewire-edge@", "tidewire-edge@a b", "tidewire-edge@a:1\r\nX: y", "x@a:1"])
def test_who_gives_no_address_is_no_edge(named: str) -> None:
    assert edge_address(Member(named, "h", frozenset())) is None
