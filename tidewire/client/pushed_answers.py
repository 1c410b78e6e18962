"""Answers that are told over HTTP alone, followed at the edges: `GET /subscriptions/{id}/events`, see docs/push.md.

What comes is given as the topic `deliveries` would have it. The stream's first message, the answer that holds now,
becomes a `snapshot` (its `n` is above 1 where changes went before); after a break it becomes a `change` that stands
for those missed, or nothing if there were none. A bag or list of which not all was held becomes a whole `resync` then.
"""

from __future__ import annotations

import http.client
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from urllib.parse import quote, urljoin, urlsplit

import msgspec

from catalog.sql.notify import PUSH, OptionRefused, read_options
from connectors.http.address import HttpAddress, parse_address
from connectors.kafka.admin import Member
from overlay.delivery.list_delivery import list_difference
from overlay.process.ownership import edge_address
from state.errors import TidewireError, UserError
from tidewire.client.edge_connection import connect
from tidewire.client.held_answer import BAG, LIST, HeldAnswer
from tidewire.client.records import Delivery, Progress, Row

SILENCE_SECONDS = 45.0
"""An edge gives a sign of life every 15 s; after three times that the connection is given up."""
_MOST_REDIRECTS = 5
_PAUSE_SECONDS = 0.5
_NOT_NOW = {404, 503}
_MESSAGE = msgspec.json.Decoder(dict[str, Any])


class PushUnreachable(TidewireError):
    """No edge tells the answers; the message says where they can be read."""

    code = "push_unreachable"
    retry_helps = True


class _Broken(Exception):
    """A connection that tells nothing for now: why."""


def is_pushed(value: bytes) -> bool:
    """Return whether a subscription record with this value asks for answers over HTTP alone."""
    said = _MESSAGE.decode(value)
    try:
        written = read_options(str(said.get("sql") or said.get("template") or "")).deliver
    except OptionRefused:
        return False
    return PUSH in (written, said.get("deliver"))


def edge_addresses(members: Sequence[Member]) -> list[str]:
    """Return the addresses of the edges among the members of their group."""
    return sorted(address for member in members if (address := edge_address(member)) is not None)


