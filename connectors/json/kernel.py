"""Objects of JSON into columns of order codes, compiled: the fast path of format `json`.

`scan_records` reads each record's object by the plan of its relation and says which records are plainly right. All
others (wrong, or right in a way that is not worth compiled code) are left to the exact decoder. A later member
of the same name overwrites an earlier one, so that the last wins, as the rules want.

    out[field, column, record]   int64; one more column than the relation has
        CODE    order code, or the bits of a double      in the last column: 1 if the record is plainly right
        STATE   ABSENT, NULL, CODED or SPAN              in the last column: 1 if it has unknown members
        START   where the value's text begins and
        STOP    ends in the data, where STATE is SPAN

What compiled code does not finish, it leaves as a span of the text, to be finished a column at a time: text
itself (escapes are resolved when it is gathered), floats whose rounding needs more than 53 bits, and DECIMALs of
more than 18 digits. START and STOP are also set for floats that are finished.

Cost: 0.12 us for a record of 70 bytes. It was 1.2 us with fifteen arrays in two named tuples: numba counts references
to each of them in every function. Four arrays that are counted cost 0.3 us, not counted 0.2, and inlined 0.12.
"""

from __future__ import annotations

import numpy as np

from connectors.json.plan import KIND, LIMIT, NAME, NAME_STOP, NULLABLE, OPTIONAL, SCALE, JsonKind
from connectors.json.scan import (
    CLOSE_OBJECT,
    COLON,
    COMMA,
    FALSE,
    LOWER_F,
    LOWER_N,
    LOWER_T,
    MAX_DIGITS,
    MINUS,
    NULL_WORD,
    OPEN_OBJECT,
    POINT,
    QUOTE,
    TRUE,
    U8,
    ZERO,
    Scanned,
    compiled,
    inlined,
    is_word,
    scan_number,
    skip_blanks,
    skip_value,
    string_end,
)
from state.change_batch import I64

CODE, STATE, START, STOP = range(4)
ABSENT, NULL, CODED, SPAN = range(4)
_BOOLEAN, _INTEGER, _DOUBLE, _REAL = map(int, (JsonKind.BOOLEAN, JsonKind.INTEGER, JsonKind.DOUBLE, JsonKind.REAL))
_DECIMAL, _WIDE, _TEXT = map(int, (JsonKind.DECIMAL, JsonKind.WIDE, JsonKind.TEXT))
_DATE, _TIMESTAMP = int(JsonKind.DATE), int(JsonKind.TIMESTAMP)
_POWERS = np.array([10.0**k for k in range(23)])
_EXACT_MANTISSA = np.uint64(2**53)


@inlined
def _integer(text: Scanned, plan: I64, c: int) -> tuple[bool, int]:
    """Return (whether it fits, code) of a scanned number."""
    _, mantissa, _, digits, negative, literal = text
    limit = np.uint64(plan[c, LIMIT]) + np.uint64(1 if negative else 0)
    fits = literal and digits <= MAX_DIGITS and bool(mantissa <= limit)
    code = int(np.int64(mantissa))
    return fits, -code if negative else code


@inlined
def _decimal(text: Scanned, plan: I64, c: int) -> tuple[bool, int]:
    """Return (whether it fits, unscaled value at the column's scale) of a scanned number."""
    _, mantissa, exponent, digits, negative, _ = text
    ten = np.uint64(10)
    limit = np.uint64(plan[c, LIMIT])
    if digits > MAX_DIGITS:
        return False, 0
    zeros = exponent + plan[c, SCALE]
    while zeros < 0 and mantissa > 0 and mantissa % ten == 0:
        mantissa //= ten
        zeros += 1
    while zeros > 0 and 0 < mantissa <= limit:
        mantissa *= ten
        zeros -= 1
    fits = bool(mantissa == 0) or (zeros == 0 and bool(mantissa <= limit))
    code = int(np.int64(mantissa))
    return fits, -code if negative else code


@inlined
def _double(text: Scanned) -> tuple[bool, float]:
    """Return (whether one rounding gives it, the double): mantissa and power of ten must be exact doubles."""
    _, mantissa, exponent, digits, negative, _ = text
    if mantissa == 0 and digits <= MAX_DIGITS:
        return True, 0.0
    if digits > MAX_DIGITS or mantissa > _EXACT_MANTISSA or exponent < -22 or exponent > 22:
        return False, 0.0
    value = np.float64(mantissa)
    value = value / _POWERS[-exponent] if exponent < 0 else value * _POWERS[exponent]
    return True, -value if negative else value


