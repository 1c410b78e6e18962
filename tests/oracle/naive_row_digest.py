"""Numbers of rows by the textbook: SipHash-2-4-128 on Python's integers, one row after the other."""

from __future__ import annotations

from collections.abc import Sequence

MASK = 2**64 - 1


def _turn(x: int, by: int) -> int:
    return (x << by | x >> 64 - by) & MASK


def siphash128(key: bytes, message: bytes) -> tuple[int, int]:
    k0, k1 = int.from_bytes(key[:8], "little"), int.from_bytes(key[8:], "little")
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D ^ 0xEE, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]

    def rounds(count: int) -> None:
        for _ in range(count):
            v[0] = v[0] + v[1] & MASK
            v[1] = _turn(v[1], 13) ^ v[0]
            v[0] = _turn(v[0], 32)
            v[2] = v[2] + v[3] & MASK
            v[3] = _turn(v[3], 16) ^ v[2]
            v[0] = v[0] + v[3] & MASK
            v[3] = _turn(v[3], 21) ^ v[0]
            v[2] = v[2] + v[1] & MASK
            v[1] = _turn(v[1], 17) ^ v[2]
            v[2] = _turn(v[2], 32)

    padded = message + bytes(7 - len(message) % 8) + bytes([len(message) & 0xFF])
    for at in range(0, len(padded), 8):
        word = int.from_bytes(padded[at : at + 8], "little")
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 0xEE
    rounds(4)
    low = v[0] ^ v[1] ^ v[2] ^ v[3]
    v[1] ^= 0xDD
    rounds(4)
    return low, v[0] ^ v[1] ^ v[2] ^ v[3]


def number(key: bytes, row: Sequence[int | str | None], kinds: Sequence[type]) -> tuple[int, int]:
    """Return the number of a row whose columns are of the kinds `int` (codes) and `str`."""
    text_key = b"".join(lane.to_bytes(8, "little") for lane in siphash128(key, b"text"))
    nulls = sum(1 << c for c, value in enumerate(row) if value is None)
    words = [nulls >> at & MASK for at in range(0, len(row), 64)]
    for value, kind in zip(row, kinds, strict=True):
        if kind is int:
            words.append((value or 0) & MASK)  # type: ignore[operator]
        else:
            words += (0, 0) if value is None else siphash128(text_key, value.encode())  # type: ignore[union-attr]
    return siphash128(key, b"".join(word.to_bytes(8, "little") for word in words))
