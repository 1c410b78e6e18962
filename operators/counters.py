"""What a shard counts, and the record in which it tells so: to the topic `engines`, whenever a batch touches it.

Cumulative since the shard began, kept in its state; `status` reads the newest record of each shard.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec


class Counters(msgspec.Struct):
    """`decoded` changes, `deletes` among them, `dead` letters, `ignored` records, and what came of them.

    `messages` were caused; `suppressed` of them met no box of any virtual edge and were not sent. `routed` counts each
    message once for every virtual edge that it went to, `spared` once for every listener that its boxes kept it from.
    `ignored_registrations` were passed over: of another epoch or table; or `unfit_registrations`, that no shard of the
    table can answer (`unfit_reasons` samples why); or `unreadable_registrations`, whose virtual edges are told.
    `shipped` counts each version of a row that a cell sent, once for every virtual edge; `named` those that an edge had
    lately, and was only named.
    `skipped` counts each change once for every stage of a view over it that nobody needed, and was not computed.
    `unknown_members` samples names of a row's members that are no columns; `seen` counts the rows that had each column.
    """

    decoded: int = 0
    dead: int = 0
    ignored: int = 0
    deletes: int = 0
    messages: int = 0
    suppressed: int = 0
    routed: int = 0
    spared: int = 0
    registrations: int = 0
    ignored_registrations: int = 0
    moved_partitions: int = 0
    unknown_members: list[str] = []
    seen: dict[str, int] = {}
    unfit_registrations: int = 0
    unreadable_registrations: int = 0
    unfit_reasons: list[str] = []
    shipped: int = 0
    named: int = 0
    skipped: int = 0


class DomainCounters(msgspec.Struct, array_like=True):
    """How far a partition of a stream is: the next offset, the greatest event time, and before which rows are late.

    Times are in microseconds since 1970, None before there is one. hole: rows were lost, and its floor stands still.
    """

    next: int
    reached: int | None
    floor: int | None
    hole: bool


class StreamCounters(msgspec.Struct):
    """What a stream counts besides: rows that were `late`, or too far `ahead`, and those of windows that had begun when
    a view was created, which that has not taken (`unfolded`).

    upto: before which event time no row counts any more, in microseconds since 1970, None where there is none.
    """

    late: int
    ahead: int
    unfolded: int
    upto: int | None
    partitions: list[DomainCounters]


class ShardCounters(Counters, tag="counters", tag_field="kind", kw_only=True):
    """A shard's counters after a batch, with its size: rows, and bytes of their state.

    `held` says of each bound of a shard, by its setting, how much of it is reached and how much may be.
    `needed` are the columns whose values go to the edges with each change of a row, since some filter compares, shows
    or sums them. `answer_rows` is how many rows may be told at once, 0 where a shard does not say. Of a stream `stream`
    says more.
    """

    epoch: int
    shard: str
    batch: int
    rows: int = 0
    bytes: int = 0
    held: dict[str, tuple[int, int]] = {}
    needed: list[str] = []
    answer_rows: int = 0
    stream: StreamCounters | msgspec.UnsetType = msgspec.UNSET


_NO_SUMS = ("epoch", "batch", "answer_rows")


def summed(parts: Sequence[ShardCounters]) -> ShardCounters:
    """Return the counters of a table whose shards counted `parts`, of which there is one at least.

    `epoch` and `batch` are the newest ones, `shard` names the first; all other numbers are sums.
    `held` is of each bound that of the shard which is nearest to it, `answer_rows` the least that is said.
    """
    nearest: dict[str, tuple[int, int]] = {}
    for part in parts:
        for bound, reached in part.held.items():
            nearest[bound] = max(nearest.get(bound, reached), reached, key=_share)
    first, *others = sorted(parts, key=lambda part: part.shard)
    total = msgspec.structs.replace(first, seen=dict(first.seen), held=nearest)
    for other in others:
        for name, value in msgspec.structs.asdict(other).items():
            if isinstance(value, int) and name not in _NO_SUMS:
                setattr(total, name, getattr(total, name) + value)
        total.epoch, total.batch = max((total.epoch, total.batch), (other.epoch, other.batch))
        for samples in ("unknown_members", "unfit_reasons", "needed"):
            setattr(total, samples, sorted({*getattr(total, samples), *getattr(other, samples)}))
        for column, rows in other.seen.items():
            total.seen[column] = total.seen.get(column, 0) + rows
    total.answer_rows = min((part.answer_rows for part in parts if part.answer_rows), default=0)
    return total


def _share(reached: tuple[int, int]) -> float:
    held, most = reached
    return held / max(most, 1)
