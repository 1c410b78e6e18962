"""One reader's stream: where it begins, what it has been told of each subscription, and how it ends.

It begins with the current answer of each subscription that is here: marked `conflated` where the reader's mark says
that it has missed more than this one, behind a `reset` where the mark is of another history (a prefix made anew, a
made-up mark): then nothing the reader holds can be trusted. What was committed while the answers were read is held
back until they are sent.

A reader that is so far behind that nothing stands for what it has missed is told the current answers in the same way,
marked `conflated`.

For the event loop only.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from urllib.parse import quote

from connectors.http.answer import Answer, Elsewhere, Found, Unknown
from connectors.http.stream import Portion
from connectors.kafka.partitioner import home_partition
from overlay.push.mailbox import Mailbox
from overlay.push.mark import read_mark
from overlay.push.message import Told, answer_message, plain_message
from overlay.push.row_looks import lacks_rows
from state.errors import TidewireError

RETRY_MS = (500, 5_000)
"""Readers whose streams end come back at any time in between, and not all at once."""
NEVER = (-1, -1)

Newest = Callable[[Sequence[str]], Awaitable[Sequence[Answer]]]
"""Answers as they are committed, at least as new as what was told before they are asked for."""
AnswerMessage = Callable[[Mapping[str, object], bool], Told]


class PushStream:
    """Of `identifiers`, for a reader that stands at `mark` (text that it sent, None for a new one).

    Args:
        partitions: how many virtual edges there are.
        progress_seconds: see Mailbox.
        clock: seconds.
        on_close: called once, when the reader is gone.
        look: reads the current answers for a reader that is too far behind; without it, its stream ends.
        message: makes the message of a current answer.
    """

    def __init__(
        self,
        identifiers: Sequence[str],
        mark: str | None,
        partitions: int,
        progress_seconds: float,
        clock: Callable[[], float],
        on_close: Callable[[PushStream], None],
        look: Newest | None = None,
        message: AnswerMessage = answer_message,
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
        self._look = look
        self._message = message
        self._taken_up = False

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
        """Tell what the log holds of a subscription, if that is news. Its reader comes back for rows."""
        if self._held is not None:
            self._taken_up = True
            return
        told = self._told[number]
        if isinstance(answer, Unknown) and told != NEVER:
            self._told[number] = NEVER
            self._box.say(plain_message("unknown", id=self._ids[number]))
        elif lacks_rows(answer) and mark_of(answer) > told:
            self.end()
        elif isinstance(answer, Found) and mark_of(answer) > told:
            self.put(number, [self._message(answer.body, jumped(told, mark_of(answer)))])

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
        lost = self._box.lost
        if lost and self._held is None:
            await self._tell_newest(lost)
        return await self._box.take()

    async def _tell_newest(self, numbers: Sequence[int]) -> None:
        """Tell the current answers of subscriptions, in place of what was lost."""
        held = self._held = []
        answers = await self._newest([self._ids[number] for number in numbers])
        self._held = None
        if answers is None:
            self.end()
            return
        self._box.find(numbers)
        for number, answer in zip(numbers, answers, strict=True):
            if isinstance(answer, Found):
                self._told[number] = mark_of(answer)
                self._box.put(number, [self._message(answer.body, True)])
            else:
                self._told[number] = NEVER
                self._box.put(number, [Told("unknown", *NEVER, line=plain_message("unknown", id=self._ids[number]))])
        for number, told in held:
            self.put(number, told)

    async def _newest(self, names: Sequence[str]) -> Sequence[Answer] | None:
        """Return answers that are at least as new as what was lost, None if there are none now."""
        while self._look is not None:
            self._taken_up = False
            try:
                answers = await self._look(names)
            except TidewireError:
                return None
            if not self._taken_up:
                return answers if all(isinstance(answer, Found | Unknown) for answer in answers) else None
        return None

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
            self.put(number, [self._message(answer.body, heard is not None and jumped(heard, mark))])
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
