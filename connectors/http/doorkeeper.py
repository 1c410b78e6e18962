"""Turn away, before anything else is looked at, what is not meant for this edge or contradicts itself.

    400             a token in the URL
    400 and close   two `Host`, `Authorization` or `Origin` (of lengths, `connectors/http/strict_http.py` sees to it); a
                    `Host` that is none; a target that is no path; two different tokens
    421             a `Host` that is not among `connectors/http/served_addresses.py`
    403             a page of another origin, whatever it asks for and however

It holds for every path, the page and `/health` included, for HTTP and for WebSockets. A probe of `/health` names a
loopback address or the address that it connects to, and both are always served.
"""

from __future__ import annotations

from collections import Counter

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from connectors.http.address import parse_authority
from connectors.http.answer import refusal
from connectors.http.rules import HttpRules, tokens_of

_ONCE = ("host", "authorization", "origin", "content-type", "last-event-id")
_SHOWN = 100


class Doorkeeper:
    """Passes on to `app` what `rules` let in."""

    def __init__(self, app: ASGIApp, rules: HttpRules) -> None:
        self._app = app
        self._rules = rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on or refuse. *Cost*: O(headers)."""
        request = HTTPConnection(scope)
        refused = _contradiction(request) or self._misdirected(request) or self._foreign(request)
        if refused is None and self._rules.has_token_in_url(request):
            message = "a token never belongs in a URL. Send `Authorization: Bearer <token>`."
            refused = refusal(400, "token_in_url", message)
        if refused is None:
            await self._app(scope, receive, send)
        else:
            await refused(scope, receive, send)

    def _misdirected(self, request: HTTPConnection) -> Response | None:
        named = request.headers["host"]
        place = parse_authority(named)
        if place is None:
            return _odd(f"`Host` must be a name or an IP address, and a port, got {named[:_SHOWN]!r}.")
        own = own_address(request)
        if self._rules.served.serves(*place, own):
            return None
        message = (
            f"this edge is not served as `{named[:_SHOWN]}`. Ask it at {self._rules.served.example(own)}, or add the "
            "name to the setting `http_names`."
        )
        return refusal(421, "misdirected", message)

    def _foreign(self, request: HTTPConnection) -> Response | None:
        origin = request.headers.get("origin")
        if origin is None or self._rules.allows_origin(origin, own_address(request)):
            return None
        message = f"pages of `{origin[:_SHOWN]}` may not ask here. Add it to the setting `http_origins`."
        return refusal(403, "origin", message)


def own_address(request: HTTPConnection) -> tuple[str, int]:
    """Return where on this machine the connection came in."""
    host, port = request.scope.get("server") or ("localhost", None)
    return host, port or 80


def _contradiction(request: HTTPConnection) -> Response | None:
    headers = request.headers
    twice = _twice(headers)
    if twice is not None:
        return _odd(f"a request has one `{twice}` header at most.")
    if "host" not in headers:
        return _odd("a request names the edge in a `Host` header.")
    if not request.scope.get("raw_path", b"/").startswith(b"/"):
        return _odd("the target of a request is a path that begins with `/`.")
    if len(set(tokens_of(request))) > 1:
        return _odd("a request shows one token, not several.")
    return None


def _twice(headers: Headers) -> str | None:
    seen = Counter(headers.keys())
    return next((name for name in _ONCE if seen[name] > 1), None)


def _odd(message: str) -> Response:
    """Return a refusal after which the connection is closed: where this request ends is not certain."""
    return refusal(400, "malformed", message, {"Connection": "close"})
