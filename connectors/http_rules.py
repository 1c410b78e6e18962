"""Who may ask an edge for what over HTTP: tenants by bearer token, origins of pages, limits, ids.

    Authorization: Bearer <token>                       every request
    Sec-WebSocket-Protocol: tidewire, bearer.<token>    where a browser opens a WebSocket: it can set no other header

A tenant `acme` may read and write the subscriptions whose ids begin with `acme/`, the tenant `*` all of them. The
edge knows only SHA-256 hashes of tokens (`tidewire token` makes a token and its hash). Without tenants, whoever reaches
the port may do everything: it listens on the loopback interface unless told otherwise. A token in a URL would end up in
logs and histories, so a request that carries one there is refused.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from starlette.requests import HTTPConnection
from starlette.responses import Response

from catalog.subscription_id import wrong_name
from connectors.bearer_token import hash_of, matches
from connectors.http_answer import refusal

EVERYONE = "*"
SUBPROTOCOL = "tidewire"
MAX_HEADER_BYTES = 16_384
_BEARER = "bearer."
_TELLTALE = ("token", "access_token", "bearer", "authorization")


@dataclass(frozen=True, slots=True)
class HttpRules:
    """What one edge allows.

    Args:
        tenants: name -> SHA-256 of a token in hexadecimal; several, separated by blanks, while tokens are changed.
        origins: pages of these origins (`https://example.org`) may ask from a browser; `*` allows all.
        connections: most connections at a time, streams included.
        stream_subscriptions: most subscriptions on one stream.
    """

    tenants: Mapping[str, str] = field(default_factory=dict, repr=False)
    origins: Sequence[str] = ()
    connections: int = 10_000
    stream_subscriptions: int = 100

    def tenant_of(self, token: str) -> str | None:
        """Return whose token it is. Cost: one hash, and a comparison for each tenant."""
        token_hash = hash_of(token)
        return next((tenant for tenant, hashes in self.tenants.items() if matches(token_hash, hashes)), None)

    def is_open_at(self, host: str) -> bool:
        """Whether anybody on the network may do everything where the edge listens at `host`."""
        try:
            private = ipaddress.ip_address(host).is_loopback
        except ValueError:
            private = host == "localhost"
        return not self.tenants and not private

    def admit(self, request: HTTPConnection, identifiers: Sequence[str]) -> Response | None:
        """Return why this request for `identifiers` is refused, None if it is not."""
        if any(name.lower() in _TELLTALE for name in request.query_params):
            return refusal(400, "token_in_url", "a token never belongs in a URL. Send `Authorization: Bearer <token>`.")
        wrong = next((reason for reason in map(wrong_name, identifiers) if reason is not None), None)
        if wrong is not None:
            return refusal(400, "malformed_id", wrong)
        if not self.tenants:
            return None
        tenant = self.tenant_of(token_of(request) or "")
        if tenant is None:
            message = "this edge asks for a token. Send `Authorization: Bearer <token>` with one that it knows."
            return refusal(401, "unauthorized", message, {"WWW-Authenticate": "Bearer"})
        foreign = next((one for one in identifiers if not owns(tenant, one)), None)
        if foreign is None:
            return None
        message = f"`{foreign}` is not yours: ids of tenant `{tenant}` begin with `{tenant}/`."
        return refusal(403, "forbidden", message)

    def own_prefix(self, request: HTTPConnection) -> str:
        """Return what ids of the (admitted) asker begin with; empty where all are open to it."""
        tenant = self.tenant_of(token_of(request) or "") if self.tenants else EVERYONE
        return "" if tenant in (None, EVERYONE) else f"{tenant}/"

    def allows_origin(self, request: HTTPConnection) -> bool:
        """Whether a page of the request's origin may open a WebSocket, which no browser asks us about beforehand."""
        origin = request.headers.get("origin")
        if origin is None or "*" in self.origins or origin in self.origins:
            return True
        return origin.partition("://")[2] == request.headers.get("host")


def owns(tenant: str, identifier: str) -> bool:
    """Whether a subscription is the tenant's."""
    return tenant == EVERYONE or identifier.startswith(f"{tenant}/")


def token_of(request: HTTPConnection) -> str | None:
    """Return the bearer token of a request, None if there is none."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return token.strip()
    offered = (one.strip() for one in request.headers.get("sec-websocket-protocol", "").split(","))
    return next((one[len(_BEARER) :] for one in offered if one.startswith(_BEARER)), None)
