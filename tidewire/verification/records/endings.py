"""Whether an end was called for: without what its reason names, the subscription had to live on.

    unsubscribed    a tombstone behind its record, and before that of a version that has replaced it
    table dropped   its table is declared no more
    view dropped    its view likewise
    cell dropped    the tables that it asks about are joined no more
    quota           its answer became too large (`quota`)
    final           it asked for its final answer alone, which it was told before (NOTIFY FINAL)
    window_gone     it was registered again when windows that it asks about were kept no more (`gone`)
    expired         its time to live was over by the time of the progress behind the end (`expiry`)

`subscriptions` is compacted: where records behind the subscription's own are gone, a tombstone may be among them.
"""

from __future__ import annotations

from tidewire.verification.records.lifetimes import Life

_DROPPED = {
    "table dropped": "its table was not dropped",
    "view dropped": "its view was not dropped",
    "cell dropped": "its tables are joined still",
}
REASONS = ("unsubscribed", *_DROPPED, "quota", "expired", "final", "window_gone")


def was_unsubscribed(life: Life) -> bool | None:
    """Whether somebody ended this version; None where that cannot be known any more."""
    before_successor = life.replaced_by is None or (life.tombstone or 0) < life.replaced_by
    if (life.tombstone is not None and before_successor) or life.ended_lately:
        return True
    return None if life.compacted else False


def uncalled(
    life: Life, reason: str | None, stands: bool | None, over: bool | None, gone: bool | None = None
) -> tuple[bool, str | None]:
    """Return whether it can be known that an end was called for, and if it was not, what is wrong with it.

    `stands`: whether the table, the view, or the join of several tables, is still declared. `over`: whether the answer
    became too large. `gone`: whether windows that it asks about were kept no more. None: not known.
    """
    if reason == "unsubscribed":
        asked = was_unsubscribed(life)
        return asked is not None, "nobody unsubscribed" if asked is False else None
    if reason in _DROPPED:
        return stands is not None, _DROPPED[reason] if stands else None
    if reason == "quota":
        return over is not None, "its answer is within the quota" if over is False else None
    if reason == "window_gone":
        return gone is not None, "the windows that it asks about are kept" if gone is False else None
    if reason == "final" and not any(d.kind == "final" for d in life.delivered):
        return True, "it was told no final answer"
    return True, None if reason in REASONS else f"its reason {reason!r} is none"
