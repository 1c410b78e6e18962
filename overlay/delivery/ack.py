"""Acknowledgements: what became of a subscription record; the newest of an id stays in the compacted topic.

    refused   {"id", "version", "status", "code", "message"[, "hint"]}
    accepted  {"id", "version", "status", "sql", "shape", "cost"}
    live      {"id", "version", "status", "at": {"epoch", "batch"}, "sql"[, "certainty"[, "final_at"]][, "expires"],
               "shape", "cost"}
    ended     {"id", "version", "status", "reason"}

`version` is the offset of the record that is answered; `shape` the canonical text of the shape;
`certainty` what may still become of an answer about streams, `final_at` when it becomes final;
`expires` the time of progress at which the subscription ends, where it has a TTL. Where the answer is a bag or a list
of rows, `"form":"bag"` or `"form":"list"` stands before `shape`.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from overlay.delivery.delivery import json_text

WRONG_PARTITION = "wrong_partition"
"""The code of a record's refusal outside its id's home. The ack stands where the record does, and so does `version`."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a subscription is not taken: a stable code, a message for a person, and what would work instead."""

    code: str
    message: str
    hint: str | None = None


def refused(name: str, version: int, refusal: Refusal) -> bytes:
    """Return the ack of a record that is not taken."""
    ack = {"id": name, "version": version, "status": "refused", "code": refusal.code, "message": refusal.message}
    if refusal.hint:
        ack["hint"] = refusal.hint
    return msgspec.json.encode(ack)


def ending(shape: str, cost: str, form: str | None = None) -> str:
    """Return what acks of subscriptions of one shape and cost share: how they end. `form`: `bag` or `list`."""
    said = f'"form":"{form}",' if form else ""
    return f'{said}"shape":{json_text(shape)},"cost":{json_text(cost)}}}'


def expiring(time: str) -> str:
    """Return what stands before `ending` where a subscription is to end at `time` (ISO 8601)."""
    return f'"expires":"{time}",'


def accepted(name: str, version: int, sql: str, end: str) -> bytes:
    """Return the ack of a subscription that is compiled and goes to its shard.

    `name` and `sql` are JSON texts, `end` is made by `ending`. Cost: 0.4 us.
    """
    return f'{{"id":{name},"version":{version},"status":"accepted","sql":{sql},{end}'.encode()


def live(name: str, version: int, at: str, sql: str, end: str) -> bytes:
    """Return the ack of a subscription whose snapshot has come; its answers hold from `at` (JSON) on. As `accepted`."""
    return f'{{"id":{name},"version":{version},"status":"live","at":{at},"sql":{sql},{end}'.encode()


def ended(name: str, version: int, reason: str) -> bytes:
    """Return the ack of a subscription that is over. `name` is a JSON text, `reason` a plain one. Cost: 0.4 us."""
    return f'{{"id":{name},"version":{version},"status":"ended","reason":"{reason}"}}'.encode()
