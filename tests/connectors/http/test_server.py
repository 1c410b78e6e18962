"""A server in a thread: a free port, its end, and what it does not let in."""

from __future__ import annotations

import resource
import socket

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from connectors.http.server import AddressInUse, HttpServer, allow_files


def _well(request: Request) -> PlainTextResponse:
    return PlainTextResponse("well")


APP = Starlette(routes=[Route("/", _well)])


def test_a_server_takes_a_free_port_and_stops() -> None:
    server = HttpServer(APP)
    assert httpx.get(f"http://{server.address}/", timeout=60).text == "well"
    server.close()
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"http://{server.address}/", timeout=60)


def test_a_port_in_use_is_said_so() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(AddressInUse, match=f"127.0.0.1:{port}.*`http_port`"):
            HttpServer(APP, port=port)


def test_headers_that_come_in_pieces_have_a_limit() -> None:
    server = HttpServer(APP)
    with socket.create_connection((server.host, server.port)) as asker:
        asker.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n")
        asker.sendall(b"x: " + b"y" * 17_000)
        assert b" 400 " in asker.recv(100)
    server.close()


def test_files_are_allowed_as_far_as_they_may() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert allow_files(1) == soft
    more = min(soft + 1, hard)
    assert allow_files(more) == more
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
