"""Subscription records as clients write them: strict reading, and what is said where one cannot be read."""

from __future__ import annotations

from typing import Any

import msgspec

from catalog.query.subscription_id import unknowable_id, wrong_id
from catalog.sql.notify import FORMS, MAX_TTL_SECONDS, PACKED, PUSH, RECORDS, read_policy
from connectors.json.reader import JsonReader, UnreadableJson
from connectors.kafka.partitioner import home_partition
from overlay.delivery.ack import WRONG_PARTITION, Refusal

MAX_REQUEST_BYTES = 65_536
_SHOWN_CHARACTERS = 40


class Request(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a client asks for: SQL, or a template whose `?` stand for `params` (str, int, Decimal, bool or None).

    `notify` is a policy as it stands behind NOTIFY, `ttl` is in seconds, `deliver` is one of `FORMS`: options
    that may stand in the SQL as well. `attributes` are what the subscriber is known to be (scalars by name), to a table
    with an audience.
    """

    sql: str | None = None
    template: str | None = None
    params: list[Any] | None = None
    notify: str | None = None
    ttl: int | None = None
    deliver: str | None = None
    attributes: dict[str, Any] | None = None


_READER = JsonReader(Request)


def read_request(value: bytes) -> Request | Refusal:
    """Read the value of a subscription record; fractions among the parameters stay exact (Decimal).

    Whatever the bytes are, they are a request or a refusal. Cost: O(len(value)), about 1 us for 100 bytes.
    """
    if len(value) > MAX_REQUEST_BYTES:
        return _malformed(f"is longer than {MAX_REQUEST_BYTES} bytes (got {len(value)})")
    try:
        request = _READER.read(value)
    except UnreadableJson as error:
        return _malformed(f"cannot be read: {error}")
    if (request.sql is None) == (request.template is None):
        return _malformed("must have exactly one of `sql` and `template`")
    if (request.template is None) != (request.params is None):
        return _malformed("must have `params` beside `template`, and only there")
    if any(isinstance(param, list | dict) for param in request.params or ()):
        return _malformed("must have plain values as `params`, no arrays or objects")
    if any(isinstance(value, list | dict) for value in (request.attributes or {}).values()):
        return _malformed("must have plain values as `attributes`, no arrays or objects")
    return _with_options(request)


def _with_options(request: Request) -> Request | Refusal:
    if request.notify is not None and read_policy(request.notify) is None:
        hint = "write EVERY CHANGE, LATEST, MIN CHANGE 0.5, MIN CHANGE 5 %, TRANSITIONS or ENTER"
        return Refusal("malformed", f"`notify` names no policy: {request.notify[:80]!r}", hint)
    if request.ttl is not None and not 0 < request.ttl <= MAX_TTL_SECONDS:
        return Refusal("malformed", f"`ttl` is {_cut(str(request.ttl))}, expected 1 to {MAX_TTL_SECONDS} seconds")
    if request.deliver not in (None, *FORMS):
        listed = f"`{RECORDS}`, `{PACKED}` or `{PUSH}`"
        return Refusal("malformed", f"`deliver` is {request.deliver[:80]!r}, expected {listed}")
    return request


def refuse_id(key: bytes, number: int, partitions: int, ends: bool = False) -> Refusal | None:
    """Say why a record with this key cannot be taken from partition `number`, or None if it can.

    `ends`: the record is a tombstone, which may end what an earlier version has taken.
    """
    wrong = unknowable_id(key) if ends else wrong_id(key)
    if wrong is not None:
        return Refusal("malformed", wrong, "choose another id")
    home = home_partition(key, partitions)
    if home == number:
        return None
    message = f"`{key.decode()}` belongs in partition {home} of {partitions}, its record came in partition {number}"
    hint = "partition by murmur2 of the key (librdkafka: partitioner=murmur2_random)"
    return Refusal(WRONG_PARTITION, message, hint)


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…"


def _malformed(what: str) -> Refusal:
    hint = 'send {"sql": "SELECT ..."} or {"template": "SELECT ... ?", "params": [...]}'
    return Refusal("malformed", f"the subscription's value {what}", hint)
