"""When a subscriber is told, for how long, and in which form: the options that stand behind a subscription's SELECT.

    NOTIFY EVERY CHANGE          each change, one by one (the default)
    NOTIFY LATEST                at most once a batch, the last answer
    NOTIFY MIN CHANGE 0.5        when the answer has moved by at least 0.5 from the one told last
    NOTIFY MIN CHANGE 5 %        the same, as a share of the one told last
    NOTIFY TRANSITIONS           of rows: when one comes into the answer or leaves it, not when it changes within it
    NOTIFY ENTER                 of rows: when one comes into the answer
    NOTIFY FINAL                 once, when the answer has become final; then the subscription ends
    TTL 3600                     the subscription ends after so many seconds (or: 90 SECONDS, MINUTES, HOURS, DAYS)
    DELIVER RECORDS              a record for each delivery (the default)
    DELIVER PACKED               many deliveries in one record (`overlay/delivery/packed_deliveries.py`)
    DELIVER PUSH                 no record: only those who listen over HTTP at the time are told
    SNAPSHOT NONE                of rows: begin without those that are in the answer already

They are no SQL, so they are cut off before the parser sees the statement: they are its last tokens, in any order.
Strings, quoted names and comments are the tokenizer's business, so nothing in them is taken for an option.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

import msgspec
from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import Token, TokenType

from catalog.sql.statement_text import tokens_of

MAX_TTL_SECONDS = 100 * 366 * 86_400
OPTION_WORDS = ("NOTIFY", "TTL", "DELIVER", "SNAPSHOT")
"""The words that begin an option."""
GRAMMAR = (
    "Behind the statement, as its end and in any order: NOTIFY EVERY CHANGE, NOTIFY LATEST, NOTIFY MIN CHANGE 0.5, "
    "NOTIFY MIN CHANGE 5 %, NOTIFY TRANSITIONS, NOTIFY ENTER or NOTIFY FINAL; TTL 90, or TTL 2 MINUTES, HOURS or DAYS; "
    "DELIVER RECORDS, DELIVER PACKED or DELIVER PUSH; SNAPSHOT NONE."
)
_SECONDS = {"SECOND": 1, "MINUTE": 60, "HOUR": 3_600, "DAY": 86_400}
_UNITS = {unit + s: seconds for unit, seconds in _SECONDS.items() for s in ("", "S")}
_AMOUNT = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_MOST_DIGITS = 100
_NO_END = frozenset({TokenType.DOT, TokenType.ALIAS})


class Notify(msgspec.Struct, frozen=True):
    """A policy.

    `kind` is `every`, `latest`, `transitions`, `enter`, `final` or, with `amount` and `percent`, `min_change`.
    """

    kind: str = "every"
    amount: Decimal = Decimal(0)
    percent: bool = False

    @property
    def text(self) -> str:
        """The policy as it is written.

        >>> Notify("min_change", Decimal("0.5"), True).text
        'MIN CHANGE 0.5 %'
        """
        if self.kind == "min_change":
            return f"MIN CHANGE {self.amount:f}{' %' if self.percent else ''}"
        return "EVERY CHANGE" if self.kind == "every" else self.kind.upper()


EVERY_CHANGE = Notify()
RECORDS, PACKED, PUSH = FORMS = ("records", "packed", "push")
"""How deliveries are written."""
ROWS, NONE = "rows", "none"
"""What an answer of rows begins with."""
FINAL = "final"
"""The kind of the policy that waits for the last answer."""
_POLICIES = {word: Notify(word.lower()) for word in ("LATEST", "TRANSITIONS", "ENTER", "FINAL")}
"""Policies of one word."""


class Options(NamedTuple):
    """What stands behind a statement; None where nothing is said. `end` is where the statement itself ends."""

    end: int
    notify: Notify | None = None
    ttl: int | None = None
    deliver: str | None = None
    snapshot: str | None = None


class OptionRefused(ValueError):
    """An option is not as it should be; `start` and `end` are its place, `hint` says what would be right."""

    def __init__(self, what: str, start: int, end: int, hint: str = GRAMMAR, code: str = "malformed") -> None:
        self.start = start
        self.end = end
        self.hint = hint
        self.code = code
        super().__init__(what)


def read_options(sql: str) -> Options:
    """Return the options at the end of `sql`.

    Cost: 0.4 us where none of their words is in the text, else that of its tokens, 0.5 us a character.
    Raises OptionRefused where all of the end is options, but one is said twice or its value is out of range.
    """
    upper = sql.upper()
    if not any(word in upper for word in OPTION_WORDS):
        return Options(len(sql))
    try:
        tokens = tokens_of(sql)
    except TokenError:
        return Options(len(sql))
    for first, token in enumerate(tokens):
        if is_option_word(token, sql) and not (first and tokens[first - 1].token_type in _NO_END):
            try:
                read = _read_to_end(sql, tokens, first)
            except _NoOption:
                continue
            return read._replace(end=len(sql[: token.start].rstrip()))
    return Options(len(sql))


@lru_cache(4096)
def read_tail(tail: str) -> Options | None:
    """Return the options that `tail` consists of, None if it is anything else. Cost: 0.1 us for one seen lately."""
    try:
        options = read_options(tail)
    except OptionRefused:
        return None
    return options if not tail[: options.end].strip(" ;\t\r\n") else None


@lru_cache(1024)
def read_policy(text: str) -> Notify | None:
    """Return the policy that `text` names, as it stands behind NOTIFY; None if it names none.

    >>> read_policy("min change 5%").text
    'MIN CHANGE 5 %'
    """
    sql = f"NOTIFY {text}"
    try:
        tokens = tokens_of(sql)
        notify, behind = _notify(_Tokens(sql, tokens), 1)
    except (TokenError, OptionRefused, _NoOption):
        return None
    return notify if behind == len(tokens) else None


def is_option_word(token: Token, sql: str) -> bool:
    """Whether a token is an unquoted word that begins an option."""
    return sql[token.start] not in "'\"" and token.text.upper() in OPTION_WORDS


def fault_at(sql: str, tokens: Sequence[Token], first: int) -> OptionRefused | None:
    """Say what keeps the tokens from number `first` on from being options; None if they are.

    The first of them is a word that begins an option.
    """
    try:
        _read_to_end(sql, tokens, first)
    except _NoOption as fault:
        return OptionRefused(fault.what, fault.start, fault.end, code="syntax")
    except OptionRefused as fault:
        return fault
    return None


class _NoOption(Exception):
    """Tokens are no option: what is wrong at [start, end) of the text."""

    def __init__(self, what: str, start: int, end: int) -> None:
        super().__init__(what)
        self.what = what
        self.start = start
        self.end = end


class _Tokens:
    """The tokens of a text by number, beyond whose last one there are empty words."""

    def __init__(self, sql: str, tokens: Sequence[Token]) -> None:
        self.sql = sql
        self.tokens = tokens

    def word(self, at: int) -> str:
        """Return an unquoted token in upper case; a quoted one, which is no word, as it is written."""
        written = self.written(at)
        return written if written[:1] in ("'", '"') else written.upper()

    def written(self, at: int) -> str:
        """Return a token as it is written."""
        return self.sql[self.tokens[at].start : self.tokens[at].end + 1] if at < len(self.tokens) else ""

    def place(self, first: int, behind: int) -> tuple[int, int]:
        """Return where tokens stand; those beyond the end where the last one does."""
        last = len(self.tokens) - 1
        return self.tokens[min(first, last)].start, self.tokens[min(max(behind - 1, first), last)].end + 1

    def wrong(self, at: int, expected: str) -> _NoOption:
        """Return the exception that token `at` is not what is expected."""
        before, behind = self.written(at - 1), at + 1
        while self._touch(behind):
            behind += 1
        if at < len(self.tokens):
            start, end = self.place(at, behind)
            return _NoOption(f"`{self.sql[start:end][:60]}` behind `{before}` is not {expected}", start, end)
        return _NoOption(f"`{before}` is followed by nothing, not by {expected}", *self.place(at - 1, at))

    def _touch(self, at: int) -> bool:
        """Whether nothing lies between token `at` and the one before it, such as in `-1` and `.5`."""
        known = at < len(self.tokens) and self.written(at) not in (";", ",", ")")
        return known and self.tokens[at - 1].end + 1 == self.tokens[at].start


def _read_to_end(sql: str, tokens: Sequence[Token], first: int) -> Options:
    """Read tokens as options up to the last. Raises _NoOption and OptionRefused."""
    text, options, at = _Tokens(sql, tokens), Options(len(sql)), first
    while at < len(tokens):
        begin, word = at, text.word(at)
        if word == ";":
            at += 1
            continue
        if word == "NOTIFY":
            notify, at = _notify(text, at + 1)
            given = options._replace(notify=notify)
        elif word == "TTL":
            ttl, at = _ttl(text, at + 1)
            given = options._replace(ttl=ttl)
        elif word == "DELIVER":
            given, at = options._replace(deliver=_form(text, at + 1)), at + 2
        elif word == "SNAPSHOT":
            if text.word(at + 1) != "NONE":
                raise text.wrong(at + 1, "NONE")
            given, at = options._replace(snapshot=NONE), at + 2
        else:
            what = f"`{text.written(at)[:60]}` stands behind an option, and nothing but options may"
            raise _NoOption(what, *text.place(at, at + 1))
        if getattr(options, word.lower()) is not None:
            hint = "Say each option once."
            raise OptionRefused(f"{word} is said twice", *text.place(begin, at), hint)
        options = given
    return options


def _notify(text: _Tokens, at: int) -> tuple[Notify, int]:
    """Read a policy that begins at token `at`; return it, and which token stands behind it."""
    if (policy := _POLICIES.get(text.word(at))) is not None:
        return policy, at + 1
    if text.word(at) == "EVERY":
        if text.word(at + 1) != "CHANGE":
            raise text.wrong(at + 1, "CHANGE")
        return EVERY_CHANGE, at + 2
    if text.word(at) != "MIN":
        raise text.wrong(at, "a policy: EVERY CHANGE, LATEST, MIN CHANGE, TRANSITIONS, ENTER or FINAL")
    if text.word(at + 1) != "CHANGE":
        raise text.wrong(at + 1, "CHANGE")
    amount = text.written(at + 2)
    if not _AMOUNT.fullmatch(amount) or text.written(at + 3) == ".":
        raise text.wrong(at + 2, "an amount: digits, then a point and digits if it is a fraction, as in 0.5")
    if len(amount) > _MOST_DIGITS:
        what = f"the amount of MIN CHANGE has more than {_MOST_DIGITS} characters"
        raise OptionRefused(what, *text.place(at + 2, at + 3), "Write a shorter number.")
    percent = text.written(at + 3) == "%"
    return Notify("min_change", Decimal(amount), percent), at + 3 + percent


def _ttl(text: _Tokens, at: int) -> tuple[int, int]:
    count = text.written(at)
    if not (count.isascii() and count.isdigit()):
        raise text.wrong(at, "a whole number, as in TTL 90 or TTL 2 HOURS")
    seconds, behind = _UNITS.get(text.word(at + 1)), at + 2
    if seconds is None:
        seconds, behind = 1, at + 1
        if text.word(behind) not in ("", ";", *OPTION_WORDS):
            raise text.wrong(behind, "a unit: SECONDS, MINUTES, HOURS or DAYS")
    shown = f"{int(count) * seconds:,}" if len(count) <= 12 else f"more than {10**12 * seconds:,}"
    if len(count) > 12 or not 0 < int(count) * seconds <= MAX_TTL_SECONDS:
        what = f"TTL takes 1 second to 100 years, got {shown} seconds"
        raise OptionRefused(what, *text.place(at - 1, behind), "Write another time, as in TTL 90 or TTL 2 HOURS.")
    return int(count) * seconds, behind


def _form(text: _Tokens, at: int) -> str:
    if (form := text.word(at).lower()) not in FORMS:
        raise text.wrong(at, "a form: RECORDS, PACKED or PUSH")
    return form
