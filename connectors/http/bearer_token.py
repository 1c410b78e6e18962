"""Bearer tokens: made at random, and known to an edge only by their hash.

A token has 256 random bits, so one round of SHA-256 hides it well enough: there is nothing to guess.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets

_HASH = re.compile(r"[0-9a-f]{64}")


def new_token() -> str:
    """Return a new token, of characters that need no quoting anywhere."""
    return secrets.token_urlsafe(32)


def hash_of(token: str) -> str:
    """Return what the settings say in place of a token."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def are_hashes(text: str) -> bool:
    """Whether `text` is one SHA-256 in hexadecimal, or several with blanks between."""
    return bool(text.split()) and all(_HASH.fullmatch(one) for one in text.lower().split())


def matches(token_hash: str, hashes: str) -> bool:
    """Whether a token's hash is among `hashes`."""
    return any(hmac.compare_digest(token_hash, one) for one in hashes.lower().split())
