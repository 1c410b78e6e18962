"""Connections to edges: host and port as the edge says, its scheme's own where it says none, and no proxy."""

from __future__ import annotations

import http.client
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from connectors.http.address import parse_address
from tidewire.client.edge_connection import connect


@pytest.mark.parametrize(
    ("address", "secure", "host", "port"),
    [
        ("edge-1:8085", False, "edge-1", 8085),
        ("http://[::1]:8085", False, "::1", 8085),
        ("http://edge-1", False, "edge-1", 80),
        ("https://edge-1.example.org/base", True, "edge-1.example.org", 443),
        ("https://edge-1:8443", True, "edge-1", 8443),
    ],
)
def test_where_a_connection_goes(address: str, secure: bool, host: str, port: int) -> None:
    made = connect(parse_address(address), 1.5)
    assert isinstance(made, http.client.HTTPSConnection) is secure
    assert (made.host, made.port, made.timeout, made.sock) == (host, port, 1.5, None)


class _Hello(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.path.encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_no_proxy_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    server = HTTPServer(("127.0.0.1", 0), _Hello)
    threading.Thread(target=server.handle_request, daemon=True).start()
    connection = connect(parse_address(f"127.0.0.1:{server.server_port}"), 5)
    connection.request("GET", "/health")
    assert connection.getresponse().read() == b"/health"
    connection.close()
    server.server_close()
