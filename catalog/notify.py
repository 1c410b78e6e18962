"""When a subscriber is told, for how long, and in which form: the options that stand behind a subscription's SELECT.

    NOTIFY EVERY CHANGE          each change, one by one (the default)
    NOTIFY LATEST                at most once a batch, the last answer
    NOTIFY MIN CHANGE 0.5        when the answer has moved by at least 0.5 from the one told last
    NOTIFY MIN CHANGE 5 %        the same, as a share of the one told last
    TTL 3600                     the subscription ends after so many seconds (or: 90 SECONDS, MINUTES, HOURS, DAYS)
    DELIVER RECORDS              a record for each delivery (the default)
    DELIVER PACKED               many deliveries in one record (`overlay/packed_deliveries.py`)
    DELIVER PUSH                 no record: only those who listen over HTTP at the time are told

They are no SQL, so they are cut off before a parser sees the statement: from its end, one after the other.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import NamedTuple

import msgspec

MAX_TTL_SECONDS = 100 * 366 * 86_400
_SECONDS = {"SECOND": 1, "MINUTE": 60, "HOUR": 3_600, "DAY": 86_400}
_NOTIFY = r"EVERY\s+CHANGE|LATEST|MIN\s+CHANGE\s+(?P<amount>[0-9]+(?:\.[0-9]+)?)\s*(?P<percent>%?)"
_TTL = r"(?P<count>[0-9]{1,12})(?:\s+(?P<unit>SECOND|MINUTE|HOUR|DAY)S?)?"
_FORM = r"DELIVER\s+(?P<deliver>RECORDS|PACKED|PUSH)"
_OPTION = re.compile(rf"\s(?:NOTIFY\s+(?P<notify>{_NOTIFY})|TTL\s+(?P<ttl>{_TTL})|{_FORM})\s*;?\s*$", re.IGNORECASE)
_POLICY = re.compile(_NOTIFY, re.IGNORECASE)
_LONGEST = 120
"""Characters that one option can take, blanks included; what stands farther from the end is none."""


class Notify(msgspec.Struct, frozen=True):
    """A policy. `kind` is `every`, `latest` or `min_change`; `amount` and `percent` are for the last."""

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
            return f"MIN CHANGE {self.amount}{' %' if self.percent else ''}"
        return "LATEST" if self.kind == "latest" else "EVERY CHANGE"


EVERY_CHANGE = Notify()
RECORDS, PACKED, PUSH = FORMS = ("records", "packed", "push")
"""How deliveries are written."""


class Options(NamedTuple):
    """What stands behind a statement; None where nothing is said. `end` is where the statement itself ends."""

    end: int
    notify: Notify | None = None
    ttl: int | None = None
    deliver: str | None = None


class OptionRefused(ValueError):
    """An option is said twice, or its value is out of range. `start` and `end` are its place in the text."""

    def __init__(self, what: str, start: int, end: int) -> None:
        self.start = start
        self.end = end
        super().__init__(what)


def read_options(sql: str) -> Options:
    """Return the options at the end of `sql`.

    Cost: 0.2 us where there are none. Raises OptionRefused.
    """
    options = Options(len(sql))
    tail = sql[-_LONGEST:].upper()
    while "NOTIFY" in tail or "TTL" in tail or "DELIVER" in tail:
        start = max(options.end - _LONGEST, 0)
        match = _OPTION.search(sql[start : options.end])
        if match is None or _in_comment(sql, start + match.start()):
            break
        options = _with(options, match, start)
        tail = sql[: options.end][-_LONGEST:].upper()
    return options


def read_policy(text: str) -> Notify | None:
    """Return the policy that `text` names, as it stands behind NOTIFY; None if it names none.

    >>> read_policy("min change 5%").text
    'MIN CHANGE 5 %'
    """
    match = _POLICY.fullmatch(text.strip()) if len(text) <= _LONGEST else None
    return None if match is None else _policy(match)


def _with(options: Options, match: re.Match[str], start: int) -> Options:
    place = (start + match.start() + 1, start + match.end())
    if match["notify"] is not None:
        if options.notify is not None:
            raise OptionRefused("NOTIFY is said twice", *place)
        return options._replace(end=start + match.start(), notify=_policy(match))
    if match["deliver"] is not None:
        if options.deliver is not None:
            raise OptionRefused("DELIVER is said twice", *place)
        return options._replace(end=start + match.start(), deliver=match["deliver"].lower())
    if options.ttl is not None:
        raise OptionRefused("TTL is said twice", *place)
    seconds = int(match["count"]) * _SECONDS[(match["unit"] or "SECOND").upper()]
    if not 0 < seconds <= MAX_TTL_SECONDS:
        raise OptionRefused(f"TTL takes 1 second to 100 years, got {seconds:,} seconds", *place)
    return options._replace(end=start + match.start(), ttl=seconds)


def _policy(match: re.Match[str]) -> Notify:
    if match["amount"] is not None:
        return Notify("min_change", Decimal(match["amount"]), bool(match["percent"]))
    word = match["notify"] if "notify" in match.re.groupindex else match[0]
    return Notify("latest") if word.strip().upper() == "LATEST" else EVERY_CHANGE


def _in_comment(sql: str, place: int) -> bool:
    """Whether a comment may have begun in the line before `place`."""
    line = sql[sql.rfind("\n", 0, place) + 1 : place]
    return "--" in line or sql.rfind("/*", 0, place) > sql.rfind("*/", 0, place)
