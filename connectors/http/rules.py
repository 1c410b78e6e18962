"""Who may ask an edge for what over HTTP: tenants by bearer token, origins of pages, limits, ids.

    Authorization: Bearer <token>                       every request
    Sec-WebSocket-Protocol: tidewire, bearer.<token>    where a browser opens a WebSocket, and nowhere else: it can set
                                                        no other header there

A tenant `acme` may read and write the subscriptions whose ids begin with `acme/`, the tenant `*` all of them. The
edge knows only SHA-256 hashes of tokens (`tidewire token` makes a token and its hash). Without tenants, whoever reaches
the port may do everything: it listens on the loopback interface unless told otherwise. A token in a URL would end up in
logs and histories, so a request that carries one there is refused: under a name that says so, or a token that is known.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from starlette.requests import HTTPConnection
from starlette.responses import Response

from catalog.query.subscription_id import wrong_name
from connectors.http.address import origin_of
from connectors.http.answer import refusal
from connectors.http.bearer_token import hash_of, matches
from connectors.http.served_addresses import ServedAddresses

EVERYONE = "*"
EVERY_ORIGIN = "*"
SUBPROTOCOL = "tidewire"
MAX_HEADER_BYTES = 16_384
_BEARER = "bearer."
_BEARER_WORD = re.compile(r"^bearer[\s.:]+", re.IGNORECASE)
_TELLTALE = {"token", "access_token", "auth_token", "api_token", "api_key", "apikey", "bearer", "authorization"}


@dataclass(frozen=True, slots=True)
class HttpRules:
    """What one edge allows.

    Args:
        tenants: name -> SHA-256 of a token in hexadecimal; several, separated by blanks, while tokens are changed.
        attributes: name -> what a tenant's subscribers are, by attribute, to tables with an audience; a scalar each.
        origins: pages of these origins (`https://example.org`) may ask from a browser; `*` allows all.
        connections: most connections that are served at a time, streams included.
        stream_subscriptions: most subscriptions on one stream.
        address_connections: most of those connections from one address.
        tenant_streams: most streams of one tenant.
        request_seconds: how long a request's headers, its body, and a connection's next request may take to come.
        served: the addresses at which the edge is served.
    """

    tenants: Mapping[str, str] = field(default_factory=dict, repr=False)
    attributes: Mapping[str, Mapping[str, object]] = field(default_factory=dict, kw_only=True)
    origins: Sequence[str] = ()
    connections: int = 10_000
    stream_subscriptions: int = 100
    address_connections: int = 5_000
    tenant_streams: int = 2_000
    request_seconds: float = 10.0
    served: ServedAddresses = field(default_factory=ServedAddresses)

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
        """Return why this request for `identifiers` is refused, None if it is not.

        A token is looked at first: without one, nobody learns what else would be wrong.
        """
        tenant = self._asker(request)
        if tenant is None:
            message = "this edge asks for a token. Send `Authorization: Bearer <token>` with one that it knows."
            return refusal(401, "unauthorized", message, {"WWW-Authenticate": "Bearer"})
        wrong = next((reason for reason in map(wrong_name, identifiers) if reason is not None), None)
        if wrong is not None:
            return refusal(400, "malformed_id", wrong)
        foreign = next((one for one in identifiers if not owns(tenant, one)), None)
        if foreign is None:
            return None
        message = f"`{foreign}` is not yours: ids of tenant `{tenant}` begin with `{tenant}/`."
        return refusal(403, "forbidden", message)

    def own_prefix(self, request: HTTPConnection) -> str:
        """Return what ids of the (admitted) asker begin with; empty where all are open to it."""
        tenant = self._asker(request)
        return "" if tenant in (None, EVERYONE) else f"{tenant}/"

    def attributes_of(self, request: HTTPConnection) -> Mapping[str, object]:
        """Return what the (admitted) asker is known to be, whatever it says of itself."""
        tenant = self._asker(request)
        return self.attributes.get(tenant or "", {})

    def shows_figures(self, request: HTTPConnection) -> bool:
        """Whether an asker may see how much the edge does: where subscribers are told apart, no tenant but `*`."""
        tenant = self._asker(request)
        return tenant is not None and (not self.attributes or tenant == EVERYONE)

    def _asker(self, request: HTTPConnection) -> str | None:
        """Return whose token a request has; everybody's where the edge asks for none."""
        return self.tenant_of(token_of(request) or "") if self.tenants else EVERYONE

    def allows_origin(self, origin: str, own: tuple[str, int]) -> bool:
        """Whether a page of this origin may ask, on a connection that came in at `own`."""
        if EVERY_ORIGIN in self.origins:
            return True
        named = origin_of(origin)
        return named in map(origin_of, self.origins) or named in self.served.origins(own)

    def has_token_in_url(self, request: HTTPConnection) -> bool:
        """Whether a parameter is called as tokens are, or a part of the URL is a token that we know.

        *Cost*: with tenants, a hash for each part of the URL.
        """
        asked = request.query_params.multi_items()
        if any(name.lower().replace("-", "_") in _TELLTALE for name, _ in asked):
            return True
        if not self.tenants:
            return False
        known = {one for hashes in self.tenants.values() for one in hashes.lower().split()}
        parts = [part for pair in asked for part in pair] + request.scope["path"].split("/")
        return any(hash_of(_BEARER_WORD.sub("", part.strip())) in known for part in parts)


def owns(tenant: str, identifier: str) -> bool:
    """Whether a subscription is the tenant's."""
    return tenant == EVERYONE or identifier.startswith(f"{tenant}/")


def token_of(request: HTTPConnection) -> str | None:
    """Return the bearer token of a request, None if there is none."""
    return next(iter(tokens_of(request)), None)


def tokens_of(request: HTTPConnection) -> list[str]:
    """Return every token that a request shows in its headers; that there is only one is `Doorkeeper`'s to see to."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    shown = [token.strip()] if scheme.lower() == "bearer" and token.strip() else []
    if request.scope["type"] == "websocket":
        offered = (one.strip() for line in request.headers.getlist("sec-websocket-protocol") for one in line.split(","))
        shown += [one[len(_BEARER) :] for one in offered if one.startswith(_BEARER)]
    return shown
