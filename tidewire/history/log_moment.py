"""A place in the log as a person writes it: a version of the table, or a moment."""

from __future__ import annotations

from datetime import UTC, datetime

from connectors.log.cut import Cut
from connectors.log.publication_log import PublicationLog
from state.errors import UserError

Moment = int | datetime

_LONGEST_VERSION = 18
"""Digits; no log has so many versions."""


class BadMoment(UserError):
    """Neither a version nor a moment."""

    code = "bad_moment"


def parse_moment(text: str) -> Moment:
    """Return the version (digits) or the moment (ISO 8601, in UTC where it names no zone) that `text` names.

    >>> parse_moment("17")
    17
    >>> parse_moment("2026-03-01T12:00").isoformat()
    '2026-03-01T12:00:00+00:00'

    Raises BadMoment.
    """
    if text.isascii() and text.isdigit() and len(text) <= _LONGEST_VERSION:
        return int(text)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise BadMoment(
            f"expected a version of the log, such as 17, or a moment, such as 2026-03-01T12:00, got {text[:80]!r}. "
            "`tidewire log` shows the versions."
        ) from error
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def cut_through(log: PublicationLog, moment: Moment | None) -> Cut:
    """Return the cut after version `moment`, or after all records up to that moment; without one, at the end.

    Raises TooOld, NoLog.
    """
    if moment is None:
        return log.newest.cut
    return log.at_version(moment) if isinstance(moment, int) else log.at_time(moment)


def cut_before(log: PublicationLog, moment: Moment | None) -> Cut:
    """Return the cut before version `moment`, or before the first records of that moment.

    Without one, before the earliest version. Raises TooOld, NoLog.
    """
    if moment is None:
        return log.before_version(log.earliest.version)
    return log.before_version(moment) if isinstance(moment, int) else log.at_time(moment, inclusive=False)
