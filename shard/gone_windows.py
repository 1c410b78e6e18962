"""Questions about windows of event time that a view keeps no more, be it of the first of several only.

    keep 24 h, complete to 11:00        MAX(high) of yesterday at 10:00    gone: its end was 24 hours ago
                                        ... of yesterday at 11:00          answered, and final

Their answer would be made of what is left, and told to be final: another one than that which was told to those who
asked in time. So they are refused. One that has begun is refused likewise where it is registered again, after a loss or
in a new epoch, and was not told the final answer before; its virtual edge ends it. A question that never becomes final
is about what is there, and is always answered.

Rows go in a batch after the one by whose end it is time (`shard/folds.py`), and registrations come before rows. So what
is answered goes in no batch before the one in which it is final.
"""

from __future__ import annotations

from catalog.query.finality import gone_at
from catalog.schema.stream import Closing
from catalog.types.value import moment_text
from operators.reply import WINDOW_GONE, Refused
from operators.wire.header import NO_HORIZON
from shard.receiver import Registered
from shard.snapshot import Questions

_HINT = "Ask about later windows, or declare the stream with a longer `keep`."


class GoneWindows:
    """Those of a relation with `closing`, whose event time is complete to `upto`."""

    def __init__(self, closing: Closing | None, upto: int) -> None:
        self._closing = closing if upto != NO_HORIZON else None
        self._upto = upto

    def refuse(self, registered: Registered, asked: Questions) -> Registered:
        """Return the registrations that can be answered; the others are refused.

        Cost: nothing where all windows are kept for ever, else 2 us each.
        """
        if self._closing is None or self._closing.held is None:
            return registered
        there: Registered = []
        for one in registered:
            gone = gone_at(self._closing, one[1])
            if gone is None or gone > self._upto:
                there.append(one)
            else:
                asked.refused.append((one[0], self._refused(gone)))
        return there

    def _refused(self, gone: int) -> Refused:
        upto, since = map(moment_text, (self._upto, gone))
        about = f"rows that it is about have gone: they were kept until event time was complete to {since}"
        return Refused(WINDOW_GONE, f"{about}, and it is to {upto}", _HINT)
