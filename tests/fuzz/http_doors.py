"""A running HTTP server, and clients that are nearly right, slow, cut off, huge, or never read.

    python -m tests.fuzz 60 http-doors        an hour

Each input is what one crowd of clients does at the same time: bytes, with pauses, and how each leaves. Meanwhile and
afterwards the server must answer `/health` and a reader's stream, and have logged no trace. Now and then it must have
ended all connections in their time, and memory and the length of the log are compared with what they were: neither may
grow beyond `GROWN_BYTES` and the lines that a kind may have in the time.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import logging
import random
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import httpx
import psutil
from hypothesis import strategies as st

from connectors.http.bearer_token import hash_of
from connectors.http.log import LINES, SECONDS
from connectors.http.rules import HttpRules
from tests.fuzz.mutation import damaged
from tests.overlay.push_world import LiveEdge

GROWN_BYTES = 96 << 20
_DEADLINE = 1.0
_KINDS = 40
_HOST = b"Host: 127.0.0.1\r\n"
_TOKEN = b"Authorization: Bearer t\r\n"
_JSON = b"Content-Type: application/json\r\n"
_CHUNKS = b'Transfer-Encoding: chunked\r\n\r\n5;x=y\r\n{"sql\r\n0\r\n\r\n'
_UPGRADE = (
    b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
)


def frame(opcode: int, payload: bytes, said: int | None = None) -> bytes:
    """Return a masked frame; `said`: the length that it claims to have."""
    length = len(payload) if said is None else said
    size = bytes([0x80 | length]) if length < 126 else b"\xff" + struct.pack(">Q", length)
    return bytes([opcode]) + size + b"\0\0\0\0" + payload


REQUESTS = [
    b"GET /health HTTP/1.1\r\n" + _HOST + b"\r\n",
    b"GET / HTTP/1.1\r\n" + _HOST + b"\r\n",
    b"GET /subscriptions/acme%2Fs HTTP/1.1\r\n" + _HOST + _TOKEN + b"\r\n",
    b"GET /subscriptions/acme%2Fs/events HTTP/1.1\r\n" + _HOST + _TOKEN + b"Last-Event-ID: 0:1.2\r\n\r\n",
    b"GET /events?id=acme/s&id=acme/t HTTP/1.1\r\n" + _HOST + _TOKEN + b"\r\n",
    b"GET /subscriptions/acme%2Fs/events HTTP/1.1\r\n" + _HOST + _TOKEN + _UPGRADE + b"\r\n",
    b"GET /events?id=acme/s HTTP/1.1\r\n" + _HOST + _UPGRADE + b"Origin: http://a.example\r\n\r\n",
    b"GET /nowhere HTTP/1.1\r\n" + _HOST + _UPGRADE + b"\r\n",
    b"POST /subscriptions HTTP/1.1\r\n" + _HOST + _TOKEN + _JSON + b'Content-Length: 11\r\n\r\n{"sql":"x"}',
    b"POST /subscriptions HTTP/1.1\r\n" + _HOST + _JSON + b"Content-Length: 60000\r\n\r\n{",
    b"POST /subscriptions HTTP/1.1\r\n" + _HOST + _TOKEN + _JSON + _CHUNKS,
    b"DELETE /subscriptions/acme%2Fnone HTTP/1.1\r\n" + _HOST + b"Expect: 100-continue\r\nContent-Length: 5\r\n\r\n",
    b"CONNECT a:1 HTTP/1.1\r\n" + _HOST + b"\r\n",
    b"OPTIONS * HTTP/1.0\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 9,
    b"GET /health HTTP/1.1\r\n" + _HOST + b"x: " + b"y" * 40_000 + b"\r\n\r\n",
]  # fmt: skip
FRAMES = [
    frame(0x81, b"hello"), frame(0x82, b"x" * 100), frame(0x89, b"ping"), frame(0x88, struct.pack(">H", 1000)),
    frame(0x01, b"a") + frame(0x00, b"") * 2_000, frame(0x81, b"\xff\xfe"), frame(0x82, b"x" * 5_000, 10_000_000),
    frame(0x8B, b""), b"\x81\x05hello", frame(0x88, b"\x01"),
]  # fmt: skip
KNOWN = st.sampled_from(REQUESTS)
PIECES = KNOWN | damaged(KNOWN) | st.sampled_from(FRAMES) | st.binary(max_size=200)
MANY = st.builds(bytes.__mul__, PIECES, st.integers(2, 300))


@dataclass(frozen=True)
class Client:
    """Sends `parts` with pauses, reads or not, and leaves politely, by a reset, or when it is put out."""

    parts: list[bytes]
    pause: float
    reads: bool
    leaves: str


CLIENTS = st.builds(
    Client,
    st.lists(PIECES | MANY, min_size=1, max_size=4),
    st.sampled_from([0.0, 0.0, 0.0, 0.001, 0.05]),
    st.booleans(),
    st.sampled_from(["closes", "resets", "half closes", "stays"]),
)  # fmt: skip


class Doors:
    """The server, in a process of its own, and what it logs."""

    def __init__(self) -> None:
        self._log = Path(tempfile.mkdtemp()) / "log"
        with self._log.open("w") as log:
            command = [sys.executable, "-m", "tests.fuzz.http_doors"]
            pipe = subprocess.PIPE
            self._server = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=log, text=True)
        self._port = self._state()["port"]
        self._began, self._seen, self._memory = time.monotonic(), 0, 0
        atexit.register(self._server.kill)

    def _state(self) -> dict[str, int]:
        assert self._server.stdin is not None and self._server.stdout is not None
        print(file=self._server.stdin, flush=True)
        state: dict[str, int] = json.loads(self._server.stdout.readline())
        return state

    def crowd(self, clients: list[Client]) -> None:
        """Let clients come at the same time; check what must hold."""
        threads = [threading.Thread(target=self._client, args=(one,)) for one in clients]
        for thread in threads:
            thread.start()
        self._lives()
        for thread in threads:
            thread.join()
        self._lives()
        self._seen += 1
        if self._seen % 200 == 0:
            self._is_bounded()
        text = self._log.read_text()
        assert "Traceback" not in text, text[-5_000:]

    def _client(self, client: Client) -> None:
        address = "127.0.0.1", self._port
        with contextlib.suppress(OSError), socket.create_connection(address, timeout=0.5) as one:
            for part in client.parts:
                one.sendall(part)
                time.sleep(client.pause)
                if client.reads:
                    one.settimeout(0.02)
                    with contextlib.suppress(TimeoutError):
                        one.recv(65_536)
            if client.leaves == "resets":
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            elif client.leaves == "half closes":
                one.shutdown(socket.SHUT_WR)
                time.sleep(0.01)
            elif client.leaves == "stays":
                time.sleep(random.random() * 0.3)

    def _lives(self) -> None:
        url, headers = f"http://127.0.0.1:{self._port}", {"Authorization": "Bearer t"}
        assert httpx.get(f"{url}/health", timeout=10).status_code == 200
        with httpx.stream("GET", f"{url}/subscriptions/acme%2Fs/events", headers=headers, timeout=10) as told:
            assert told.status_code == 200
            assert next(told.iter_lines())

    def _is_bounded(self) -> None:
        until = time.monotonic() + 30 * _DEADLINE
        while (state := self._state())["connections"] or state["readers"]:
            assert time.monotonic() < until, f"something outlives its deadline: {state}"
            time.sleep(0.05)
        memory = psutil.Process(self._server.pid).memory_info().rss
        self._memory = self._memory or memory
        assert memory - self._memory < GROWN_BYTES, f"{(memory - self._memory) >> 20} MB more"
        lines = self._log.read_text().count("\n")
        allowed = _KINDS * LINES * (1 + (time.monotonic() - self._began) / SECONDS)
        assert lines < allowed, f"{lines} lines in the log"
        print(f"[{self._seen} crowds: {(memory - self._memory) / 1e6:+.1f} MB, {lines} lines]", end=" ", flush=True)


@cache
def doors() -> Doors:
    """Start the server, once."""
    return Doors()


def serve() -> None:
    """Be the server: tell its state for each line of standard input."""
    logging.basicConfig(level=logging.WARNING)
    edge = LiveEdge(HttpRules({"acme": hash_of("t")}, request_seconds=_DEADLINE))
    edge.subscribe("acme/s", "acme/t")
    for _ in sys.stdin:
        open_now = len(edge.server._server.server_state.connections)
        state = {"port": edge.server.port, "connections": open_now, "readers": edge.board.readers}
        print(json.dumps(state), flush=True)
    edge.close()


HTTP_DOORS = {"http-doors": (st.lists(CLIENTS, min_size=1, max_size=6), lambda clients: doors().crowd(clients))}

if __name__ == "__main__":
    serve()