@compiled
def _two_digits(data: U8, at: int) -> int:
    """Return the number that two bytes spell, -1 if one is no digit."""
    tens = int(data[at]) - ZERO
    ones = int(data[at + 1]) - ZERO
    return tens * 10 + ones if 0 <= tens <= 9 and 0 <= ones <= 9 else -1


@compiled
def _day(data: U8, at: int, stop: int) -> tuple[bool, int]:
    """Return (whether YYYY-MM-DD stands at `at`, days since 1970-01-01)."""
    if at + 10 > stop or data[at + 4] != MINUS or data[at + 7] != MINUS:
        return False, 0
    century, year, month, day = (
        _two_digits(data, at),
        _two_digits(data, at + 2),
        _two_digits(data, at + 5),
        _two_digits(data, at + 8),
    )
    if century < 0 or year < 0 or month < 1 or month > 12 or day < 1:
        return False, 0
    year += century * 100
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    length = (29 if leap else 28) if month == 2 else 30 if month in (4, 6, 9, 11) else 31
    if year == 0 or day > length:
        return False, 0
    shifted = year - (1 if month <= 2 else 0)
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return True, shifted * 365 + shifted // 4 - shifted // 100 + shifted // 400 + of_year - 719_468


@compiled
def _fraction(data: U8, at: int, stop: int) -> int:
    """Return the microseconds of a fraction of one to six digits from its point to `stop`, -1 if it is none."""
    if at == stop:
        return 0
    if data[at] != POINT or stop - at < 2 or stop - at > 7:
        return -1
    value = 0
    for k in range(1, 7):
        digit = int(data[at + k]) - ZERO if at + k < stop else 0
        if digit < 0 or digit > 9:
            return -1
        value = value * 10 + digit
    return value


@compiled
def _moment(data: U8, at: int, stop: int) -> tuple[bool, int]:
    """Return (whether a timestamp fills at..stop, microseconds since 1970-01-01)."""
    right, day = _day(data, at, stop)
    if not right or stop - at < 19 or (data[at + 10] != 84 and data[at + 10] != 32):
        return False, 0
    hour, minute, second = _two_digits(data, at + 11), _two_digits(data, at + 14), _two_digits(data, at + 17)
    micros = _fraction(data, at + 19, stop)
    right = 0 <= hour <= 23 and 0 <= minute <= 59 and 0 <= second <= 59 and micros >= 0
    right = right and data[at + 13] == 58 and data[at + 16] == 58
    return right, day * 86_400_000_000 + ((hour * 60 + minute) * 60 + second) * 1_000_000 + micros


@inlined
def _leave_span(at: int, stop: int, c: int, i: int, out: I64) -> None:
    out[START, c, i] = at
    out[STOP, c, i] = stop
    out[STATE, c, i] = SPAN


@inlined
def _take_quoted(data: U8, at: int, stop: int, c: int, i: int, plan: I64, out: I64) -> bool:
    """Take the text of a string as column c; return whether it is plainly right."""
    kind = plan[c, KIND]
    right, code = False, 0
    if kind == _TEXT:
        _leave_span(at, stop, c, i, out)
        return True
    if kind == _DATE:
        right, code = _day(data, at, stop)
        right = right and stop - at == 10
    elif kind == _TIMESTAMP:
        right, code = _moment(data, at, stop)
    elif kind in (_DECIMAL, _WIDE):
        text = scan_number(data, at, stop, True)
        if text[0] != stop:
            return False
        return _take_decimal(text, at, c, i, plan, out)
    out[CODE, c, i] = code
    out[STATE, c, i] = CODED
    return right


@inlined
def _take_decimal(text: Scanned, at: int, c: int, i: int, plan: I64, out: I64) -> bool:
    if plan[c, KIND] == _WIDE:
        _leave_span(at, text[0], c, i, out)
        return True
    right, out[CODE, c, i] = _decimal(text, plan, c)
    out[STATE, c, i] = CODED
    return right


@inlined
def _take_number(text: Scanned, at: int, c: int, i: int, plan: I64, out: I64) -> bool:
    """Take a scanned number as column c; return whether it is plainly right."""
    kind = plan[c, KIND]
    right = False
    if kind in (_DOUBLE, _REAL):
        direct, value = _double(text)
        _leave_span(at, text[0], c, i, out)
        out[CODE, c, i] = np.float64(value).view(np.int64)
        out[STATE, c, i] = CODED if direct else SPAN
        right = True
    elif kind in (_DECIMAL, _WIDE):
        right = _take_decimal(text, at, c, i, plan, out)
    elif kind == _INTEGER:
        right, out[CODE, c, i] = _integer(text, plan, c)
        out[STATE, c, i] = CODED
    return right


