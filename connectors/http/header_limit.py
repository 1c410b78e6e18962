"""Refuse requests whose headers and path are too large in all.

The server's own limit (h11) holds back what comes in pieces; what arrives at once passes it.
"""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from connectors.http.answer import refusal


class HeaderLimit:
    """Answers 431 to a request with more than `most` bytes of headers and URL."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        self._app = app
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on or refuse. Cost: O(headers)."""
        if scope["type"] == "http" and _size(scope) > self._most:
            message = f"the request's headers and URL have more than {self._most} bytes in all. Send less."
            await refusal(431, "headers_too_large", message)(scope, receive, send)
        elif scope["type"] == "websocket" and _size(scope) > self._most:
            await send({"type": "websocket.close"})
        else:
            await self._app(scope, receive, send)


def _size(scope: Scope) -> int:
    named = sum(len(name) + len(value) for name, value in scope["headers"])
    return named + len(scope.get("raw_path", b"")) + len(scope.get("query_string", b""))
