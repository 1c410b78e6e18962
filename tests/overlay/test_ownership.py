"""Who owns a virtual edge, as the group's description says."""

from __future__ import annotations

from connectors.kafka_admin import Member
from overlay.ownership import CACHE_SECONDS, Ownership, client_id


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
