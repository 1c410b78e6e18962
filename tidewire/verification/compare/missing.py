"""What is due and has not come: a subscription without an answer, a resync after a new epoch, an end, one by TTL too.

An edge or engine that is only behind shows up here, not as a missed delivery; whoever waits until nothing is behind
and still finds something due has found a loss.

A resync is due of versions that still live, in the last epoch. One that was replaced or ended in the new epoch may have
been so before its edge registered it again, and an epoch may have ended before that; it cannot be told from outside, so
such a missing resync is no fault (changes without one are, and gaps in `n`). What is final is not registered again.
"""

from __future__ import annotations

from tidewire.verification.compare.report import Report
from tidewire.verification.input.declared import Declared
from tidewire.verification.records.batches import Batches, Position
from tidewire.verification.records.expiry import Tick, overdue
from tidewire.verification.records.lifetimes import Life, Lives


def find_due(
    lives: Lives,
    batches: Batches,
    declared: Declared,
    subjects: dict[tuple[str, int], tuple[str, int]],
    ttls: dict[tuple[str, int], int],
    report: Report,
) -> None:
    """Count in `report` what is due at the horizon.

    By (id, version), `subjects` says which table or cell a life was judged with, by name and `born`, and `ttls` those
    that have a time to live.
    """
    horizon = batches.horizon or Position(-1, -1)
    report.behind = sorted(p for p in lives.reached if lives.latest(p) < horizon)
    in_force = declared.subjects_at(batches.announced)
    for life in lives.lives:
        key = life.id, life.version
        reason = _due(life, horizon) or _end_due(life, subjects.get(key), in_force)
        reason = reason or _expiry_due(life, ttls.get(key), lives.ticks.get(life.partition, []))
        if reason is not None:
            report.unanswered += 1
            report.fault("unanswered", f"`{life.id}` version {life.version}", reason)


def _due(life: Life, horizon: Position) -> str | None:
    kinds = {d.kind for d in life.delivered}
    status = (life.ack or {}).get("status")
    if not life.delivered:
        settled = status in ("refused", "live", "ended") or life.next_record is not None or life.replaced_at is not None
        return None if settled else f"no snapshot, no refusal; the newest ack is {status or 'none'}"
    if "ended" in kinds:
        return None
    if life.tombstone is not None and (life.replaced_by is None or life.tombstone < life.replaced_by):
        return "it was unsubscribed and has no `ended`"
    if life.replaced_at is not None or "final" in kinds:
        return None
    begun = max((d.at.epoch for d in life.delivered if d.kind in ("snapshot", "resync")), default=None)
    if begun is not None and begun < horizon.epoch:
        return f"no resync in epoch {horizon.epoch}"
    return None


def _end_due(life: Life, subject: tuple[str, int] | None, in_force: set[tuple[str, int]]) -> str | None:
    ended = any(d.kind == "ended" for d in life.delivered) or life.replaced_at is not None
    if subject is None or ended or not life.delivered or subject in in_force:
        return None
    return f"{'its join' if subject[0].startswith('JOIN ') else 'what it asks about'} was dropped and it has no `ended`"


def _expiry_due(life: Life, ttl: int | None, ticks: list[Tick]) -> str | None:
    promise = life.promise(ttl)
    if ttl is None or promise.snapshot_offset < 0:
        return None
    ended = next((d.log_offset for d in life.delivered if d.kind == "ended"), life.replaced_offset)
    if ended is None and life.replaced_at is not None:  # by one that is only pushed: it has no place, but a position
        ended = next((tick.log_offset for tick in ticks if tick.at > life.replaced_at), None)
    return f"its TTL of {ttl} s was over and it had no `ended`" if overdue(ticks, promise, ended) else None
