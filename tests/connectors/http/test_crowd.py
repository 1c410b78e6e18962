"""How many are served at a time, and who is served in any case."""

from __future__ import annotations

import asyncio

import pytest
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive, Scope, Send
from starlette.websockets import WebSocketDisconnect

from connectors.http.crowd import CrowdLimit


class Slow:
    """Serves until it is told to end; `/leaves` and `/left` are left by their clients."""

    def __init__(self) -> None:
        self.end = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/leaves":
            raise ClientDisconnect
        if scope["path"] == "/left":
            raise WebSocketDisconnect(1006)
        if scope["path"] != "/health":
            await self.end.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})


async def ask(limit: CrowdLimit, address: str, path: str = "/events", kind: str = "http") -> list[Message]:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return await asyncio.Future()

    await limit({"type": kind, "path": path, "client": (address, 9), "headers": []}, receive, send)
    return sent


@pytest.mark.parametrize(
    ("addresses", "refused"),
    [("aabc", []), ("aaab", [2]), ("aabcd", [4]), ("aaabcd", [2, 5]), ("", [])],
)
def test_so_many_in_all_and_so_many_of_an_address(addresses: str, refused: list[int]) -> None:
    async def scene() -> None:
        slow = Slow()
        limit = CrowdLimit(slow, 4, 2)
        for _ in range(2):  # places are given back
            asked = [asyncio.ensure_future(ask(limit, address)) for address in addresses]
            await asyncio.sleep(0.01)
            assert [number for number, one in enumerate(asked) if one.done()] == refused
            for number in refused:
                start = asked[number].result()[0]
                assert start["status"] == 503
                assert (b"connection", b"close") in [(name.lower(), value) for name, value in start["headers"]]
            assert (await ask(limit, "a", "/health"))[0]["status"] == 200
            slow.end.set()
            await asyncio.gather(*asked)
            slow.end.clear()

    asyncio.run(scene())


def test_a_client_that_leaves_is_no_error_and_has_no_place() -> None:
    async def scene() -> None:
        limit = CrowdLimit(Slow(), 1, 1)
        for path in ("/leaves", "/left", "/leaves"):
            assert await ask(limit, "a", path) == []

    asyncio.run(scene())
