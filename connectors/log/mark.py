"""What each commit of the log of publications says about itself: which writer, which offsets, what was missed.

The mark is Delta's `userMetadata` of the commit, so it stands there in the same instant as the rows, or not at all. It
is what the next writer goes on from: no other place remembers how far the log has come.

    number   0      1      2              one more with each commit, whoever writes it
    end      s/0=3  s/0=7  s/0=7, b/0=2   where every partition ever logged ends, exclusive
"""

from __future__ import annotations

from typing import Any

import msgspec

FORMAT = 1
Offsets = dict[str, dict[str, int]]
"""topic -> partition (as text) -> offset."""


class Gap(msgspec.Struct, frozen=True):
    """Records [`start`, `end`) of a partition had been trimmed when the log came to them."""

    topic: str
    partition: int
    start: int
    end: int


class LogMark(msgspec.Struct, frozen=True, kw_only=True, tag="tidewire-log", tag_field="kind"):
    """The mark of one commit.

    `home` is the id of the catalog's topic: a log belongs to one prefix of one cluster. `writer` is the random id of
    the run that wrote it. `ids` has the id of each topic in `end`: a topic that was deleted and created again
    begins at 0 again. `gaps` are all known ones.
    """

    home: str
    writer: str
    number: int
    time: str
    ids: dict[str, str] = {}
    end: Offsets = {}
    gaps: list[Gap] = []
    format: int = FORMAT


_DECODER = msgspec.json.Decoder(LogMark)


def encode_mark(mark: LogMark) -> str:
    """Return the mark as JSON."""
    return msgspec.json.encode(mark).decode()


def decode_mark(text: str | None) -> LogMark | None:
    """Read a commit's user metadata; None if it is no mark."""
    if not text or '"tidewire-log"' not in text[:40]:
        return None
    try:
        return _DECODER.decode(text)
    except msgspec.DecodeError:
        return None


def mark_of_commit(data: bytes) -> LogMark | None:
    """Return the mark in a commit file of `_delta_log`, which is JSON lines; None if the commit has none."""
    for line in data.splitlines():
        if line.startswith(b'{"commitInfo"'):
            info: dict[str, Any] = msgspec.json.decode(line)["commitInfo"]
            return decode_mark(info.get("userMetadata"))
    return None


def moved(before: Offsets, ids: dict[str, str], after: LogMark) -> Offsets:
    """Return where the partitions of `after.end` began, for a commit that follows `before` with topics `ids`.

    A topic of another id than before begins at 0.
    """
    return {
        topic: {
            partition: before.get(topic, {}).get(partition, 0) if ids.get(topic) == after.ids.get(topic) else 0
            for partition in ends
        }
        for topic, ends in after.end.items()
    }
