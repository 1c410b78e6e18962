"""The grammar of JSON over bytes, compiled: each function takes a position and returns the one after, or -1.

-1 means "not plainly right", never "wrong": the record is then read by the exact decoder, which decides and
knows the reason. So these functions may refuse what they find too long or too deep, but they must never accept
what RFC 8259 or RFC 3629 forbids.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt

from state.kernel import kernel

U8 = npt.NDArray[np.uint8]
Scanned = tuple[int, np.uint64, int, int, bool, bool]

QUOTE, BACKSLASH, COMMA, COLON, POINT, MINUS, PLUS, ZERO, BLANK = 34, 92, 44, 58, 46, 45, 43, 48, 32
OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY = 123, 125, 91, 93
LOWER_B, LOWER_E, LOWER_F, LOWER_N, LOWER_R, LOWER_T, LOWER_U, SLASH = 98, 101, 102, 110, 114, 116, 117, 47
TRUE, FALSE, NULL_WORD = tuple(b"true"), tuple(b"false"), tuple(b"null")
MAX_DIGITS = 19
_EXPONENT_CAP = 1_000_000
_MAX_SKIP_DEPTH = 60

compiled = partial(kernel, _nrt=False)
"""Compiles without counting references: these functions allocate nothing, and counting took four fifths of the time."""

inlined = partial(kernel, _nrt=False, forceinline=True)
"""The same for what every member of every record passes through: it saves two fifths of the rest."""

_PLAIN = np.zeros(256, np.bool_)
_PLAIN[0x20:0x80] = True
_PLAIN[[QUOTE, BACKSLASH]] = False


@inlined
def skip_blanks(data: U8, at: int, stop: int) -> int:
    """Skip blanks, of which there may be none."""
    while at < stop and (data[at] == 32 or data[at] == 10 or data[at] == 13 or data[at] == 9):
        at += 1
    return at


@inlined
def is_word(data: U8, at: int, stop: int, word: tuple[int, ...]) -> bool:
    """Whether the bytes at `at` are those of `word`, a tuple of bytes."""
    same = at + len(word) <= stop
    for k in range(len(word)):
        same = same and data[at + k] == word[k]
    return same


@compiled
def _between(data: U8, at: int, stop: int, low: int, high: int) -> bool:
    return at < stop and low <= data[at] <= high


@compiled
def utf8_length(data: U8, at: int, stop: int) -> int:
    """Return the length of the character of two to four bytes at `at`, 0 if there is none (RFC 3629)."""
    lead = data[at]
    if lead < 0xC2 or lead > 0xF4:
        return 0
    low, high = 0x80, 0xBF
    if lead == 0xE0:
        low = 0xA0
    elif lead == 0xED:
        high = 0x9F
    elif lead == 0xF0:
        low = 0x90
    elif lead == 0xF4:
        high = 0x8F
    if not _between(data, at + 1, stop, low, high):
        return 0
    length = 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
    for k in range(2, length):
        if not _between(data, at + k, stop, 0x80, 0xBF):
            return 0
    return length


@compiled
def hex4(data: U8, at: int, stop: int) -> int:
    """Return the number that the four hexadecimal digits at `at` spell, -1 if they are none."""
    if at + 4 > stop:
        return -1
    number = 0
    for k in range(4):
        byte = int(data[at + k])
        if 48 <= byte <= 57:
            digit = byte - 48
        elif 97 <= byte | 32 <= 102:
            digit = (byte | 32) - 87
        else:
            return -1
        number = number * 16 + digit
    return number


@compiled
def escape_length(data: U8, at: int, stop: int) -> int:
    """Return the length of the escape at `at` (2, 6, or 12 for a surrogate pair), 0 if it is not a whole one."""
    if at + 1 >= stop:
        return 0
    byte = data[at + 1]
    if byte != LOWER_U:
        return 2 if byte in (QUOTE, BACKSLASH, SLASH, LOWER_B, LOWER_F, LOWER_N, LOWER_R, LOWER_T) else 0
    unit = hex4(data, at + 2, stop)
    if unit < 0 or 0xDC00 <= unit <= 0xDFFF:
        return 0
    if unit < 0xD800 or unit > 0xDFFF:
        return 6
    if at + 12 > stop or data[at + 6] != BACKSLASH or data[at + 7] != LOWER_U:
        return 0
    return 12 if 0xDC00 <= hex4(data, at + 8, stop) <= 0xDFFF else 0


@inlined
def string_end(data: U8, at: int, stop: int) -> int:
    """Return the position of the closing quote of the string whose text begins at `at`, or -1."""
    while at < stop:
        byte = data[at]
        if _PLAIN[byte]:
            at += 1
            continue
        if byte == QUOTE:
            return at
        length = escape_length(data, at, stop) if byte == BACKSLASH else utf8_length(data, at, stop)
        if length == 0:
            return -1
        at += length
    return -1


@inlined
def _digits(data: U8, at: int, stop: int, mantissa: np.uint64, digits: int) -> tuple[int, np.uint64, int]:
    """Append decimal digits to `mantissa`; `digits` counts the significant ones, also those it has no room for."""
    while at < stop and 48 <= data[at] <= 57:
        digit = np.uint64(data[at] - ZERO)
        if digits < MAX_DIGITS:
            mantissa = mantissa * np.uint64(10) + digit
        if digits > 0 or digit > 0:
            digits += 1
        at += 1
    return at, mantissa, digits


@inlined
def _exponent(data: U8, at: int, stop: int) -> tuple[int, int]:
    """Read what follows the `e`; the value stops growing at a million."""
    sign = 1
    if at < stop and (data[at] == MINUS or data[at] == PLUS):
        sign = -1 if data[at] == MINUS else 1
        at += 1
    first = at
    value = 0
    while at < stop and 48 <= data[at] <= 57:
        value = min(value * 10 + data[at] - ZERO, _EXPONENT_CAP)
        at += 1
    return (at if at > first else -1), sign * value


@inlined
def scan_number(data: U8, at: int, stop: int, leading_zeros: bool) -> Scanned:
    """Read a number: (end or -1, mantissa, exponent, significant digits, negative, integer literal).

    The value is mantissa * 10**exponent where there are at most `MAX_DIGITS` digits; with more, the mantissa is
    not all. `leading_zeros` allows them, as decimal strings do and JSON does not.
    """
    negative = at < stop and data[at] == MINUS
    first = at + 1 if negative else at
    at, mantissa, digits = _digits(data, first, stop, np.uint64(0), 0)
    wrong = at == first or (not leading_zeros and data[first] == ZERO and at > first + 1)
    exponent = 0
    integer = True
    if not wrong and at < stop and data[at] == POINT:
        integer = False
        first = at + 1
        at, mantissa, digits = _digits(data, first, stop, mantissa, digits)
        wrong = at == first
        exponent = first - at
    if not wrong and at < stop and data[at] | 32 == LOWER_E:
        integer = False
        at, shift = _exponent(data, at + 1, stop)
        exponent += shift
    return (-1 if wrong else at), mantissa, exponent, digits, negative, integer


@compiled
def skip_scalar(data: U8, at: int, stop: int) -> int:
    """Skip a string, a number or a word."""
    if at >= stop:
        return -1
    byte = data[at]
    if byte == QUOTE:
        return string_end(data, at + 1, stop) + 1 or -1
    if byte == LOWER_T:
        return at + 4 if is_word(data, at, stop, TRUE) else -1
    if byte == LOWER_F:
        return at + 5 if is_word(data, at, stop, FALSE) else -1
    if byte == LOWER_N:
        return at + 4 if is_word(data, at, stop, NULL_WORD) else -1
    return scan_number(data, at, stop, False)[0]


@compiled
def skip_name(data: U8, at: int, stop: int) -> int:
    """Skip a member's name and its colon, blanks included."""
    at = skip_blanks(data, at, stop)
    if at >= stop or data[at] != QUOTE:
        return -1
    end = string_end(data, at + 1, stop)
    if end < 0:
        return -1
    at = skip_blanks(data, end + 1, stop)
    return at + 1 if at < stop and data[at] == COLON else -1


