"""Deliveries: what a subscriber is told, as one JSON object a record, members always in the same order.

    {"id", "kind": "snapshot" | "change" | "resync" | "final" | "ended", "version", "n", "old", "new",
     "at": {"epoch", "batch"[, "topic", "partition", "offset"][, "upto"]}[, "changes"][, "sql"][, "certainty"]
     [, "final_at"][, "reason"]}

A SELECT list of several items has arrays as `old` and `new`. A DISTINCT has `removed` and `added` in their place,
arrays of values: what a subscriber holds is always what it held - removed + added, from nothing before its snapshot to
nothing after its end. So have bags and lists of rows, which say some more (`overlay/delivery/bag_delivery.py`,
`list_delivery.py`). `changes` is how many changes of the answer a conflated delivery stands for (left out where 1).
`version` is the offset of the subscription's record, `n` counts gaplessly within it. `at` is the position at
which `new` holds: of the batch before for a snapshot and a resync, of the causing row for a change, the last
one that was applied for an end.

Text is the cost of a delivery, so what all subscribers of a message share (`new`, `at`) is made once, and what all
changes of a subscription share (`id`, `version`) once for ever; texts of values are remembered by code, and a line is
put together from text that is JSON already.

Cost: about 0.4 us a delivery, 1 us more for each value that is not an integer and was not seen lately.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from catalog.types.column_type import ColumnType, Kind
from catalog.types.value import json_texts_of_codes
from overlay.arena.text_arena import cut
from state.change_batch import I64, Bool

NULL = "null"
PROGRESS_KEY = b"@progress"
_INTEGERS = {Kind.SMALLINT, Kind.INTEGER, Kind.BIGINT}
_REMEMBERED = 100_000
PLAIN = bytes(range(32, 127)).replace(b'"', b"").replace(b"\\", b"")
"""Characters that stand in JSON as they are."""


@dataclass(frozen=True, slots=True)
class Position:
    """A committed batch of an epoch. `batch` -1 stands for "before the first one"."""

    epoch: int
    batch: int

    @property
    def text(self) -> str:
        """The position as JSON."""
        return f'{{"epoch":{self.epoch},"batch":{self.batch}}}'

    @property
    def before(self) -> Position:
        """The position one batch earlier."""
        return Position(self.epoch, self.batch - 1)


def json_text(value: object) -> str:
    """Return `value` as JSON text."""
    return msgspec.json.encode(value).decode()


def json_names(keys: Sequence[bytes]) -> list[str]:
    """Return ids as JSON texts. Cost: 0.1 us each where all are plain ASCII, else 0.3 us."""
    if b"".join(keys).translate(None, PLAIN):
        return [json_text(key.decode()) for key in keys]
    return [f'"{key.decode()}"' for key in keys]


def row_start(position: Position, topic: str) -> str:
    """Return what the `at` of all changes that rows of `topic` (JSON text already) cause in a batch begins with."""
    return f'{{"epoch":{position.epoch},"batch":{position.batch},"topic":{topic},"partition":'


def row_at(start: str, partition: int, offset: int) -> str:
    """Return the `at` of a change, with the row behind `row_start`."""
    return f'{start}{partition},"offset":{offset}}}'


def delivery(
    name: str,
    kind: str,
    version: int,
    n: int,
    body: str,
    at: str,
    sql: str | None = None,
    reason: str | None = None,
) -> bytes:
    """Return one delivery. `name`, `at`, `sql` are JSON texts, `reason` a plain one; `body` is made by `moved`, or by
    `AnswerLayout.body`; behind `sql` may stand what `how_certain` makes.
    """
    tail = "" if sql is None else f',"sql":{sql}'
    if reason is not None:
        tail += f',"reason":{json_text(reason)}'
    return f'{{"id":{name},"kind":"{kind}","version":{version},"n":{n},{body},"at":{at}{tail}}}'.encode()


def how_certain(certainty: str, final_at: str) -> str:
    """Return what snapshots and acknowledgements of answers about streams say of them; '' of others.

    `final_at`, a JSON text or '', is when the answer becomes final.
    """
    said = f',"certainty":"{certainty}"' if certainty else ""
    return f'{said},"final_at":{final_at}' if final_at else said


def moved(old: str, new: str) -> str:
    """Return what a delivery says of an answer that is no DISTINCT, from JSON texts."""
    return f'"old":{old},"new":{new}'


def change_head(name: str, version: int) -> str:
    """Return the part that all changes of a subscription share."""
    return f'{{"id":{name},"kind":"change","version":{version}'


def change_heads(flat: bytes, sizes: I64, versions: Sequence[int]) -> tuple[list[bytes], list[str]]:
    """Return ids, which stand end to end in `flat`, and how changes of those versions begin.

    A text and an id as objects are 250 bytes, too much to keep for each of a million; made for all that a step tells at
    once they cost less than a look-up among so many. Cost: 0.3 us each where all ids are plain ASCII, else 0.7 us.
    """
    if flat.translate(None, PLAIN):
        ids = cut(flat, sizes)
        return ids, [change_head(json_text(key.decode()), version) for key, version in zip(ids, versions, strict=True)]
    ends = np.cumsum(sizes)
    text, edges = flat.decode(), list(zip((ends - sizes).tolist(), ends.tolist(), strict=True))
    heads = [
        f'{{"id":"{text[start:end]}","kind":"change","version":{version}'
        for (start, end), version in zip(edges, versions, strict=True)
    ]
    return [flat[start:end] for start, end in edges], heads


def change(head: str, n: int, old: str, tail: str) -> bytes:
    """Return what `delivery` makes, put together from `change_head` and `change_tail`."""
    return f'{head},"n":{n},"old":{old}{tail}'.encode()


def changed(head: str, n: int, body: str, at: str, changes: int = 1) -> bytes:
    """Return what `delivery` makes of a change, put together from `change_head`, a body and `row_at`.

    `changes`: how many changes of the answer it stands for; not written where it is one.
    """
    told = f',"changes":{changes}' if changes > 1 else ""
    return f'{head},"n":{n},{body},"at":{at}{told}}}'.encode()


def change_tail(new: str, at: str) -> str:
    """Return the part of a change that all who hear of one message share: `new`, and the row (`row_at`)."""
    return f',"new":{new},"at":{at}}}'


def progress_delivery(position: Position, time: str, upto: Mapping[str, str] | None = None) -> bytes:
    """Return the record that tells every subscriber of a virtual edge how far it has come.

    upto: by view of streams, the event time before which nothing is missing; not written where there is none.
    """
    told: dict[str, object] = {"kind": "progress", "epoch": position.epoch, "batch": position.batch, "time": time}
    return msgspec.json.encode(told | ({"upto": upto} if upto else {}))


class ValueTexts:
    """JSON texts of order codes of one column type; remembers the newest `_REMEMBERED` or so."""

    __slots__ = ("_is_integer", "_seen", "_type")

    def __init__(self, type_: ColumnType) -> None:
        self._type = type_
        self._is_integer = type_.kind in _INTEGERS
        self._seen: dict[int, str] = {}

    def text(self, code: int, known: bool) -> str:
        """Return the value that `code` stands for, `null` where not `known`."""
        if not known:
            return NULL
        return str(code) if self._is_integer else self._remembered([code])[0]

    def texts(self, codes: I64, known: Bool) -> list[str]:
        """Return the texts of a column. Cost: O(len(codes)), 0.1 us each for integers and remembered codes."""
        all_known = bool(known.all())
        numbers = (codes if all_known else codes[known]).tolist()
        made = list(map(str, numbers)) if self._is_integer else self._remembered(numbers)
        if all_known:
            return made
        spread = np.full(len(codes), NULL, object)
        spread[known] = made
        return list(spread)

    def _remembered(self, codes: list[int]) -> list[str]:
        seen = self._seen
        missing = list(set(codes).difference(seen))
        if not missing:
            return [seen[code] for code in codes]
        made = dict(zip(missing, json_texts_of_codes(self._type, missing), strict=True))
        texts = [made.get(code) or seen[code] for code in codes]
        if len(seen) >= _REMEMBERED:
            seen.clear()
        seen |= made
        return texts
