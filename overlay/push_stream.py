"""One reader's stream: where it begins, what it has been told of each subscription, and how it ends.

It begins with the current answer of each subscription that is here: marked `conflated` where the reader's mark says
that it has missed more than this one, behind a `reset` where the mark is of another history (a prefix made anew, a
made-up mark): then nothing the reader holds can be trusted. What was committed while the answers were read is held
back until they are sent.

For the event loop only.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from urllib.parse import quote

from connectors.http_answer import Answer, Elsewhere, Found, Unknown
from connectors.http_stream import Portion
from connectors.partitioner import home_partition
from overlay.push_mailbox import Mailbox
from overlay.push_mark import read_mark
from overlay.push_message import Told, answer_message, plain_message

RETRY_MS = (500, 5_000)
"""Readers whose streams end come back at any time in between, and not all at once."""
NEVER = (-1, -1)


class PushStream:
    """Of `identifiers`, for a reader that stands at `mark` (text that it sent, None for a new one).

    Args:
        partitions: how many virtual edges there are.
        progress_seconds: see Mailbox.
        clock: seconds.
        on_close: called once, when the reader is gone.
    """

    def __init__(
        self,
        identifiers: Sequence[str],
        mark: str | None,
        partitions: int,
        progress_seconds: float,
        clock: Callable[[], float],
        on_close: Callable[[PushStream], None],
    ) -> None:
        self.keys = [identifier.encode() for identifier in identifiers]
        self.homes = [home_partition(key, partitions) for key in self.keys]
        self.present = set(self.homes)
        self._ids = list(identifiers)
        self._asked = mark
        self._mark = read_mark(mark, len(self._ids)) if mark is not None else None
        self._told = [NEVER] * len(self._ids)
        self._held: list[tuple[int, list[Told]]] | None = []
        self._box = Mailbox(self._mark.heard if self._mark else [None] * len(self._ids), progress_seconds, clock)
        self._on_close: Callable[[PushStream], None] | None = on_close

    def begin(self, answers: Sequence[Answer], epoch: int) -> None:
        """Send the current answers, then what was held back and is newer.

        `epoch`: the newest that progress was made in; a mark of a newer one is of another history.
        """
        self.present = {home for home, answer in zip(self.homes, answers, strict=True) if not _away(answer)}
        self._box.follow(self.present)
        if self._asked is not None and (self._mark is None or self._mark.epoch > epoch):
            self._mark = None
            self._box.say(plain_message("reset"))
        held, self._held = self._held or [], None
        for number, answer in enumerate(answers):
            self._send_first(number, answer)
        for number, told in held:
            self.put(number, told)

    def put(self, number: int, told: list[Told]) -> None:
        """Pass on messages of a subscription, in order, except those that it has had already."""
        if self._held is not None:
            self._held.append((number, told))
            return
        last = self._told[number]
        if not told:
            return
        fresh = told if told[0].mark > last else [one for one in told if one.mark > last]
        if fresh:
            self._told[number] = fresh[-1].mark
            self._box.put(number, fresh)

    def make_good(self, number: int, answer: Answer | None) -> None:
        """Tell what the log holds of a subscription, if that is news."""
        if self._held is not None:
            return
        told = self._told[number]
        if isinstance(answer, Unknown) and told != NEVER:
            self._told[number] = NEVER
            self._box.say(plain_message("unknown", id=self._ids[number]))
        elif isinstance(answer, Found) and mark_of(answer) > told:
            self.put(number, [answer_message(answer.body, jumped(told, mark_of(answer)))])

    def progress(self, home: int, at: tuple[int, int], line: bytes) -> None:
        """See Mailbox."""
        self._box.progress(home, at, line)

    def pulse(self) -> None:
        """See Mailbox."""
        self._box.pulse()

    def end(self) -> None:
        """Let the stream end: its subscriptions, or some, move to another edge, or this one stops."""
        retry_ms = random.randint(*RETRY_MS)
        self._box.end(retry_ms, plain_message("moved", retry_ms=retry_ms))

    async def take(self) -> Portion:
        """Return what the reader is to be sent next; waits until there is something."""
        return await self._box.take()

    def close(self) -> None:
        """Forget the reader."""
        if self._on_close is not None:
            self._on_close(self)
            self._on_close = None

    def _send_first(self, number: int, answer: Answer) -> None:
        name = self._ids[number]
        if isinstance(answer, Found):
            mark = mark_of(answer)
            heard = self._mark.heard[number] if self._mark else None
            if heard is not None and heard > mark:
                self._box.say(plain_message("reset", id=name))
                heard = None
            self.put(number, [answer_message(answer.body, heard is not None and jumped(heard, mark))])
        elif isinstance(answer, Elsewhere):
            url = f"{answer.url}/subscriptions/{quote(name, safe='')}/events"
            self._box.say(plain_message("elsewhere", id=name, url=url))
        else:
            self._box.say(plain_message("unknown", id=name))


def mark_of(answer: Found) -> tuple[int, int]:
    """Return version and n of a current answer."""
    version, n = answer.body["version"], answer.body["n"]
    assert isinstance(version, int) and isinstance(n, int)
    return version, n


def jumped(heard: tuple[int, int], mark: tuple[int, int]) -> bool:
    """Whether a reader that has heard `heard` and now hears `mark` misses something in between."""
    (version, n), (now, n_now) = heard, mark
    return n_now > n + 1 if now == version else n_now > 1


def _away(answer: Answer) -> bool:
    return isinstance(answer, Elsewhere)
