"""What operators make of a batch: reformulated messages, and answers of regions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from catalog.query.channel import Channel
from operators.answer import Parts
from operators.best_messages import BestMessages
from operators.row_images import Images
from state.change_batch import I32, I64, Bool


class Ranged(Protocol):
    """What messages about ranges have in common, by which they find whom they are for: see `Messages`."""

    @property
    def channels(self) -> list[Channel]:
        """The channels that `channel` names."""

    @property
    def groups(self) -> list[bytes]:
        """The groups that `group` names."""

    @property
    def channel(self) -> I32:
        """What each is about."""

    @property
    def group(self) -> I32:
        """Of which group each is."""

    @property
    def lo_min(self) -> I64:
        """Where the rectangle of each begins."""

    @property
    def lo_max(self) -> I64:
        """Where it ends."""

    @property
    def hi_min(self) -> I64:
        """Where it begins by the other bound."""

    @property
    def hi_max(self) -> I64:
        """Where it ends by that."""

    @property
    def texts(self) -> list[str]:
        """What bounds name where the range attribute has no order codes."""

    def __len__(self) -> int:
        """How many there are."""


@dataclass(slots=True)
class Messages:
    """Reformulated messages as columns, in causal order (those of one change are adjacent).

    A message says to every subscription that has the channel `channels[channel]`, is of the group `groups[group]`, and
    whose range [lo, hi] has lo_min <= lo <= lo_max and hi_min <= hi <= hi_max (Interface paper 2.4.1: OUTER_L < lo <=
    INNER_L, INNER_R <= hi < OUTER_R, with open bounds made closed):

    kind       rows   means
    min, max    0     the answer is now `new` (NULL where `has_new` is False)
    distinct   +1     the value `new` is now in the answer (NULL where `has_new` is False)
               -1     the value `old` is not in it any more (NULL where `has_old` is False)
    rows       +1 -1  a row has come, has gone
    values     +1 -1  a row with the value `new` has come, with `old` has gone;  0: one has `new` instead of `old`

    `old` and `new` are order codes, or places in `texts` where the channel's column has none; unused ones are 0.
    The messages of one channel and cause have disjoint rectangles, except those of `distinct` for different values and
    those of different groups: a subscription meets at most one of them, for `distinct` at most two (one goes, one
    comes).
    Where the range attribute has no order codes, the bounds are places in `texts`, -1 for none, and what is met is
    lo > texts[lo_min], lo <= texts[lo_max], hi > texts[hi_min], hi <= texts[hi_max], compared as order keys.
    `cause[i]` is the index of the change in its batch.
    """

    channels: list[Channel]
    groups: list[bytes]
    cause: I32
    channel: I32
    group: I32
    rows: I64
    old: I64
    has_old: Bool
    new: I64
    has_new: Bool
    lo_min: I64
    lo_max: I64
    hi_min: I64
    hi_max: I64
    texts: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.cause)


@dataclass(slots=True)
class Outcome:
    """What a batch of changes makes a table say; `images` and `best` are None where nobody listens to such."""

    messages: Messages
    images: Images | None = None
    best: BestMessages | None = None


@dataclass(slots=True)
class Answers:
    """Current answers of n regions.

    A region whose shape is a single MIN or MAX of a column with order codes has its answer in `new`, `has_new` (False:
    NULL); every other one has `parts[i]`, in the order of its shape's channels.
    """

    new: I64
    has_new: Bool
    parts: dict[int, Parts]

    def __len__(self) -> int:
        return len(self.new)
