"""Messages of current answers, of which equal large ones are one object.

A stopped reader may hold the message of an answer for minutes. Of a DISTINCT of 50,000 values that is half a megabyte,
which the readers who begin at the same time then hold together and not each.

Cost: O(answer), as making a message. Memory: `MOST_BYTES`, or one message.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping

from overlay.push.message import Told, answer_message

SHARED_BYTES = 16_384
"""Smaller ones are not worth it."""
MOST_BYTES = 16 << 20


class SharedAnswers:
    """Remembers the newest large message of each subscription. For the event loop only."""

    def __init__(self) -> None:
        self._lines: OrderedDict[tuple[object, bool], bytes] = OrderedDict()
        self._bytes = 0

    def message(self, body: Mapping[str, object], conflated: bool) -> Told:
        """Return the message of a current answer, as `answer_message`."""
        told = answer_message(body, conflated)
        if len(told.line) >= SHARED_BYTES:
            told.line = self._one(told.line, (body["id"], conflated))
        return told

    def _one(self, line: bytes, key: tuple[object, bool]) -> bytes:
        before = self._lines.pop(key, b"")
        kept = before if before == line else line
        self._lines[key] = kept
        self._bytes += len(kept) - len(before)
        while self._bytes > MOST_BYTES and len(self._lines) > 1:
            self._bytes -= len(self._lines.popitem(last=False)[1])
        return kept
