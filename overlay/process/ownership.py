"""Which edge process owns a virtual edge, and where it answers HTTP.

Edges are members of one consumer group. Each puts the address that it advertises into its client id, so the group's
description on the broker is the directory, and there is nothing else to keep in step with it. An address of plain HTTP
is written `host:port`, as edges of every version read it; any other as a URL.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable

from connectors.http.address import parse_address
from connectors.kafka.admin import Member
from connectors.topics import Topics

_MARK = "tidewire-edge@"
CACHE_SECONDS = 3.0


def client_id(address: str) -> str:
    """Return the client id of an edge that others find at `address`, the label of an `HttpAddress`."""
    return _MARK + address


def edge_group(topics: Topics) -> str:
    """Return the consumer group of all edges of the prefix."""
    return topics.prefix + "edges"


def edge_address(member: Member) -> str | None:
    """Return the address of a member of the edges' group as `client_id` was given it, None where it is no edge."""
    if not member.client_id.startswith(_MARK):
        return None
    try:
        return parse_address(member.client_id.removeprefix(_MARK)).label
    except ValueError:
        return None


class Ownership:
    """Answers from the group's description, asked for at most every `CACHE_SECONDS`. Safe for many threads."""

    def __init__(
        self, members: Callable[[], Iterable[Member]], topic: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._members = members
        self._topic = topic
        self._clock = clock
        self._lock = threading.Lock()
        self._owners: dict[int, str] = {}
        self._until = float("-inf")

    def address(self, virtual_edge: int) -> str | None:
        """Return the address of the owner, None while it has none (partitions are moving).

        *Raises* KafkaFailure. *Cost*: a round trip to the broker when the last answer is too old.
        """
        with self._lock:
            if self._clock() >= self._until:
                self._owners = {
                    partition: address
                    for member in self._members()
                    if (address := edge_address(member)) is not None
                    for topic, partition in member.owns
                    if topic == self._topic
                }
                self._until = self._clock() + CACHE_SECONDS
            return self._owners.get(virtual_edge)
