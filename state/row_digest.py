"""Digest: what is left of a bag of rows, in 24 bytes, so that two places can tell whether they hold the same bag.

Problem. An edge tells a subscriber which rows came and went and keeps none of them. After a new epoch it must know
whether the rows that were told are the rows that the shard has now, and only then send them all again.

Idea. Every row gets a number of 128 bits that nobody can guess without the key, and a bag is the sum of its rows'
numbers: whatever the order in which they came, and with -h(old) + h(new) for a row that changed.

      shard                                          edge
      rows that meet the filter, now                 rows told: a snapshot, then changes
      h(r1) + h(r2) + h(r3)           ==             h(r1) + h(r2) + h(r0) - h(r0) + h(r3)

A row's number is SipHash-2-4 with 128 bits of output over the words of the projected row:

      words    NULL bits of 64 columns each | a word a coded column: its code, 0 for NULL
                                            | two words a text column: the text's own number, 0 0 for NULL
      text     SipHash-2-4-128 over its UTF-8 bytes, under a key made of the key

So a number depends on codes and bytes alone: not on how a record or a table numbers its texts. The order and the
kinds of the columns count, and are the same wherever the same SELECT list is hashed. The two lanes are added modulo
2^64, each by itself. Rows with the number of another bag of the same count: 2^-128 for whoever does not have the key.

What was stored must be found again: the numbers are a format, with golden values in the test.
Cost: see `hashes`. Source: SipHash (Aumasson and Bernstein, 2012), and its 128-bit form of the reference code; bags by
sums (Clarke et al., incremental multiset hashes, 2003). Rows are hashed side by side, a word of all of them at a time,
so that the processor's vectors take several at once.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numba
import numpy as np
import numpy.typing as npt

from state.byte_table import Strings
from state.change_batch import I64, Bool

U64 = npt.NDArray[np.uint64]
U8 = npt.NDArray[np.uint8]
Texts = Strings | Sequence[str] | Sequence[bytes]

KEY_BYTES = 16
_BLOCK = 256
"""Rows that are hashed side by side: their states stay in the first cache."""
_MASK = 2**64 - 1
_TEXT = Strings.of([b"text"])
"""Whose number is the key of texts."""


class Digest(msgspec.Struct, frozen=True, array_like=True):
    """A bag of `count` rows: the sums of their numbers' lanes, modulo 2^64. Differences of bags are digests too.

    >>> bag = Digest(1, 5, 2**64 - 1)
    >>> bag + bag
    Digest(count=2, low=10, high=18446744073709551614)
    >>> bag - bag == Digest()
    True
    """

    count: int = 0
    low: int = 0
    high: int = 0

    @classmethod
    def of(cls, low: U64, high: U64) -> Digest:
        """Return the digest of the rows with these numbers, as `hashes` returns them. Cost: 1 ns each."""
        return cls(len(low), int(low.sum(dtype=np.uint64)), int(high.sum(dtype=np.uint64)))

    def __add__(self, other: Digest) -> Digest:
        return Digest(self.count + other.count, self.low + other.low & _MASK, self.high + other.high & _MASK)

    def __sub__(self, other: Digest) -> Digest:
        return Digest(self.count - other.count, self.low - other.low & _MASK, self.high - other.high & _MASK)


@numba.njit(cache=True)
def _rotated(x: np.uint64, by: int) -> np.uint64:
    return (x << np.uint64(by)) | (x >> np.uint64(64 - by))


@numba.njit(cache=True)
def _round(a: np.uint64, b: np.uint64, c: np.uint64, d: np.uint64) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
    """Mix the four words of a state once."""
    a, c = a + b, c + d
    b, d = _rotated(b, 13) ^ a, _rotated(d, 16) ^ c
    a = _rotated(a, 32)
    c, a = c + b, a + d
    b, d = _rotated(b, 17) ^ c, _rotated(d, 21) ^ a
    return a, b, _rotated(c, 32), d


@numba.njit(cache=True)
def _begin(key: U64, state: U64) -> None:
    """Begin states under `key`, the two words of it; a state is a column of four words."""
    for i in range(state.shape[1]):
        state[0, i] = key[0] ^ np.uint64(0x736F6D6570736575)
        state[1, i] = key[1] ^ np.uint64(0x646F72616E646F6D) ^ np.uint64(0xEE)
        state[2, i] = key[0] ^ np.uint64(0x6C7967656E657261)
        state[3, i] = key[1] ^ np.uint64(0x7465646279746573)


@numba.njit(cache=True)
def _absorb(state: U64, words: U64) -> None:
    """Take one word more into each state."""
    a, b, c, d = state[0], state[1], state[2], state[3]
    for i in range(len(words)):
        w = words[i]
        p, q, r, s = _round(a[i], b[i], c[i], d[i] ^ w)
        p, q, r, s = _round(p, q, r, s)
        a[i], b[i], c[i], d[i] = p ^ w, q, r, s


@numba.njit(cache=True)
def _finish(state: U64, low: U64, high: U64) -> None:
    """Write the number of each state."""
    a, b, c, d = state[0], state[1], state[2], state[3]
    for i in range(len(low)):
        p, q, r, s = _round(a[i], b[i], c[i] ^ np.uint64(0xEE), d[i])
        p, q, r, s = _round(p, q, r, s)
        p, q, r, s = _round(p, q, r, s)
        p, q, r, s = _round(p, q, r, s)
        low[i] = p ^ q ^ r ^ s
        p, q, r, s = _round(p, q ^ np.uint64(0xDD), r, s)
        p, q, r, s = _round(p, q, r, s)
        p, q, r, s = _round(p, q, r, s)
        p, q, r, s = _round(p, q, r, s)
        high[i] = p ^ q ^ r ^ s


@numba.njit(cache=True)
def _hash_rows(key: U64, words: U64, last: U64, block: int, low: U64, high: U64) -> None:
    """Hash rows, `words[w, i]` word w of row i; `last` is the word that says how many bytes there were."""
    for first in range(0, len(low), block):
        stop = min(first + block, len(low))
        state = np.empty((4, stop - first), np.uint64)
        _begin(key, state)
        for w in range(len(words)):
            _absorb(state, words[w, first:stop])
        _absorb(state, last[: stop - first])
        _finish(state, low[first:stop], high[first:stop])


@numba.njit(cache=True)
def _hash_texts(key: U64, data: U8, starts: I64, stops: I64, low: U64, high: U64) -> None:
    """Hash byte strings, eight bytes a word and the rest with the length."""
    state, word = np.empty((4, 1), np.uint64), np.empty(1, np.uint64)
    for i in range(len(low)):
        _begin(key, state)
        at, stop = starts[i], stops[i]
        word[0] = np.uint64(0)
        for k in range(stop - at):
            word[0] |= np.uint64(data[at + k]) << np.uint64(8 * (k & 7))
            if k & 7 == 7:
                _absorb(state, word)
                word[0] = np.uint64(0)
        word[0] |= np.uint64(stop - at) << np.uint64(56)
        _absorb(state, word)
        _finish(state, low[i : i + 1], high[i : i + 1])


ENTRIES = (_hash_rows, _hash_texts)
"""The kernels that are called from Python."""


def hashes(
    key: bytes, columns: Sequence[I64], valid: Sequence[Bool] | Bool, texts: Sequence[Texts | None]
) -> tuple[U64, U64]:
    """Return the number of each of m projected rows, as two lanes.

    Column c of the projection is `columns[c]`, int64[m]: order codes where `texts[c]` is None, else places in
    `texts[c]`. Where `valid[c]`, bool[m], is False there is NULL, and the code or place counts for nothing.
    Cost: 15 to 20 ns a row of 6 columns, 80 ns and 1 ns a byte for each of the `texts` (give each distinct one once),
    and 20 us a call. Raises ValueError for a key that has not 16 bytes, or no columns.
    """
    if len(key) != KEY_BYTES or not len(columns):
        raise ValueError(f"cannot hash rows: expected a key of {KEY_BYTES} bytes and a column, got {len(key)} bytes "
                         f"and {len(columns)} columns")  # fmt: skip
    words: list[U64] = [_null_bits(valid[first : first + 64]) for first in range(0, len(columns), 64)]
    lanes = _words_of_key(key)
    text_key = lanes if texts.count(None) == len(texts) else np.concatenate(_text_numbers(lanes, _TEXT))
    for codes, there, text in zip(columns, valid, texts, strict=True):
        if text is None:
            words.append(np.where(there, codes, 0).view(np.uint64))
        else:
            words += _words_of_texts(text_key, codes, there, text)
    m = len(columns[0])
    last = np.full(min(m, _BLOCK), (8 * len(words) & 0xFF) << 56, np.uint64)
    low, high = np.empty(m, np.uint64), np.empty(m, np.uint64)
    _hash_rows(lanes, np.stack(words), last, _BLOCK, low, high)
    return low, high


def warm() -> None:
    """Compile or load the kernels, and refuse to compile them again. Cost: 3 s the first time on a machine."""
    place = np.zeros(1, np.int64)
    hashes(bytes(KEY_BYTES), [place, place], np.ones((2, 1), np.bool_), [None, ["a"]])
    for kernel in ENTRIES:
        if hasattr(kernel, "disable_compile"):
            kernel.disable_compile()


def _words_of_key(key: bytes) -> U64:
    return np.frombuffer(key, "<u8").astype(np.uint64)


def _null_bits(valid: Sequence[Bool] | Bool) -> U64:
    """Return a word a row: bit c is set where column c is NULL."""
    bits = np.zeros(len(valid[0]), np.uint64)
    for c, there in enumerate(valid):
        bits |= (~there).astype(np.uint64) << np.uint64(c)
    return bits


def _words_of_texts(key: U64, places: I64, there: Bool, texts: Texts) -> list[U64]:
    """Return both words of a text column."""
    strings = texts if isinstance(texts, Strings) else Strings.of(texts)
    at = np.where(there, places, len(strings))
    return [np.append(lane, np.uint64(0))[at] for lane in _text_numbers(key, strings)]


def _text_numbers(key: U64, strings: Strings) -> tuple[U64, U64]:
    low, high = np.empty(len(strings), np.uint64), np.empty(len(strings), np.uint64)
    _hash_texts(key, *strings.views, low, high)
    return low, high
