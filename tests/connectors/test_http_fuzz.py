"""Whatever bytes a request is made of: it is answered, and never by an error of ours."""

from __future__ import annotations

import asyncio
import os
from typing import Any
from urllib.parse import unquote

from hypothesis import example, given, settings
from hypothesis import strategies as st
from starlette.types import Message

from connectors.http.app import Edge, edge_app
from connectors.http.bearer_token import hash_of
from connectors.http.rules import HttpRules
from overlay.push.board import PushBoard
from tests.connectors.http.test_app import Fixed, NoDesk
from tests.overlay.process.test_owned_edges import TOPICS

EXAMPLES = int(os.environ.get("TIDEWIRE_FUZZ_EXAMPLES", "100"))
BOARD = PushBoard(TOPICS, HttpRules(), lambda names: [Fixed().subscription(name) for name in names], lambda: 0)
BOARD.partitions = 2
RULES = (HttpRules(), HttpRules({"acme": hash_of("t")}, ["*"]))
APPS = [edge_app(Edge(Fixed(), BOARD, NoDesk()), rules) for rules in RULES]

TARGET = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), max_size=60).map(str.encode)
"""What the server lets through as (a part of) a request's target; anything else it refuses itself."""
NAMES = st.sampled_from(
    [b"authorization", b"last-event-id", b"sec-websocket-protocol", b"origin", b"host", b"content-type", b"x"]
)
VALUES = st.binary(max_size=60) | st.sampled_from(
    [
        b"Bearer t",
        b"bearer",
        b"Bearer  ",
        b"0:1.2",
        b"0:" + b"9" * 400 + b".1",
        b"application/json",
        b"null",
        b"edge:1",
        b"http://edge:1",
        b"localhost:1",
        b"evil:1",
    ]
)
ROUTES = st.sampled_from([b"/", b"/events", b"/subscriptions/", b"/subscriptions", b"/health", b"/page.js"])
RESTS = TARGET | st.sampled_from(
    [b"", b"a/events", b"%00", b"%ff/events", b"moving", b"a%2Fevents", b"%0a/events", b"%2f"]
)
QUERIES = TARGET | st.sampled_from(
    [b"id=a&id=b", b"id=%ff", b"id=a&progress=1e999", b"id=a&progress=nan", b"id=&id=", b"id=a&last_event_id=0:1.1"]
)


async def ask(
    app: Any, kind: str, method: str, path: bytes, query: bytes, headers: list[Any], body: bytes
) -> list[Message]:
    """Send one request, to `edge:1` if it says no other, and leave after it; return what was answered."""
    if all(name != b"host" for name, _ in headers):
        headers = [*headers, (b"host", b"edge:1")]
    sent: list[Message] = []
    first = {"type": "websocket.connect"} if kind == "websocket" else {"type": "http.request", "body": body}
    incoming = [first, {"type": f"{kind}.disconnect", "code": 1000}]

    async def receive() -> Message:
        if incoming:
            await asyncio.sleep(0)
            return incoming.pop(0)
        return await asyncio.Future()

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {
        "type": kind, "method": method, "path": unquote(path.decode("latin-1")), "raw_path": path, "root_path": "",
        "query_string": query, "headers": headers, "scheme": "http", "http_version": "1.1", "server": ("edge", 1),
        "client": ("c", 2), "subprotocols": [], "extensions": {"websocket.http.response": {}},
        "asgi": {"version": "3.0", "spec_version": "2.4"},
    }  # fmt: skip
    await asyncio.wait_for(app(scope, receive, send), 10)
    return sent


@settings(max_examples=EXAMPLES, deadline=None)
@given(
    st.sampled_from(APPS),
    st.sampled_from(["http", "websocket"]),
    st.sampled_from(["GET", "POST", "DELETE", "HEAD", "OPTIONS", "PUT"]),
    st.builds(bytes.__add__, ROUTES, RESTS),
    QUERIES,
    st.lists(st.tuples(NAMES, VALUES), max_size=4),
    st.binary(max_size=80) | st.sampled_from([b'{"sql":1}', b'{"id":"\\ud800"}', b'{"id":"a","id":"b"}', b"[" * 2000]),
)
@example(APPS[0], "http", "GET", b"/subscriptions/a%C2%85/events", b"", [], b"")
def test_any_request(
    app: Any, kind: str, method: str, path: bytes, query: bytes, headers: list[Any], body: bytes
) -> None:
    sent = asyncio.run(ask(app, kind, method, path, query, headers, body))
    statuses = [message["status"] for message in sent if "status" in message]
    assert all(100 <= status < 500 or status == 503 for status in statuses), statuses
    assert statuses or any(message["type"].startswith("websocket.") for message in sent)
