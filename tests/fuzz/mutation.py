"""Damage: bytes of a sample of which some are exchanged, as parsers of outside bytes and of our own records meet it."""

from __future__ import annotations

from hypothesis import strategies as st

PIECES = [b"", b" ", b'"', b"{", b"}", b"[", b",", b":", b"\\", b"\0", b"\xff", b"null", b"1e9", b"-", b"\\ud800"]


def mutated(samples: st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    """Bytes of a sample with up to three places exchanged for something that matters to a parser."""
    cuts = st.tuples(st.floats(0, 1), st.integers(0, 8), st.one_of(st.sampled_from(PIECES), st.binary(max_size=4)))
    return st.builds(_mutate, samples, st.lists(cuts, max_size=3))


def damaged(samples: st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    """Bytes of a sample that are exchanged as above, cut off, or have bits flipped."""
    places = st.tuples(st.floats(0, 1), st.integers(0, 7))
    flipped = st.builds(_flip, samples, st.lists(places, min_size=1, max_size=4))
    cut = st.builds(lambda data, part: data[: int(part * len(data))], samples, st.floats(0, 1))
    return st.one_of(mutated(samples), flipped, cut)


def _flip(data: bytes, places: list[tuple[float, int]]) -> bytes:
    changed = bytearray(data)
    for place, bit in places:
        if changed:
            changed[min(int(place * len(changed)), len(changed) - 1)] ^= 1 << bit
    return bytes(changed)


def _mutate(data: bytes, cuts: list[tuple[float, int, bytes]]) -> bytes:
    for place, length, piece in cuts:
        start = int(place * len(data))
        data = data[:start] + piece + data[start + length :]
    return data
