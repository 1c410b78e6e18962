"""Looks at current answers for readers that begin: those who wait look together, and large answers leave others time.

A thread that makes the text of a large answer holds up the event loop in the same process: the loop lets go of the
interpreter's lock with each system call, and gets it back when the other thread has had its 5 ms. One such text is soon
made; where hundreds of readers come for large answers of their own, all others would hear next to nothing until the
last of them has his. So

1. one look is under way at a time,
2. those who ask meanwhile are looked for together by the next one, `TOGETHER` answers at most, each answer once,
3. of those who have asked together `BEGIN_AT_ONCE` are told in one turn of the loop, as each has much to write then,
4. behind a look that has computed for `NOTICED` seconds or more there is a rest as long: half of the time is left to
   the loop.

A look begins after it was asked for, so what it sees is at least as new as what the reader was told by then.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence

from connectors.http.answer import Answer

TOGETHER = 64
NOTICED = 0.005
BEGIN_AT_ONCE = 8

Look = Callable[[Sequence[str]], Sequence[Answer]]
"""Answers as they are committed; called in a thread of its own, since it waits for the end of a step."""
Rest = Callable[[float], Awaitable[None]]

_Asked = tuple[Sequence[str], asyncio.Future[list[Answer]]]


class Looks:
    """Those of one edge. For the event loop only; `look` is called in other threads, but in one at a time.

    Args:
        look: reads answers.
        cpu: seconds that the thread which calls it has computed.
        rest: waits for so many seconds.
    """

    def __init__(self, look: Look, cpu: Callable[[], float] = time.thread_time, rest: Rest = asyncio.sleep) -> None:
        self._look = look
        self._cpu = cpu
        self._rest = rest
        self._asked: deque[_Asked] = deque()
        self._looking: asyncio.Task[None] | None = None

    async def answers(self, names: Sequence[str]) -> Sequence[Answer]:
        """Return the current answers of `names`. Raises what `look` raises."""
        loop = asyncio.get_running_loop()
        answers: asyncio.Future[list[Answer]] = loop.create_future()
        self._asked.append((names, answers))
        if self._looking is None or self._looking.done():
            self._looking = loop.create_task(self._look_for_all())
        return await answers

    async def _look_for_all(self) -> None:
        while self._asked:
            together = self._next()
            names = list(dict.fromkeys(name for asked, _ in together for name in asked))
            if not names:
                continue
            try:
                answers, seconds = await asyncio.to_thread(self._timed, names)
            except Exception as error:
                _fail(together, error)
                continue
            await _tell(together, dict(zip(names, answers, strict=True)))
            if seconds >= NOTICED:
                await self._rest(seconds)

    def _next(self) -> list[_Asked]:
        """Take those who have waited longest, without who has left meanwhile."""
        together: list[_Asked] = []
        names: set[str] = set()
        while self._asked:
            asked = self._asked[0]
            if together and len(names.union(asked[0])) > TOGETHER:
                break
            self._asked.popleft()
            if not asked[1].done():
                together.append(asked)
                names.update(asked[0])
        return together

    def _timed(self, names: Sequence[str]) -> tuple[Sequence[Answer], float]:
        began = self._cpu()
        return self._look(names), self._cpu() - began


async def _tell(together: Sequence[_Asked], answers: dict[str, Answer]) -> None:
    for number, (names, waiting) in enumerate(together, 1):
        if number % BEGIN_AT_ONCE == 0:
            await asyncio.sleep(0)
        if not waiting.done():
            waiting.set_result([answers[name] for name in names])


def _fail(together: Sequence[_Asked], error: Exception) -> None:
    for _, waiting in together:
        if not waiting.done():
            waiting.set_exception(error)
