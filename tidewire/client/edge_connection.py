"""A connection to an edge, wherever it says that it is: over plain HTTP or TLS, and no proxy is asked."""

from __future__ import annotations

import http.client

from connectors.http.address import HttpAddress


def connect(address: HttpAddress, seconds: float) -> http.client.HTTPConnection:
    """Return a connection that is made with its first request. Certificates are checked against the system's.

    `seconds` is how long it may be silent. Paths of requests begin with `address.path`.
    """
    host, port = address.place
    if address.scheme == "https":
        return http.client.HTTPSConnection(host, port, timeout=seconds)
    return http.client.HTTPConnection(host, port, timeout=seconds)
