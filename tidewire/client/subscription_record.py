"""A subscription's record as a client writes it: the id as its key, the question as its value, numbers exact.

JSON has no NaN and no infinite numbers, and a text with half of a character has no bytes: such are refused here, with
what is wrong, before anything is written. Whether the question can be asked is for an edge to say.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal

import msgspec

from catalog.query.subscription_id import unknowable_id, wrong_name
from state.errors import UserError

_ENCODER = msgspec.json.Encoder(decimal_format="number")


def record_key(id: str) -> bytes:
    """Return the key of the subscription `id`. Raises UserError where no subscription can have it."""
    wrong = wrong_name(id)
    if wrong is not None:
        raise UserError(f"{wrong}. Choose another id.")
    return id.encode()


def ending_key(id: str) -> bytes:
    """Return the key of a tombstone for `id`; ids that an earlier version has taken can be ended. Raises UserError."""
    try:
        key = id.encode()
    except UnicodeEncodeError:
        return record_key(id)
    wrong = unknowable_id(key)
    if wrong is not None:
        raise UserError(f"{wrong}. Name the id of a subscription.")
    return key


def record_value(asked: Mapping[str, object]) -> bytes:
    """Return the value that asks this; a Decimal is written as the number that it is. Raises UserError."""
    params = asked.get("params")
    if isinstance(params, list):
        for place, param in enumerate(params, 1):
            _check(place, param)
    try:
        return _ENCODER.encode(asked)
    except UnicodeEncodeError as error:
        what = f"{error.object[max(error.start - 20, 0) : error.end + 20]!r}"
        raise UserError(f"a subscription must be Unicode text, got {what}. Write whole characters.") from None
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise UserError(f"a subscription must be JSON: {error}. Correct it.") from None


def _check(place: int, param: object) -> None:
    infinite = isinstance(param, float) and not math.isfinite(param)
    infinite = infinite or (isinstance(param, Decimal) and not param.is_finite())
    if infinite or isinstance(param, bytes | bytearray | memoryview):
        raise UserError(
            f"parameter {place} must be null, a boolean, a finite number or a text, got {str(param)[:40]}. Correct it."
        )
