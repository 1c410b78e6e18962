"""What was missing and from where it came, and what nobody was curious about and so was not computed, or not sent.

    lost: 12 records trimmed unread, 1 partition of a stream waits for `tidewire silence`; 3 groups made from the log;
    2 times all was registered again
    spared: 40,000 changes of views that nobody asks, 1,200 messages that nobody wanted; 31 answers are final

*Source*: Jin and Strom, Relational Subscription Middleware (2003), 3.2: whoever misses something asks for it, and what
nobody asks for need not be told. Where gaps are found, and where not: docs/certainty.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from operators.counters import ShardCounters


class Curiosity(msgspec.Struct, frozen=True):
    """Sums over all shards and edges that could be asked; those of edges since each process began.

    trimmed: records that went before they were read, as last told of each partition.  unanswered: partitions of streams
    in which such a loss is not accepted, so that nothing becomes final.  from_log: groups that began this epoch with
    what the log had of them.  registered_again: times that a virtual edge had missed something, and was answered from
    the shards' states.  skipped: changes that stages would have computed which nobody needs.  quenched: messages that
    no virtual edge wanted; spared: ways to one that did not want them.  finals: answers that became final, and are not
    asked any more.  contradictions: final answers that a shard says otherwise now.
    """

    trimmed: int = 0
    unanswered: int = 0
    from_log: int = 0
    registered_again: int = 0
    skipped: int = 0
    quenched: int = 0
    spared: int = 0
    finals: int = 0
    contradictions: int = 0

    @property
    def lost(self) -> str:
        """What there is to say of what was lost, '' where that is nothing."""
        said = [
            _said(self.trimmed, "record", "trimmed unread"),
            _said(self.unanswered, "partition", "of streams in which `tidewire silence` has to accept that"),
            _said(self.from_log, "group", "made from the log"),
            _said(self.registered_again, "time", "all was registered again"),
            _said(self.contradictions, "final answer", "contradicted"),
        ]
        return ", ".join(filter(None, said))

    @property
    def not_asked(self) -> str:
        """What there is to say of what nobody asked, '' where that is nothing."""
        said = [
            _said(self.skipped, "change", "of views that nobody asks"),
            _said(self.quenched, "message", "that nobody wanted"),
            _said(self.spared, "message", "to edges that did not want them"),
            _said(self.finals, "answer", "final"),
        ]
        return ", ".join(filter(None, said))


def curiosity_of(
    trimmed: int,
    unanswered: int,
    from_log: int,
    counters: Iterable[ShardCounters],
    healths: Iterable[Mapping[str, object] | None],
) -> Curiosity:
    """Return the sums. `counters` are the newest of each shard, view and cell, `healths` what edges answered."""
    shards = list(counters)
    edges = [counts for health in healths if health is not None for counts in _virtual_edges(health)]
    return Curiosity(
        trimmed,
        unanswered,
        from_log,
        sum(_count(edge, "losses") for edge in edges),
        sum(shard.skipped for shard in shards),
        sum(shard.suppressed for shard in shards),
        sum(shard.spared for shard in shards),
        sum(_count(edge, "finals") for edge in edges),
        sum(_count(edge, "contradictions") for edge in edges),
    )


def _virtual_edges(health: Mapping[str, object]) -> list[Mapping[str, object]]:
    owned = health.get("virtual_edges")
    return [edge for edge in owned.values() if isinstance(edge, dict)] if isinstance(owned, dict) else []


def _count(edge: Mapping[str, object], name: str) -> int:
    found = edge.get(name, 0)
    return found if isinstance(found, int) else 0


def _said(count: int, noun: str, what: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)} {what}" if count else ""
