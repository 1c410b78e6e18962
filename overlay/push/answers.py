"""Messages of current answers, of which large ones are made once, and equal ones are one object.

A stopped reader may hold the message of an answer for minutes. Of a DISTINCT of 50,000 values that is half a megabyte,
which the readers who begin at the same time then hold together and not each.

Cost: O(answer), as making a message; O(1) where the answer is the object that the last message was made of. Memory:
`MOST_BYTES`, or one message and its answer.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping

from overlay.push.message import Told, answer_message

SHARED_BYTES = 16_384
"""Smaller ones are not worth it."""
MOST_BYTES = 16 << 20

_Body = Mapping[str, object]


class SharedAnswers:
    """Remembers the newest large message of each subscription. For the event loop only."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[object, bool], tuple[_Body, Told]] = OrderedDict()
        self._bytes = 0

    def message(self, body: _Body, conflated: bool) -> Told:
        """Return the message of a current answer, as `answer_message`; `body` must not change any more."""
        key = (body["id"], conflated)
        before = self._kept.get(key)
        if before is not None and before[0] is body:
            return before[1]
        told = answer_message(body, conflated)
        if len(told.line) >= SHARED_BYTES:
            if before is not None and before[1].line == told.line:
                told = before[1]
            self._keep(key, body, told)
        return told

    def _keep(self, key: tuple[object, bool], body: _Body, told: Told) -> None:
        if key in self._kept:
            self._bytes -= _size(self._kept.pop(key)[1])
        self._kept[key] = body, told
        self._bytes += _size(told)
        while self._bytes > MOST_BYTES and len(self._kept) > 1:
            self._bytes -= _size(self._kept.popitem(last=False)[1][1])


def _size(told: Told) -> int:
    """Return what is kept of a message: its line, and the answer that this was made of, which is as long."""
    return 2 * len(told.line)
