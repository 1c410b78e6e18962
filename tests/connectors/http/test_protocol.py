"""Connections of real sockets that are slow, half open, cut off or no HTTP: each has its end, others do not wait."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from connectors.http.protocol import TimedWebSocket
from connectors.http.rules import HttpRules
from connectors.http.server import HttpServer

HEADERS = b"POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"
HANDSHAKE = (
    b"GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)
SECONDS = 1.0


async def _body(request: Request) -> Response:
    return PlainTextResponse(str(len(await request.body())))


async def _large(request: Request) -> Response:
    return PlainTextResponse("x" * 4_000_000)


async def _health(request: Request) -> Response:
    while "slow" in request.query_params and not await request.is_disconnected():
        await asyncio.sleep(0.02)
    return PlainTextResponse("well")


async def _stream(request: Request) -> Response:
    async def ticks() -> Iterator[bytes]:  # type: ignore[misc]
        while True:
            yield b"tick\n"
            await asyncio.sleep(0.05)

    return StreamingResponse(ticks())


async def _ws(ws: WebSocket) -> None:
    await asyncio.sleep(0.2)
    await ws.accept()
    while (await ws.receive())["type"] != "websocket.disconnect":
        pass


APP = Starlette(
    routes=[
        Route("/body", _body, methods=["POST"]),
        Route("/large", _large),
        Route("/health", _health),
        Route("/stream", _stream),
        WebSocketRoute("/ws", _ws),
    ]
)


@pytest.fixture
def server() -> Iterator[HttpServer]:
    server = HttpServer(APP, rules=HttpRules(request_seconds=SECONDS))
    yield server
    server.close()


def connect(server: HttpServer, said: bytes = b"", received: int = 0) -> socket.socket:
    """Return a connection that has sent something; `received`: how much the system takes of what is answered."""
    one = socket.socket()
    if received:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, received)
    one.settimeout(30)
    one.connect((server.host, server.port))
    one.sendall(said)
    return one


def rest(one: socket.socket) -> bytes:
    """Return all that comes until the end."""
    said = b""
    try:
        while part := one.recv(65_536):
            said += part
    except ConnectionResetError:
        pass
    return said


def open_connections(server: HttpServer) -> int:
    return len(server._server.server_state.connections)


def until_closed(server: HttpServer, seconds: float = 20.0) -> float:
    """Wait until the server has no connection; return how long that took."""
    began = time.monotonic()
    while open_connections(server):
        assert time.monotonic() - began < seconds
        time.sleep(0.02)
    return time.monotonic() - began


UNFINISHED = [
    b"",
    b"G",
    b"GET / HTTP/1.1\r\nHost: x\r\nx: ",
    HEADERS,
    HEADERS + b"x" * 999,
    b"POST /body HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
    b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET /health HTTP/1.1\r\nHost: x\r\n\r\nGET /hea",
    b"GET /health HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n",
    HANDSHAKE.replace(b"Host", b"Content-Length: 7\r\nHost"),
    b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n" * 1_000,
    b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n" * 5,
    b"GET /health?slow HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET /health HTTP/1.1\r\nHost: x\r\n\r\nGET /large HTTP/1.1\r\nConnection: close\r\nHost: x\r\n\r\n",
]


@pytest.fixture(scope="module")
def waiting() -> Iterator[dict[bytes, HttpServer]]:
    """A server for each of `UNFINISHED` and a connection that said it: they wait for their ends at the same time."""
    servers = {said: HttpServer(APP, rules=HttpRules(request_seconds=SECONDS)) for said in UNFINISHED}
    connections = [connect(server, said, received=4_096) for said, server in servers.items()]
    time.sleep(0.1)
    yield servers
    for one in connections:
        one.close()
    with ThreadPoolExecutor() as pool:
        list(pool.map(HttpServer.close, servers.values()))


@pytest.mark.parametrize("said", UNFINISHED)
def test_whoever_does_not_go_on_is_closed(waiting: dict[bytes, HttpServer], said: bytes) -> None:
    """Also if it does not read what it is answered."""
    until_closed(waiting[said])


@pytest.mark.parametrize("begun", [b"GET / HTTP/1.1\r\nx: ", HEADERS])
def test_dripping_does_not_help(server: HttpServer, begun: bytes) -> None:
    one = connect(server, begun)
    began = time.monotonic()
    try:
        while time.monotonic() - began < 30:
            one.sendall(b"x")
            time.sleep(0.05)
    except OSError:
        pass
    assert time.monotonic() - began < 20
    one.close()


@pytest.mark.parametrize("begun", [b"GET / HTTP/1.1\r\nx: ", HEADERS])
def test_who_is_late_is_told_so(server: HttpServer, begun: bytes) -> None:
    assert rest(connect(server, begun)).startswith(b"HTTP/1.1 408 ")


def test_who_takes_an_answer_slowly_gets_it_all(server: HttpServer) -> None:
    one = connect(server, b"GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", received=65_536)
    said, began = b"", time.monotonic()
    while part := one.recv(65_536):
        said += part
        time.sleep(0.04)
    assert len(said) > 4_000_000
    assert time.monotonic() - began > 2 * SECONDS
    one.close()


def test_streams_and_websockets_have_no_deadline(server: HttpServer) -> None:
    stream, ws = connect(server, b"GET /stream HTTP/1.1\r\nHost: x\r\n\r\n"), connect(server, HANDSHAKE)
    time.sleep(2.5 * SECONDS)
    assert open_connections(server) == 2
    stream.close()
    ws.close()
    until_closed(server)


def test_ten_thousand_that_send_one_byte_lock_nobody_out(server: HttpServer) -> None:
    """Fewer where the system does not allow so many."""
    answered: list[int] = []
    done = threading.Event()

    def others() -> None:
        while not done.is_set():
            answered.append(httpx.get(f"http://{server.address}/health", timeout=60).status_code)

    asking = threading.Thread(target=others)
    asking.start()
    crowd = []
    try:
        for _ in range(10_050):
            crowd.append(connect(server, b"G"))
    except OSError:
        pass
    assert httpx.post(f"http://{server.address}/body", content=b"abc", timeout=60).text == "3"
    done.set()
    asking.join()
    assert set(answered) == {200}
    assert open_connections(server) <= 2_100
    for one in crowd:
        one.close()


FRAME = b"\x82\xff" + (10_000_000).to_bytes(8, "big") + b"abcd"


@pytest.mark.parametrize(
    "said",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 9,
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"no HTTP\r\n\r\n",
        HEADERS,
        HEADERS + b"x" * 60_000,
        HANDSHAKE + FRAME + b"x" * 100_000,
        HANDSHAKE + b"\x81\x80abcd",
        HANDSHAKE,
        HANDSHAKE.replace(b"13", b"7"),
        HANDSHAKE.replace(b"Sec-WebSocket-Key", b"x"),
        HANDSHAKE.replace(b"/ws", b"/nowhere"),
        HANDSHAKE.replace(b"/ws", b"/health"),
        HANDSHAKE.replace(b"GET", b"POST"),
        b"GET /stream HTTP/1.1\r\nHost: x\r\n\r\n",
    ],
)
def test_what_others_do_leaves_no_trace(server: HttpServer, said: bytes, caplog: pytest.LogCaptureFixture) -> None:
    """Nor more than a line each, if they reset the connection then."""
    with caplog.at_level(logging.DEBUG):
        some = [connect(server, said) for _ in range(3)]
        for one, pause in zip(some, (0.0, 0.05, 0.35), strict=True):
            time.sleep(pause)
            with contextlib.suppress(OSError):
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            one.close()
        until_closed(server)
    loud = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert [record for record in loud if record.exc_info] == []
    assert len(loud) <= 3


@pytest.mark.parametrize(
    "frames",
    [
        b"\x81\x82\0\0\0\0\xff\xff",
        b"\x01\x80\0\0\0\0" + b"\x00\x80\0\0\0\0" * 50_000,
        FRAME + b"x" * 10_000,
        b"\x89\xfd\0\0\0\0" + b"x" * 125,
        b"\x83\x80\0\0\0\0",
        b"\x88\x81\0\0\0\0\x01",
        b"\x81\x05hello",
    ],
)
def test_frames_that_nobody_expects(server: HttpServer, frames: bytes, caplog: pytest.LogCaptureFixture) -> None:
    one = connect(server, HANDSHAKE)
    assert b" 101 " in one.recv(4_096)
    try:
        one.sendall(frames)
        time.sleep(0.2)
    except OSError:
        pass
    one.close()
    until_closed(server)
    assert [record for record in caplog.records if record.exc_info] == []


def test_who_pings_and_takes_no_pongs_is_left(server: HttpServer) -> None:
    one = connect(server, HANDSHAKE, received=4_096)
    with pytest.raises(OSError, match=r"reset|Broken pipe"):
        for _ in range(100_000):
            one.sendall((b"\x89\xfd\0\0\0\0" + b"x" * 125) * 10)
    one.close()


def test_others_have_their_turn_between_two_fragments() -> None:
    """Though there is room for all of them at once."""
    seen: list[int] = []

    async def scene() -> None:
        turns = 0

        async def other() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        class Roomy(TimedWebSocket):
            disconnected = False

            def __init__(self) -> None:
                """It has no connection."""

            async def _send_fragment(self, fragment: bytes, first: bool, fin: bool) -> None:
                if not fin:
                    seen.append(turns)

        task = asyncio.create_task(other())
        await Roomy().send({"type": "websocket.send", "fragments": iter([b"x"] * 9)})
        task.cancel()

    asyncio.run(scene())
    assert len(seen) == len(set(seen)) == 9
