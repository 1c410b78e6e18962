"""What `tidewire log` tells: how far the log reaches, how large it is, what it lacks."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec

from connectors.log.publication_log import PublicationLog


class LogPlace(msgspec.Struct, frozen=True):
    """A version and when it was committed."""

    version: int
    time: str


class LoggedTopic(msgspec.Struct, frozen=True):
    """Where each partition of a topic is logged up to (exclusive); `lives` says how often the topic was created."""

    topic: str
    ends: dict[str, int]
    lives: int


class MissingRecords(msgspec.Struct, frozen=True):
    """Records [`start`, `end`) that had been trimmed before they were logged."""

    topic: str
    partition: int
    start: int
    end: int


class LogOverview(msgspec.Struct, frozen=True):
    """Everything that `tidewire log` shows. `earliest` is the earliest version that can be replayed."""

    table: str
    earliest: LogPlace
    newest: LogPlace
    rows: int
    files: int
    bytes: int
    topics: list[LoggedTopic]
    gaps: list[MissingRecords]


def overview_of(log: PublicationLog) -> LogOverview:
    """Describe the log. *Raises* NoLog while it is empty."""
    newest = log.newest
    topics = [LoggedTopic(topic, ends, log.lives.count(topic)) for topic, ends in sorted(newest.mark.end.items())]
    gaps = [MissingRecords(gap.topic, gap.partition, gap.start, gap.end) for gap in newest.mark.gaps]
    size = log.size
    earliest, last = (LogPlace(one.version, iso_of(one.time)) for one in (log.earliest, newest))
    return LogOverview(log.uri, earliest, last, size.rows, size.files, size.bytes, topics, gaps)


def iso_of(millis: int) -> str:
    """Return milliseconds since 1970 as ISO text, in UTC."""
    return datetime.fromtimestamp(millis / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
