"""Connections that the server waits for: a bounded number of them, each for a bounded time.

A connection waits while its next request is not complete, while it is idle, and while it does not take an answer that
is complete. Whoever merely opens connections therefore holds nothing but places here, and these can always be had:

1. More than `most` never wait: the address that has most of them gives up its oldest.
2. More than `most_bytes` of answers never wait to be taken: the oldest of those connections is given up.
3. Nobody waits longer than `seconds`.

So a newcomer has at least the time of `most` further arrivals to send its request, and who comes from another address
than the crowd has all of its time. What is being served, such as a stream, is not here; `connectors/http/crowd.py`
limits that.

Cost: O(1) to enter and to leave; O(addresses) to make room.
"""

from __future__ import annotations

import ipaddress
from collections import OrderedDict
from collections.abc import Callable
from typing import Protocol

_NOBODY = ""


class Guest(Protocol):
    """A connection that waits."""

    address: str

    def give_up(self) -> None:
        """Close the connection at once: its place is needed."""
        ...

    def too_late(self) -> None:
        """Close the connection, or enter again if it has come on: its time is over."""
        ...


class WaitingRoom:
    """Holds the connections that wait, oldest first. For the server's event loop only.

    Args:
        most: connections.
        most_bytes: of answers that are complete and not taken.
        seconds: how long each may wait.
        clock: seconds.
    """

    def __init__(self, most: int, most_bytes: int, seconds: float, clock: Callable[[], float]) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._seconds = seconds
        self._clock = clock
        self._since: OrderedDict[Guest, float] = OrderedDict()
        self._of_address: dict[str, OrderedDict[Guest, None]] = {}
        self._untaken: OrderedDict[Guest, int] = OrderedDict()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._since)

    def __contains__(self, guest: Guest) -> bool:
        return guest in self._since

    def enter(self, guest: Guest, untaken: int = 0) -> None:
        """Let a connection wait from now on; `untaken`: bytes of its answer that it has not taken."""
        self.leave(guest)
        self._since[guest] = self._clock()
        self._of_address.setdefault(guest.address, OrderedDict())[guest] = None
        if untaken:
            self._untaken[guest] = untaken
            self._bytes += untaken
        while self._bytes > self._most_bytes:
            self._give_up(next(iter(self._untaken)))
        while len(self._since) > self._most:
            crowd = max(self._of_address, key=lambda address: len(self._of_address[address]))
            self._give_up(next(iter(self._of_address[crowd])))

    def leave(self, guest: Guest) -> None:
        """Forget a connection, if it is here."""
        if self._since.pop(guest, None) is None:
            return
        neighbours = self._of_address[guest.address]
        del neighbours[guest]
        if not neighbours:
            del self._of_address[guest.address]
        self._bytes -= self._untaken.pop(guest, 0)

    def expire(self) -> None:
        """Tell those whose time is over. Cost: O(them)."""
        until = self._clock() - self._seconds
        while self._since and next(iter(self._since.values())) <= until:
            guest = next(iter(self._since))
            self.leave(guest)
            guest.too_late()

    def check(self) -> None:
        """Assert what the header says."""
        assert len(self._since) <= self._most, "1: too many wait"
        assert self._bytes == sum(self._untaken.values()) <= self._most_bytes, "2: too much waits"
        assert list(self._since.values()) == sorted(self._since.values()), "3: not oldest first"
        assert sorted(map(id, self._since)) == sorted(id(one) for them in self._of_address.values() for one in them)

    def _give_up(self, guest: Guest) -> None:
        self.leave(guest)
        guest.give_up()


def neighbourhood(client: tuple[str, int] | None) -> str:
    """Return what counts as one address: an IPv4 address, or the 64 bits of an IPv6 network that one customer has."""
    if client is None:
        return _NOBODY
    host = client[0].partition("%")[0]
    if ":" not in host:
        return host
    address = ipaddress.IPv6Address(host)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.IPv6Network((int(address) >> 64 << 64, 64)))