class PushedAnswers(Iterator[Delivery | Progress]):
    """Iterate; close it (or use `with`) when done. It goes on at whichever edge has the subscription.

    Args:
        id: the subscription.
        edges: returns the addresses (`host:port` or URLs) of the edges as they are now; asked before each connection.
        version: what an older version of the subscription is told is left out.
        token: sent as bearer token to every edge; never over plain HTTP because an edge behind TLS says so.
        patience: seconds without any stream after which PushUnreachable is raised.
    """

    def __init__(
        self, id: str, edges: Callable[[], Sequence[str]], version: int = -1, token: str | None = None,
        patience: float = 60.0,
    ) -> None:  # fmt: skip
        self._id, self._edges, self._version, self._token = id, edges, version, token
        self._patience = patience
        self._path = f"/subscriptions/{quote(id, safe='')}/events"
        self._mark = ""
        self._held: tuple[int, int] | None = None
        self._answer = HeldAnswer()
        self._pause = 0.0
        self._connection: http.client.HTTPConnection | None = None
        self._records = self._follow()

    def __next__(self) -> Delivery | Progress:
        return next(self._records)

    def close(self) -> None:
        """Leave the edge."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __enter__(self) -> PushedAnswers:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _follow(self) -> Iterator[Delivery | Progress]:
        until, tries, why = time.monotonic() + self._patience, 0, "no edge is running"
        while True:
            doors = self._edges()
            self._pause = _PAUSE_SECONDS
            try:
                if doors:
                    for record in self._listen(doors[tries % len(doors)]):
                        until = time.monotonic() + self._patience
                        if record is not None:
                            yield record
            except _Broken as broken:
                why = str(broken)
            except (OSError, http.client.HTTPException) as error:
                why = f"{doors[tries % len(doors)]} cannot be reached: {error or type(error).__name__}"
            finally:
                self.close()
            tries += 1
            if time.monotonic() >= until:
                raise PushUnreachable(self._unreachable(doors, why))
            time.sleep(self._pause)

    def _unreachable(self, doors: Sequence[str], why: str) -> str:
        place = parse_address(doors[0]).url if doors else "http://<edge's host:port>"
        return (
            f"`{self._id}` is told over HTTP alone, and no edge tells it to us ({why}); it stays registered. "
            f"Its answers can be read at {place}{self._path}, see `tidewire status` for the edges."
        )

    def _listen(self, address: str) -> Iterator[Delivery | Progress | None]:
        """Yield what one connection tells, None for what is only a sign of life. Raises _Broken, OSError."""
        answer = self._open(address)
        while line := answer.readline():
            name, _, rest = line.decode().rstrip("\r\n").partition(": ")
            if name == "id":
                self._mark = rest
            elif name == "retry":
                self._pause = int(rest) / 1_000
            elif name == "data":
                yield self._heard(_MESSAGE.decode(rest))
            elif line.startswith(b":"):
                yield None

    def _open(self, address: str) -> http.client.HTTPResponse:
        """Return the stream, wherever it is. Raises _Broken, UserError, OSError and HTTPException."""
        edge = parse_address(address)
        target = edge.path + self._path
        for _ in range(_MOST_REDIRECTS):
            self.close()
            self._connection = connect(edge, SILENCE_SECONDS)
            self._connection.request("GET", target, headers=self._headers())
            answer = self._connection.getresponse()
            if answer.status == 200:
                return answer
            if answer.status != 307:
                self._refuse(edge.label, answer)
            edge, target = _redirected(edge, target, answer.headers.get("Location", ""))
        raise _Broken(f"more than {_MOST_REDIRECTS} edges in turn say that another one has it")

    def _headers(self) -> dict[str, str]:
        headers = {"Accept": "text/event-stream"}
        if self._mark:
            headers["Last-Event-ID"] = self._mark
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        return headers

    def _refuse(self, address: str, answer: http.client.HTTPResponse) -> None:
        body = answer.read(10_000)
        try:
            said = str(_MESSAGE.decode(body).get("message"))
        except msgspec.DecodeError:
            said = answer.reason
        if answer.status in (401, 403):
            raise UserError(
                f"the edge at {address} does not let us read `{self._id}` (HTTP {answer.status}: {said}). "
                "Set `http_token` to a token of its tenant, see `tidewire token`."
            )
        if answer.status not in _NOT_NOW:
            raise UserError(f"the edge at {address} answered HTTP {answer.status} for `{self._id}`: {said}")
        wait = answer.headers.get("Retry-After", "")
        self._pause = float(wait) if wait.isdigit() else _PAUSE_SECONDS
        raise _Broken(f"{address} says: {said}")

    def _heard(self, message: dict[str, Any]) -> Delivery | Progress | None:
        kind = message["kind"]
        if kind == "progress":
            return msgspec.convert(message, Progress)
        if kind == "reset":
            self._held = None
        if kind == "answer":
            return self._present(message)
        if kind not in ("snapshot", "change", "resync", "final", "ended"):
            return None
        return self._news(msgspec.convert(message, Delivery))

    def _present(self, message: dict[str, Any]) -> Delivery | None:
        """Return what an answer tells that we have not heard, None if nothing or if it is not live."""
        if message.get("status") != "live":
            return None
        held, mark = self._held, (message["version"], message["n"])
        first = held is None or held[0] != mark[0]
        told: dict[str, Any] = {"id": self._id, "version": mark[0], "n": mark[1], "at": message["at"]}
        if held is None or first:
            told |= {"kind": "snapshot", "sql": message.get("sql")}
        else:
            told |= {"kind": "change", "changes": max(1, mark[1] - held[1]), "conflated": mark[1] > held[1] + 1}
        if message.get("form") in (BAG, LIST):
            told |= self._rows(message, first)
        else:
            told |= {"new": message["answer"]} | ({} if first else {"old": self._answer.answer})
        return self._news(msgspec.convert(told, Delivery))

    def _rows(self, message: dict[str, Any], first: bool) -> dict[str, Any]:
        """Return what a delivery says of a current answer of rows: all of it, or what is new to us."""
        form, key = message["form"], message.get("key")
        if "answer" not in message:
            nothing = {"form": form, "key": key, "removed": [], "added": []}
            return nothing | ({"snapshot": "none"} if first else {"kind": "resync", "whole": "look", "changes": 1})
        rows = [tuple(row) for row in message["answer"]]
        if first or not self._answer.whole:
            added = list(enumerate(rows)) if form == LIST else rows
            whole = {} if first else {"kind": "resync", "whole": True, "changes": 1}
            return {"form": form, "key": key, "removed": [], "added": added} | whole
        removed, came = _listed(self._answer.answer, rows) if form == LIST else _counted(self._answer.rows, rows)
        return {"key": key, "removed": removed, "added": came}

    def _news(self, told: Delivery) -> Delivery | None:
        self._answer.take(told)
        mark = told.version, told.n
        if told.version < self._version or (mark == self._held and told.kind != "resync"):
            return None
        self._held = mark
        return told


def _redirected(edge: HttpAddress, target: str, location: str) -> tuple[HttpAddress, str]:
    """Return the edge, and what to ask it for. Raises _Broken, and UserError where it would be asked in clear."""
    there = urlsplit(urljoin(f"{edge.scheme}://{edge.authority}{target}", location))
    try:
        next_edge = parse_address(f"{there.scheme}://{there.netloc}")
    except ValueError:
        raise _Broken(f"{edge.label} sends us to {location!r}, which is no edge") from None
    if edge.scheme == "https" and next_edge.scheme != "https":
        raise UserError(
            f"the edge at {edge.label} sends us to {next_edge.url}, without TLS: we do not go there. "
            "Give every edge an `https://` address in `http_advertised`."
        )
    return next_edge, there.path + (f"?{there.query}" if there.query else "")


def _counted(held: Counter[Row], rows: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """Return what is to be removed from a bag and added to it."""
    now = Counter(rows)
    return list((held - now).elements()), list((now - held).elements())


def _listed(held: Any, rows: Sequence[Row]) -> tuple[list[tuple[int, Row]], list[tuple[int, Row]]]:
    """Return what is to be removed from a list and added to it, with places."""
    before, after = ([msgspec.json.encode(row).decode() for row in one] for one in (held, rows))
    removed, added = list_difference(before, after)
    return [(place, held[place]) for place, _ in removed], [(place, rows[place]) for place, _ in added]
