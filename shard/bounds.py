"""What a shard may be made to hold by those who ask: channels, orderings and bytes of state.

Whoever subscribes decides what a shard computes: each new shape may bring channels, which cost time in each batch, and
orderings, which cost 4 bytes a row for ever and O(n log n) once. A registration that would need more than the bounds is
refused with the reason. One whose subscription has begun is taken whatever the bounds are: after a new epoch
registrations come in another order, and none that was let in before may be turned away then.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from catalog.query.channel import Channel
from catalog.query.shape import AnyShape
from catalog.schema.join import Join
from operators.answer_quota import CODE, QUOTA, AnswerQuota
from operators.channel_binding import OrderingKey
from operators.channel_kinds import bind
from operators.join_walk import sought
from operators.reply import Refused
from operators.row_window import WindowBounds
from shard.cell import CellState
from shard.state import ShardState
from state.rank_order import RankKey

_BYTES_A_ROW = 4
_HINT = (
    "Ask about columns that other subscriptions of the table ask about, end some of those, or raise the setting `{}`."
)

_Kept = OrderingKey | RankKey


@dataclass(frozen=True, slots=True)
class Bounds:
    """The most that subscriptions may make one shard hold.

    batch_bytes: about what it answers them in one batch, the others later. whole: what it tells of rows at once.
    window: what edges keep of the rows that a cell sends.
    """

    channels: int = 1_000
    orderings: int = 200
    state_bytes: int = 256_000_000
    batch_bytes: int = 64_000_000
    whole: AnswerQuota = QUOTA
    window: WindowBounds = field(default_factory=WindowBounds)


def held(state: ShardState, bounds: Bounds) -> dict[str, tuple[int, int]]:
    """Return how much of each bound a shard has reached, and the bound, by the setting of it.

    A shard of a table and its views are one state. Cost: O(channels).
    """
    return {
        "shard_channels": (len(state.table.channels), bounds.channels),
        "shard_orderings": (state.table.orderings, bounds.orderings),
        "shard_state_mb": (state.bytes + state.beside, bounds.state_bytes),
    }


def held_by_cell(cell: CellState, bounds: Bounds) -> dict[str, tuple[int, int]]:
    """Return the same of a cell, whose channels are the joins that somebody follows."""
    orderings = sum(source.table.orderings for source in cell.sources.values())
    return {
        "shard_channels": (len(cell.interests.joins()), bounds.channels),
        "shard_orderings": (orderings, bounds.orderings),
        "shard_state_mb": (cell.size, bounds.state_bytes),
    }


class CellRoom:
    """How much room a cell has left for joins, beside what its views want of the copies; counts what was taken.

    Cost: O(joins of the cell) to make, which happens when a record asks for a new join; 3 us for each of those.
    """

    def __init__(self, cell: CellState, bounds: Bounds) -> None:
        self._cell = cell
        self._bounds = bounds
        self._joins = len(cell.interests.joins())
        kept = {name: copy.table.besides | cell.orderings(copy.shard) for name, copy in cell.sources.items()}
        self._orderings = {(table, each) for table, orderings in kept.items() for each in orderings}
        self._size = cell.size

    def take(self, join: Join) -> None:
        """Count what a new join needs, whatever the bounds are."""
        orderings = self._needed(join) - self._orderings
        self._joins += 1
        self._orderings |= orderings
        self._size += self._bytes(orderings)

    def why_not(self, join: Join) -> Refused | None:
        """Return why there is no room for a new join, None where there is."""
        orderings = self._needed(join) - self._orderings
        counts = (
            (self._joins, 1, self._bounds.channels, "joins", "shard_channels"),
            (len(self._orderings), len(orderings), self._bounds.orderings, "orderings", "shard_orderings"),
            (self._size, self._bytes(orderings), self._bounds.state_bytes, "bytes of state", "shard_state_mb"),
        )
        return _beyond(f"cell `{self._cell.cell.name}`", counts)

    def _needed(self, join: Join) -> set[tuple[str, _Kept]]:
        relations = {name: copy.relation for name, copy in self._cell.sources.items()}
        return {
            (name, (tuple([relations[name].index(column) for column in columns]), None))
            for name, columns in sought(join)
        }

    def _bytes(self, orderings: set[tuple[str, _Kept]]) -> int:
        sources = self._cell.sources
        return _BYTES_A_ROW * sum(sources[table].table.rows for table, _ in orderings)


class Room:
    """How much room a shard has left for shapes; counts what was taken in this batch.

    Cost: O(channels of the shard) to make, which happens when a new shape is asked for; 3 us for each of those.
    """

    def __init__(self, state: ShardState, bounds: Bounds) -> None:
        self._state = state
        self._bounds = bounds
        self._channels = set(state.table.channels)
        self._orderings = {key for channel in self._channels for key in self._needed(channel)} | state.table.besides
        self._size = state.bytes + state.beside

    def take(self, shape: AnyShape) -> None:
        """Count what `shape` needs, whatever the bounds are."""
        channels, orderings = self._more(shape)
        self._channels |= channels
        self._orderings |= orderings
        self._size += self._bytes(orderings)

    def why_not(self, shape: AnyShape) -> Refused | None:
        """Return why there is no room for `shape`, None where there is."""
        channels, orderings = self._more(shape)
        bounds = self._bounds
        counts = (
            (len(self._channels), len(channels), bounds.channels, "channels", "shard_channels"),
            (len(self._orderings), len(orderings), bounds.orderings, "orderings", "shard_orderings"),
            (self._size, self._bytes(orderings), bounds.state_bytes, "bytes of state", "shard_state_mb"),
        )
        return _beyond(f"shard `{self._state.shard}`", counts)

    def _more(self, shape: AnyShape) -> tuple[set[Channel], set[_Kept]]:
        channels = set(shape.channels) - self._channels
        needed = {key for channel in channels for key in self._needed(channel)}
        return channels, needed - self._orderings

    def _needed(self, channel: Channel) -> tuple[_Kept, ...]:
        return bind(channel, self._state.relation).kept

    def _bytes(self, orderings: set[_Kept]) -> int:
        return _BYTES_A_ROW * self._state.table.rows * len(orderings)


def _beyond(who: str, counts: Iterable[tuple[int, int, int, str, str]]) -> Refused | None:
    """Return why there is no room: what is held, how much more is needed, the most, of what, and the setting of it."""
    for held, more, most, what, setting in counts:
        if more and held + more > most:
            about = f"{who} has {held:,} {what} and may have {most:,}"
            return Refused(CODE, f"{about}: this subscription needs {more:,} more", _HINT.format(setting))
    return None
