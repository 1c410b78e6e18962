"""At which addresses an edge is at home: what a request may name as `Host`, and which pages are its own.

A browser vouches for nothing but a page's name. Whoever lets the name of their page point to 127.0.0.1 (DNS rebinding)
would otherwise use a stack that is open to everyone on the machine, with the page's own name as `Host`. So a request is
served only under

    1. `localhost`, `127.0.0.1`, `[::1]`, the host where the edge was told to listen, and the address of this machine at
       which the connection came in: each with the port at which the edge listens
    2. the names that are listed, and the address that the edge advertises: `name` (with the port at which it listens,
       or 80), `name:port`, `https://name` (443), `https://name:port`

All of 1, and of 2 what does not say `https`, is `http`. An IP address cannot be rebound: only names are.
"""

from __future__ import annotations

from dataclasses import dataclass

from connectors.http.address import HttpAddress, canonical_host

_LOOPBACK = ("localhost", "127.0.0.1", "::1")
Origin = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class ServedAddresses:
    """The addresses of one edge. `own` is, in every method, where on this machine a connection came in: host, port.

    Args:
        host: where it was told to listen.
        names: further addresses.
        advertised: where others are sent for what this edge has; None: where it listens.
    """

    host: str = "localhost"
    names: tuple[HttpAddress, ...] = ()
    advertised: HttpAddress | None = None

    def serves(self, host: str, port: int | None, own: tuple[str, int]) -> bool:
        """Whether a request with this `Host` is for us; without a port it means the scheme's. *Cost*: O(names)."""
        origins = self.origins(own)
        return ("http", host, port or 80) in origins or ("https", host, port or 443) in origins

    def origins(self, own: tuple[str, int]) -> set[Origin]:
        """Return scheme, host and port of each. *Cost*: O(names)."""
        here, at = own
        found: set[Origin] = {
            ("http", host, at) for host in (*_LOOPBACK, canonical_host(self.host), canonical_host(here))
        }
        for one in (*self.names, *([self.advertised] if self.advertised else [])):
            found.add(one.origin)
            if one.scheme == "http" and one.port is None:
                found.add(("http", one.host, at))
        return found

    @property
    def base(self) -> str:
        """What stands before a path in a `Location`: the URL that is advertised; nothing where none is."""
        return self.advertised.url if self.advertised else ""

    def example(self, own: tuple[str, int]) -> str:
        """Return the URL of one of them, for a message."""
        return (self.advertised or HttpAddress("http", "localhost", own[1])).url