@compiled
def _open(data: U8, at: int, stop: int) -> tuple[int, bool]:
    """Enter the object or array at `at`: (position of its first value or after its end, whether it was empty)."""
    inner = skip_blanks(data, at + 1, stop)
    if inner < stop and data[inner] == data[at] + 2:
        return inner + 1, True
    return (skip_name(data, inner, stop) if data[at] == OPEN_OBJECT else inner), False


@compiled
def skip_value(data: U8, at: int, stop: int) -> int:
    """Skip any JSON value, checking its grammar; the stack of open objects (1) and arrays (0) is one integer."""
    depth = 0
    stack = 0
    while at >= 0:
        at = skip_blanks(data, at, stop)
        ended = True
        if at < stop and (data[at] == OPEN_OBJECT or data[at] == OPEN_ARRAY):
            is_object = 1 if data[at] == OPEN_OBJECT else 0
            at, ended = _open(data, at, stop)
            if not ended:
                depth += 1
                stack = stack * 2 + is_object
                if depth > _MAX_SKIP_DEPTH:
                    return -1
        else:
            at = skip_scalar(data, at, stop)
        while ended and at >= 0 and depth > 0:
            at = skip_blanks(data, at, stop)
            is_object = stack & 1
            if at < stop and data[at] == COMMA:
                at = skip_name(data, at + 1, stop) if is_object else at + 1
                ended = False
            elif at < stop and data[at] == (CLOSE_OBJECT if is_object else CLOSE_ARRAY):
                at += 1
                depth -= 1
                stack >>= 1
            else:
                return -1
        if ended:
            return at
    return -1