@inlined
def _take_word(data: U8, at: int, stop: int, c: int, i: int, plan: I64, out: I64) -> int:
    """Take true, false or null as column c; return the position after it or -1."""
    if data[at] == LOWER_N:
        out[STATE, c, i] = NULL
        out[CODE, c, i] = 0
        return at + 4 if plan[c, NULLABLE] and is_word(data, at, stop, NULL_WORD) else -1
    out[STATE, c, i] = CODED
    out[CODE, c, i] = 1 if data[at] == LOWER_T else 0
    if plan[c, KIND] != _BOOLEAN:
        return -1
    if data[at] == LOWER_T:
        return at + 4 if is_word(data, at, stop, TRUE) else -1
    return at + 5 if is_word(data, at, stop, FALSE) else -1


@inlined
def _take_value(data: U8, at: int, stop: int, c: int, i: int, plan: I64, out: I64) -> int:
    """Take the JSON value at `at` as column c; return the position after it or -1."""
    if at >= stop:
        return -1
    byte = data[at]
    if byte == QUOTE:
        end = string_end(data, at + 1, stop)
        return end + 1 if end >= 0 and _take_quoted(data, at + 1, end, c, i, plan, out) else -1
    if byte in (LOWER_N, LOWER_T, LOWER_F):
        return _take_word(data, at, stop, c, i, plan, out)
    text = scan_number(data, at, stop, False)
    return text[0] if text[0] >= 0 and _take_number(text, at, c, i, plan, out) else -1


@inlined
def _column_at(data: U8, at: int, stop: int, names: U8, plan: I64, guess: int) -> int:
    """Return the column named by at..stop, `guess` looked at first; -1 if there is none.

    -2 for a name with escapes that is not as the plan spells it: it may be a column all the same.
    """
    width = len(plan)
    for k in range(width):
        c = guess + k - width if guess + k >= width else guess + k
        first = plan[c, NAME]
        if stop - at == plan[c, NAME_STOP] - first:
            same = True
            for b in range(stop - at):
                same = same and data[at + b] == names[first + b]
            if same:
                return c
    for b in range(at, stop):
        if data[b] == 92:
            return -2
    return -1


@inlined
def _take_members(data: U8, at: int, stop: int, i: int, names: U8, plan: I64, out: I64) -> int:
    """Take the members of the object whose first byte after the brace is `at`; return the position after it or -1."""
    at = skip_blanks(data, at, stop)
    if at < stop and data[at] == CLOSE_OBJECT:
        return at + 1
    c = -1
    while at < stop and data[at] == QUOTE:
        end = string_end(data, at + 1, stop)
        if end < 0:
            return -1
        guess = c + 1 if 0 <= c < len(plan) - 1 else 0
        found = _column_at(data, at + 1, end, names, plan, guess)
        at = skip_blanks(data, end + 1, stop)
        if found == -2 or at >= stop or data[at] != COLON:
            return -1
        at = skip_blanks(data, at + 1, stop)
        if found >= 0:
            c = found
            at = _take_value(data, at, stop, c, i, plan, out)
        else:
            out[STATE, len(plan), i] = 1
            at = skip_value(data, at, stop)
        if at < 0:
            return -1
        at = skip_blanks(data, at, stop)
        if at < stop and data[at] == CLOSE_OBJECT:
            return at + 1
        if at >= stop or data[at] != COMMA:
            return -1
        at = skip_blanks(data, at + 1, stop)
    return -1


@inlined
def _is_complete(i: int, plan: I64, out: I64) -> bool:
    missing = False
    for c in range(len(plan)):
        missing |= out[STATE, c, i] == ABSENT and not plan[c, OPTIONAL]
    return not missing


@compiled
def scan_records(data: U8, offsets: I64, which: I64, names: U8, plan: I64, as_keys: bool, out: I64) -> None:
    """Read the records numbered `which`, record r being data[offsets[r]:offsets[r+1]], into places 0, 1, … of `out`.

    As keys, one column may come as its bare value, and a member that is no column makes the record not plain.
    """
    width = len(plan)
    first = np.int64(0)  # for a literal 0 numba would compile `_take_value` and all below it again
    for i in range(len(which)):
        stop = offsets[which[i] + 1]
        at = skip_blanks(data, offsets[which[i]], stop)
        if at < stop and data[at] == OPEN_OBJECT:
            at = _take_members(data, at + 1, stop, i, names, plan, out)
        else:
            at = _take_value(data, at, stop, first, i, plan, out) if as_keys and width == 1 else -1
        right = at >= 0 and skip_blanks(data, at, stop) == stop and _is_complete(i, plan, out)
        out[CODE, width, i] = right and not (as_keys and out[STATE, width, i])
