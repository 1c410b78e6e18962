"""Headers and URL have a limit together."""

from __future__ import annotations

from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from connectors.http.header_limit import HeaderLimit


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await WebSocket(scope, receive, send).accept()
    else:
        await PlainTextResponse("well")(scope, receive, send)


CLIENT = TestClient(HeaderLimit(app, 1_000))


def test_small_ones_pass() -> None:
    assert CLIENT.get("/a?b=c").text == "well"
    with CLIENT.websocket_connect("/a"):
        pass


def test_large_ones_do_not() -> None:
    assert CLIENT.get("/", headers={"x": "y" * 1_000}).json()["error"] == "headers_too_large"
    assert CLIENT.get("/" + "y" * 1_000).status_code == 431
    assert CLIENT.get("/?" + "y" * 1_000).status_code == 431
    try:
        with CLIENT.websocket_connect("/?" + "y" * 1_000):
            raise AssertionError("it was accepted")
    except WebSocketDisconnect:
        pass
