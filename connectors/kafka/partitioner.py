"""Kafka's default partitioner, so that everyone agrees which virtual edge is a key's home."""

from __future__ import annotations

_M = 0x5BD1E995
_MASK = 0xFFFFFFFF


def murmur2(data: bytes) -> int:
    """Return the 32-bit murmur2 hash that the Java client uses (seed 0x9747b28c). Cost: O(len(data))."""
    length = len(data)
    h = (0x9747B28C ^ length) & _MASK
    whole = length & ~3
    for i in range(0, whole, 4):
        k = int.from_bytes(data[i : i + 4], "little")
        k = (k * _M) & _MASK
        k = ((k ^ (k >> 24)) * _M) & _MASK
        h = ((h * _M) & _MASK) ^ k
    if whole < length:
        h = ((h ^ int.from_bytes(data[whole:], "little")) * _M) & _MASK
    h = ((h ^ (h >> 13)) * _M) & _MASK
    return h ^ (h >> 15)


def home_partition(key: bytes, partitions: int) -> int:
    """Return the partition of `key` in a topic of `partitions` partitions."""
    return (murmur2(key) & 0x7FFFFFFF) % partitions
