"""What an edge says of a subscription, and how that reads over HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import quote

import msgspec
from starlette.responses import RedirectResponse, Response

from connectors.http.address import parse_address


@dataclass(frozen=True, slots=True)
class Found:
    """The answer is here. `size`: about how many bytes its JSON has, where it is large."""

    body: Mapping[str, object]
    size: int = 0


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Another edge has it; `address` is its `host:port`, or its URL where that is not plain HTTP."""

    address: str

    @property
    def url(self) -> str:
        """The URL of that edge, without a slash at the end."""
        return parse_address(self.address).url


@dataclass(frozen=True, slots=True)
class Unknown:
    """There is no such subscription."""


@dataclass(frozen=True, slots=True)
class NotNow:
    """The virtual edge is moving or being restored, or the edge is full; asking again in a moment helps."""

    reason: str


Answer = Found | Elsewhere | Unknown | NotNow


class Answers(Protocol):
    """What an edge can tell. Called from several threads."""

    def subscription(self, identifier: str) -> Answer:
        """Return the current answer of a subscription, or where it is."""
        ...

    def health(self) -> tuple[bool, Mapping[str, object]]:
        """Return whether the edge is well, and what it is doing."""
        ...


def respond(identifier: str, answer: Answer, below: str = "", query: str = "") -> Response:
    """Return the response for `GET /subscriptions/{identifier}{below}?query`."""
    match answer:
        case Found(body):
            return as_json(200, body)
        case Elsewhere():
            path = f"/subscriptions/{quote(identifier, safe='')}{below}"
            return RedirectResponse(f"{answer.url}{path}{'?' + query if query else ''}", 307)
        case NotNow(reason):
            return as_json(503, {"id": identifier, "error": "not_now", "message": reason}, {"Retry-After": "1"})
        case Unknown():
            message = f"there is no subscription `{identifier}`. Register it with `tidewire subscribe`."
            return as_json(404, {"id": identifier, "error": "unknown_subscription", "message": message})


def refusal(status: int, error: str, message: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return a refusal: a stable word for programs and a sentence for people."""
    return as_json(status, {"error": error, "message": message}, headers)


def as_json(status: int, body: Mapping[str, object], headers: Mapping[str, str] | None = None) -> Response:
    """Return `body` on one line of JSON."""
    return Response(msgspec.json.encode(body), status, headers, "application/json")
