"""One subscription as its edge sees it now: what a person asks for over HTTP or in a listing."""

from __future__ import annotations

from dataclasses import dataclass

from catalog.types.column_type import JsonValue
from overlay.delivery.delivery import Position


@dataclass(frozen=True, slots=True)
class SubscriptionView:
    """`status` is `live`, `accepted` (its snapshot is on the way) or `held` (its table is not known yet).

    `answer` is a scalar, a list of several outputs, or all values of a DISTINCT. It holds as of `at`, the position up
    to which the edge has followed the shard. `n` is the number of the last delivery of `version`, which told this
    answer unless the policy has held it back; without a snapshot yet, `at` is None and `n` is 0. `replaced_by` is the
    version of an accepted replacement that waits for its snapshot.
    """

    id: str
    version: int
    status: str
    sql: str
    n: int = 0
    answer: JsonValue | list[JsonValue] = None
    at: Position | None = None
    replaced_by: int | None = None
