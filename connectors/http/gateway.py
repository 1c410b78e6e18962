"""Registering and ending subscriptions over HTTP, for people without a Kafka client.

    POST /subscriptions            {"sql": "SELECT ..."[, "id": ..., "notify": ..., "ttl": ...]}
                                   201 accepted, 422 refused with the reason, 202 written but not answered yet
    DELETE /subscriptions/{id}     202: it ends with its last delivery, `ended`; 404 there is none

Either is 307 where another edge has the id, and 503 while nobody can say. The body but for `id` becomes the record in
the topic `subscriptions`, with the attributes that come with the asker's token (`rules.py`); what is no JSON object
within the bounds of `connectors/json/reader.py` is answered 400 and written nowhere. Without an `id` one is made up
that lives at this edge. The body must be called `application/json`: pages of other origins cannot send that unasked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import quote

import msgspec
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from connectors.http.answer import Answer, Elsewhere, Found, NotNow, Unknown, as_json, refusal, respond
from connectors.http.identifier import identifier_in_path
from connectors.http.rules import HttpRules
from connectors.json.reader import JsonReader, UnreadableJson
from state.errors import TidewireError

MAX_BODY_BYTES = 131_072
_STATUS = {"refused": 422, "accepted": 201, "live": 201, "ended": 201}

Fields = dict[str, msgspec.Raw]
_BODY = JsonReader(dict[str, object])


class GatewayProtocol(Protocol):
    """Takes subscriptions. For the server's event loop only."""

    async def submit(self, identifier: str | None, prefix: str, value: bytes) -> Mapping[str, object] | Answer:
        """Register and return the first acknowledgement, or where to go with it.

        `prefix`: what an id begins with that is made up where `identifier` is None.
        """
        ...

    async def withdraw(self, identifier: str) -> Answer:
        """Unsubscribe; return the answer that ends, or why none is known here."""
        ...


@dataclass(frozen=True, slots=True)
class Looked:
    """The rows of a bag as they are behind delivery `n` of `version`, before any other.

    `at` is the position (epoch and batch, as JSON has it); `rows` are JSON texts, sorted; `key` says where a row has
    its primary key, for subscriptions that are told of rows when they enter and leave only.
    """

    version: int
    n: int
    at: object
    sql: str
    rows: Sequence[str]
    key: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class TooManyRows:
    """More than one answer may have; the message says how many."""

    message: str


@dataclass(frozen=True, slots=True)
class NoBag:
    """The answer is no bag: the edge has all of it."""


class RowsProtocol(Protocol):
    """Looks rows up. For the server's event loop only."""

    async def look(self, identifier: str) -> Looked | TooManyRows | NoBag | Elsewhere | Unknown | NotNow:
        """Return the rows of a bag, at least as new as what was told before the call.

        NotNow where the shard has not answered in time, the slot is replaced meanwhile, or too many look already. May
        raise TidewireError, which is the same.
        """
        ...


class SubscriptionEndpoints:
    """The endpoints."""

    def __init__(self, gateway: GatewayProtocol, rules: HttpRules) -> None:
        self._desk = gateway
        self._rules = rules

    async def submit(self, request: Request) -> Response:
        """Serve `POST /subscriptions`. Who may not ask is not read."""
        refused = self._rules.admit(request, [])
        if refused is not None:
            return refused
        fields = await _fields(request)
        if isinstance(fields, Response):
            return fields
        identifier, members = fields
        refused = self._rules.admit(request, [] if identifier is None else [identifier])
        refused = refused or _with_attributes(members, self._rules.attributes_of(request))
        if refused is not None:
            return refused
        try:
            value = msgspec.json.encode(members)
            said = await self._desk.submit(identifier, self._rules.own_prefix(request), value)
        except TidewireError as error:
            return refusal(503, "not_now", str(error), {"Retry-After": "1"})
        if isinstance(said, Elsewhere):
            return RedirectResponse(f"{said.url}/subscriptions", 307)
        if isinstance(said, Answer):
            return respond(identifier or "", said)
        where = {"Location": f"{self._rules.served.base}/subscriptions/{quote(str(said['id']), safe='')}"}
        return as_json(_STATUS.get(str(said["status"]), 202), said, where)

    async def withdraw(self, request: Request) -> Response:
        """Serve `DELETE /subscriptions/{identifier}`."""
        identifier = identifier_in_path(request)
        refused = self._rules.admit(request, [identifier])
        if refused is not None:
            return refused
        try:
            said = await self._desk.withdraw(identifier)
        except TidewireError as error:
            return refusal(503, "not_now", str(error), {"Retry-After": "1"})
        match said:
            case Found():
                return as_json(202, {"id": identifier, "status": "ending"})
            case Unknown():
                message = f"there is no such subscription: `{identifier}`. `tidewire subscriptions` lists all."
                return as_json(404, {"id": identifier, "error": "unknown_subscription", "message": message})
            case _:
                return respond(identifier, said)


def _with_attributes(members: Fields, known: Mapping[str, object]) -> Response | None:
    """Add to a record what its asker is known to be; return the refusal of one that says something else of it."""
    given = members.get("attributes", msgspec.Raw(b"null"))
    try:
        said = msgspec.json.decode(given, type=Fields | None) or {}
    except msgspec.ValidationError:
        return None  # an edge refuses it
    twice = next((name for name in said if name in known), None)
    if twice is not None:
        message = f"the attribute `{twice}` comes with your token, and cannot be said. Leave it out."
        return refusal(403, "forbidden", message)
    if known:
        ours = {name: msgspec.Raw(msgspec.json.encode(value)) for name, value in known.items()}
        members["attributes"] = msgspec.Raw(msgspec.json.encode(said | ours))
    return None


async def _fields(request: Request) -> tuple[str | None, Fields] | Response:
    """Return the id, if one is given, and the other members of the record; numbers stay as they were written."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        return refusal(415, "content_type", "send the subscription as `Content-Type: application/json`.")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            return refusal(413, "too_large", f"a subscription has at most {MAX_BODY_BYTES} bytes.")
    try:
        identifier = _BODY.read(bytes(body)).get("id")
        if not isinstance(identifier, str | None):
            raise UnreadableJson("`id` is not a text")
    except UnreadableJson as error:
        return refusal(400, "malformed", f'expected an object such as {{"sql": "SELECT ..."}}: {error}.')
    fields = msgspec.json.decode(body, type=Fields)
    fields.pop("id", None)
    return identifier, fields
