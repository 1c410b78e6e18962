"""What a virtual edge has counted since its process took it over; `status` shows the sums.

Events alone: how many subscriptions there are now is `VirtualEdge.counts`, and of each shape `ShapeEntry.count`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class EdgeCounters:
    """Counts of events, not kept across restarts.

    `unwanted`: messages that met no subscription. `suppressed`: messages that brought the value already held.
    `dropped_old_epoch`: records of a lower epoch. `repeats`: chunks and progress records seen before.
    `stale_snapshots`: answers that no registration waited for. `conflated`: changes that no delivery of their own told.
    `losses`: times that all was registered again since something could not be read, or was not there.
    `expired`, `over_quota`: subscriptions that ended so. `finals`: answers that became final;
    `contradictions`: those that a shard says otherwise by now.
    `ignored`: records without a key, unsubscriptions of unknown ids.
    """

    deliveries: int = 0
    suppressed: int = 0
    conflated: int = 0
    expired: int = 0
    over_quota: int = 0
    finals: int = 0
    contradictions: int = 0
    messages: int = 0
    unwanted: int = 0
    refused: int = 0
    ignored: int = 0
    dropped_old_epoch: int = 0
    repeats: int = 0
    stale_snapshots: int = 0
    losses: int = 0
