"""Which subscriptions are registered, put together from the topics `subscriptions`, `acks` and `deliveries`."""

from __future__ import annotations

import json

import msgspec

from catalog.column_type import JsonValue
from tidewire.client import Client
from tidewire.records import Ack, Answer, Delivery, read_ack


class Registered(msgspec.Struct):
    """One registered subscription. `status` is live, accepted, refused, or `unanswered` where no edge has spoken.

    `version` and `query` are those of the newest record, `live_version` of what delivers now: they differ while a
    replacement is on its way, or was refused. `answer` is the newest delivered, None as well where none was read.
    """

    id: str
    status: str
    version: int
    query: str
    live_version: int | None = None
    n: int | None = None
    answer: Answer = None
    reason: str | None = None


def list_subscriptions(client: Client, answers: bool) -> list[Registered]:
    """Return what is registered, by id. *Cost*: reads the topics whole; `answers` adds that of the deliveries."""
    registered: dict[str, Registered] = {}
    for record in client.read(client.topics.subscriptions):
        id = (record.key or b"").decode(errors="replace")
        registered.pop(id, None)
        if record.value is not None:
            registered[id] = Registered(id, "unanswered", record.offset, query_text(record.value))
    for record in client.read(client.topics.acks):
        ack = read_ack(record.value) if record.value is not None else None
        if ack is not None and ack.id in registered:
            _acknowledge(registered[ack.id], ack)
    if answers:
        _add_answers(client, registered)
    return sorted(registered.values(), key=lambda one: one.id)


def query_text(value: bytes) -> str:
    """Return the query of a subscription record as a person reads it; the bytes themselves if it is none."""
    try:
        body = json.loads(value)
        if "template" in body:
            return f"{body['template']}  {json.dumps(body.get('params', []))}"
        return str(body["sql"])
    except (ValueError, KeyError, TypeError):
        return repr(value[:200])


def _acknowledge(one: Registered, ack: Ack) -> None:
    if ack.status == "live":
        one.live_version = ack.version
    if ack.version == one.version:
        one.status = ack.status
        one.reason = ack.message or ack.reason


def _add_answers(client: Client, registered: dict[str, Registered]) -> None:
    with client.deliveries(follow=False, from_beginning=True) as stream:
        for record in stream:
            one = registered.get(record.id) if isinstance(record, Delivery) else None
            if one is not None and isinstance(record, Delivery) and record.kind != "ended":
                one.live_version, one.n = record.version, record.n
                one.answer = record.new if record.added is None else _members(one.answer, record)


def _members(held: Answer, record: Delivery) -> list[JsonValue]:
    """Return the values of a SELECT DISTINCT after `record`; a snapshot begins anew."""
    before = held if isinstance(held, list) and record.kind != "snapshot" else []
    return [value for value in before if value not in (record.removed or [])] + list(record.added or [])
