"""What a subscriber receives, as typed records: deliveries, progress and acknowledgements.

Field for field what stands in the topics `deliveries` and `acks`, so any Kafka client sees the same.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from catalog.types.column_type import JsonValue
from state.errors import UserError

PROGRESS_KEY = b"@progress"


class At(msgspec.Struct, frozen=True, omit_defaults=True):
    """A position: a batch of an epoch, and for a change the publication in it that caused the change.

    `upto`, of a final answer about a stream, is when the last window that it is about ends.
    """

    epoch: int
    batch: int
    topic: str | None = None
    partition: int | None = None
    offset: int | None = None
    upto: str | None = None


Row = tuple[JsonValue, ...]
"""A row, its values in the order of the SELECT list."""

Member = JsonValue | tuple[JsonValue | Row, ...]
"""What goes or comes: a value of a set, a row of a bag, or (place, row) of a list."""

Answer = JsonValue | list[JsonValue]
"""One value, or one for each item of a longer SELECT list."""


class Delivery(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One notification of one subscription.

    `n` counts the subscription's deliveries without gaps, from 1 at the snapshot of each `version` (the offset of
    the subscription's record). `kind` is `snapshot` (with the `sql`), `change`, `resync` (after the engine
    began anew; `n` grows only if the answer differs), `final` (the answer stays as it is) or `ended` (with the
    `reason`). A SELECT DISTINCT tells by `added` and `removed` values, in place of `old` and `new`. `changes` is how
    many changes a delivery stands for where the subscription asked for fewer (NOTIFY LATEST, MIN CHANGE).

    Rows come and go likewise: `form` is `bag` or `list` in the first delivery of such an answer. A row is a tuple, and
    in a list one of (place, row). `snapshot` is "none" where the question said SNAPSHOT NONE. A resync is the `same`
    as what is held, or `whole`: what is held is void (and "look": the rows are to be looked up). `key` is where a row
    has its primary key, for rows that are told when they enter and leave only. `conflated`: it stands for several
    that a slow reader of an edge has missed. `HeldAnswer` puts all of this together.

    A snapshot of an answer about a stream says its `certainty`, and at which event time it will be final
    (docs/certainty.md).
    """

    id: str
    kind: Literal["snapshot", "change", "resync", "final", "ended"]
    version: int
    n: int
    at: At
    old: Answer = None
    new: Answer = None
    removed: list[Member] | None = None
    added: list[Member] | None = None
    changes: int = 1
    sql: str | None = None
    reason: str | None = None
    form: str | None = None
    snapshot: str | None = None
    same: bool = False
    whole: bool | str = False
    key: tuple[int, ...] | None = None
    conflated: bool = False
    certainty: str | None = None
    final_at: str | None = None


class Progress(msgspec.Struct, frozen=True):
    """All deliveries caused by batches up to this one stand before this record: silence means no change.

    `upto` says of views of streams before which event time nothing is missing.
    """

    epoch: int
    batch: int
    time: str = ""
    upto: dict[str, str] = {}


class Ack(msgspec.Struct, frozen=True, omit_defaults=True):
    """What became of one version of a subscription; `at` is the position from which `live` answers hold.

    `form` is `bag` or `list` where the answer is one of rows. `certainty` is what may still become of an answer about
    streams (`docs/certainty.md`), `final_at` when it becomes final.
    """

    id: str
    version: int
    status: Literal["refused", "accepted", "live", "ended"]
    at: At | None = None
    sql: str | None = None
    shape: object = None
    cost: str | None = None
    code: str | None = None
    message: str | None = None
    hint: str | None = None
    reason: str | None = None
    form: str | None = None
    certainty: str | None = None
    final_at: str | None = None


class Refused(UserError):
    """A subscription was refused. `ack_code`, `message` and `hint` say why and what would work instead."""

    code = "refused"

    def __init__(self, ack: Ack) -> None:
        self.ack = ack
        self.ack_code = ack.code or "refused"
        self.message = ack.message or ""
        self.hint = ack.hint
        hint = f"\n{ack.hint}" if ack.hint else ""
        super().__init__(f"subscription `{ack.id}` was refused ({self.ack_code}): {self.message}{hint}")


_ACK = msgspec.json.Decoder(Ack)


def read_ack(value: bytes) -> Ack:
    """Read a record of the topic `acks`. Raises msgspec.ValidationError or DecodeError."""
    return _ACK.decode(value)
