"""The key under which shards and edges hash rows: 16 bytes that all parts of an installation know, and nobody else.

It is made of the id that Kafka gave the topic `subscriptions` when it was created: 122 random bits, the same for
every engine and edge on it whatever checkpoint or state they begin with.
"""

from __future__ import annotations

import hashlib

KEY_BYTES = 16


def digest_key(topic_id: str) -> bytes:
    """Return the key of an installation whose topic `subscriptions` has this id, as its clients write it.

    >>> len(digest_key("bTk1x6v7Q3CkZ0q8q6h8Zw"))
    16
    """
    return hashlib.blake2b(topic_id.encode(), digest_size=KEY_BYTES).digest()
