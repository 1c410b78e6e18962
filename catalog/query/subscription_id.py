"""What a subscription may be called: the one rule, asked at every door.

An id is 1 to `MAX_ID_BYTES` bytes of UTF-8 without control characters, line separators among them, and does not begin
with `@`, which tidewire's own keys do. It stands in logs, in lines of a terminal and in marks, so a character that ends
a line would let one id look like two.
"""

from __future__ import annotations

import re

MAX_ID_BYTES = 1_024
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_SHOWN = 100


def wrong_id(key: bytes) -> str | None:
    """Say in a sentence why no new subscription can have this id, None if one can. *Cost*: 1 us."""
    wrong = unknowable_id(key)
    if wrong is not None:
        return wrong
    control = _CONTROL.search(key.decode())
    if control is None:
        return None
    what = f"U+{ord(control[0]):04X} at place {control.start() + 1}"
    return f"a subscription's id must not hold control characters, got {key.decode()[:_SHOWN]!r} ({what})"


def unknowable_id(key: bytes) -> str | None:
    """Say why no subscription can ever have had this id, None if one can.

    Control characters were taken once: what is called so can still be ended.
    """
    if not 0 < len(key) <= MAX_ID_BYTES:
        return f"a subscription's id must have 1 to {MAX_ID_BYTES} bytes, got {len(key)}"
    try:
        key.decode()
    except UnicodeDecodeError as error:
        what = f"{error.reason} at byte {error.start + 1}"
        return f"a subscription's id must be UTF-8, got {key[:_SHOWN]!r}: {what}"
    if key[:1] == b"@":
        return f"ids that begin with `@` are reserved, got {key.decode()[:_SHOWN]!r}"
    return None


def wrong_name(name: str) -> str | None:
    """Say why no new subscription can be called `name`, None if one can: `wrong_id` of its bytes, if it has any."""
    try:
        return wrong_id(name.encode())
    except UnicodeEncodeError as error:
        what = f"half of a character, or a byte that is no UTF-8, at place {error.start + 1}"
        return f"a subscription's id must be UTF-8, got {name[:_SHOWN]!r}: {what}"
