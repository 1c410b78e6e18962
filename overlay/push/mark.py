"""Marks: where a reader of a stream stands, as text that fits into the header `Last-Event-ID`.

    <epoch>:<version>.<n>,<version>.<n>,-        in the order of the stream's ids; `-` for one never heard of

Any client can write one from the messages that it got. It is all that resuming needs, so an edge keeps nothing for
readers that have left, and another edge takes over from it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_FORM = re.compile(r"(-1|\d{1,18}):((?:-|\d{1,18}\.\d{1,18})(?:,(?:-|\d{1,18}\.\d{1,18}))*)", re.ASCII)

Heard = tuple[int, int] | None
"""Version and n of the last message of a subscription that a reader has seen."""


@dataclass(frozen=True, slots=True)
class Mark:
    """`epoch` is the newest that the reader has heard of, -1 for none."""

    epoch: int
    heard: tuple[Heard, ...]

    @property
    def text(self) -> str:
        """The mark as it is sent. Cost: O(subscriptions of the stream)."""
        return mark_text(self.epoch, self.heard)


def mark_text(epoch: int, heard: Sequence[Heard]) -> str:
    """Return a mark's text."""
    return f"{epoch}:" + ",".join(["-" if one is None else f"{one[0]}.{one[1]}" for one in heard])


def read_mark(text: str, subscriptions: int) -> Mark | None:
    """Return the mark, None if it is none of a stream of so many subscriptions."""
    match = _FORM.fullmatch(text)
    if match is None:
        return None
    heard = tuple(_heard(part) for part in match[2].split(","))
    return Mark(int(match[1]), heard) if len(heard) == subscriptions else None


def _heard(part: str) -> Heard:
    if part == "-":
        return None
    version, n = part.split(".")
    return int(version), int(n)
