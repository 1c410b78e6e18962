"""The rows of a bag, looked up where they are.

    GET /subscriptions/{id}/rows    200 NDJSON: a line that says what follows, then a row on each line
                                    400 its answer is no bag; 413 too many rows; 307, 404, 503 as for an answer

    {"id":"dear","version":4,"n":7,"rows":2,"at":{"epoch":0,"batch":12},"sql":"SELECT symbol, price FROM stock"}
    ["ACME","10.25"]
    ["ACME","10.25"]

An edge keeps no rows of a bag, so it asks the shard: the answer comes with the next batch. What it says holds exactly
after delivery `n` of `version`: whoever takes the deliveries behind it is exact from there on. 503 where no batch has
ended in time, where others look already, or where its tenant has as many streams and looks as it may; `Retry-After`
says when to ask again.
"""

from __future__ import annotations

from collections import Counter

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from connectors.http.answer import refusal, respond
from connectors.http.gateway import Looked, NoBag, RowsProtocol, TooManyRows
from connectors.http.identifier import identifier_in_path
from connectors.http.rules import HttpRules
from state.errors import TidewireError

ROWS_BELOW = "/rows"


class RowsEndpoint:
    """The endpoint. `of_tenant`: how many streams and looks of each tenant are served now."""

    def __init__(self, looks: RowsProtocol, rules: HttpRules, of_tenant: Counter[str] | None = None) -> None:
        self._looks = looks
        self._rules = rules
        self._of_tenant = Counter[str]() if of_tenant is None else of_tenant

    async def rows(self, request: Request) -> Response:
        """Serve `GET /subscriptions/{identifier}/rows`."""
        identifier = identifier_in_path(request, ROWS_BELOW)
        refused = self._rules.admit(request, [identifier])
        if refused is not None:
            return refused
        tenant, most = self._rules.own_prefix(request), self._rules.tenant_streams
        if self._rules.tenants and self._of_tenant[tenant] >= most:
            message = f"this tenant has {most} streams and looks at this edge already (`http_tenant_streams`)"
            return refusal(503, "not_now", message, {"Retry-After": "1"})
        self._of_tenant[tenant] += 1
        try:
            said = await self._looks.look(identifier)
        except TidewireError as error:
            return refusal(503, "not_now", str(error), {"Retry-After": "1"})
        finally:
            self._of_tenant[tenant] -= 1
        match said:
            case Looked():
                return Response(ndjson(identifier, said), media_type="application/x-ndjson")
            case TooManyRows(message):
                return refusal(413, "quota", message)
            case NoBag():
                message = f"the answer of `{identifier}` is no bag of rows: `GET /subscriptions/{{id}}` has all of it."
                return refusal(400, "no_bag", message)
            case _:
                return respond(identifier, said, ROWS_BELOW)


def ndjson(identifier: str, looked: Looked) -> bytes:
    """Return the lines. Cost: O(bytes)."""
    head: dict[str, object] = {"id": identifier, "version": looked.version, "n": looked.n, "rows": len(looked.rows)}
    if looked.key:
        head["key"] = list(looked.key)
    first = msgspec.json.encode(head | {"at": looked.at, "sql": looked.sql})
    return first + "\n".join(["", *looked.rows, ""]).encode()
