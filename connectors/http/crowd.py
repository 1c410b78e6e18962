"""Serve a bounded number of requests at a time, in all and of each address; `/health` is always served.

On one connection one request is served at a time, so these are connections, streams included; those that only wait
for their request are in `connectors/http/waiting.py`. A client that leaves within its request is nobody's error.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketDisconnect

from connectors.http.answer import refusal
from connectors.http.waiting import neighbourhood

HEALTH = "/health"
_LATER = {"Retry-After": "1", "Connection": "close"}


class CrowdLimit:
    """Answers 503 where `most` are served already, or `most_of_address` from the same address."""

    def __init__(self, app: ASGIApp, most: int, most_of_address: int) -> None:
        self._app = app
        self._most = most
        self._most_of_address = most_of_address
        self._served = 0
        self._of_address: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on or refuse."""
        with suppress(ClientDisconnect, WebSocketDisconnect):
            if scope["path"] == HEALTH:
                await self._app(scope, receive, send)
                return
            address = neighbourhood(scope.get("client"))
            full = self._full(address)
            if full is not None:
                await refusal(503, "full", full, _LATER)(scope, receive, send)
                return
            await self._serve(address, scope, receive, send)

    async def _serve(self, address: str, scope: Scope, receive: Receive, send: Send) -> None:
        self._served += 1
        self._of_address[address] += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._served -= 1
            self._of_address[address] -= 1
            if not self._of_address[address]:
                del self._of_address[address]

    def _full(self, address: str) -> str | None:
        """Say why nobody more is served, None if one is."""
        if self._served >= self._most:
            return f"this edge serves {self._most} connections already (`http_connections`). Ask again later."
        if self._of_address[address] >= self._most_of_address:
            most = self._most_of_address
            return f"your address has {most} connections to this edge already (`http_address_connections`). End some."
        return None
