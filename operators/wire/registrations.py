"""The record `register`, edge to shard: regions that a virtual edge asks about, each under its subscription's version.

    version shape group lo hi empty live [low high terms] [have digest_only by_keys]

`shape` is a place in the header's `shapes`. `low` and `high` have the bounds that are bytes, `terms` the constants that
do not route. `have`, `digest_only` and `by_keys` say how a filter's rows are asked for (`Asked` in operators/reply.py).
A negative version is a look: it is answered, and listens to nothing. `live`: the subscription has begun, and is
answered whatever the shard's bounds are; a record of format 1 does not say so, and counts as if all had. One of
questions for rows, which alone have `terms` and what stands behind them, is of format 3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from catalog.query.shape import AnyShape, Region
from operators.needed_format import format_of_shapes
from operators.reply import Asked
from operators.wire.columns import Columns, dictionary, write
from operators.wire.header import Header
from state.change_batch import I64, Bool
from state.row_digest import Digest as Told

MAX_REGISTRATIONS = 10_000
_HAVE = msgspec.msgpack.Decoder(Told)


@dataclass(slots=True)
class PackedRegistrations:
    """Regions that a virtual edge registers with a shard, each under its subscription's version.

    live: whether each subscription has begun.  asked: how rows are asked for, by place, where not plainly.
    astray: how many more stood in the record whose shape or group is none of the record's (`unpack_sound`).
    """

    header: Header
    versions: list[int]
    regions: list[Region]
    live: list[bool] = field(default_factory=list)
    astray: int = 0
    asked: dict[int, Asked] = field(default_factory=dict)


@dataclass(slots=True)
class RegionColumns:
    """n regions as columns: `shape` and `group` are places among `shapes` and `groups`.

    `low` and `high` have the bounds that are bytes (None elsewhere), `terms` the constants that do not route; each is
    empty where there are none. `live`: the subscription has begun. `have`: digests, `encode_have`, of what was told.
    """

    shapes: list[AnyShape]
    shape: I64
    groups: list[bytes]
    group: I64
    lo: I64
    hi: I64
    empty: Bool
    live: Bool
    low: list[bytes | None] = field(default_factory=list)
    high: list[bytes | None] = field(default_factory=list)
    terms: list[bytes] = field(default_factory=list)
    have: list[bytes | None] = field(default_factory=list)
    digest_only: Bool | None = None
    by_keys: Bool | None = None


def pack_registrations(
    header: Header,
    versions: Sequence[int],
    regions: Sequence[Region],
    live: Sequence[bool] | None = None,
    asked: Sequence[Asked] | None = None,
) -> Iterator[bytes]:
    """Yield records of at most `MAX_REGISTRATIONS` regions each; the header's `shapes` is filled in here.

    `live` says of which the subscription has begun; None: of none. `asked`: how rows are asked for; None: plainly.
    """
    begun = np.zeros(len(regions), np.bool_) if live is None else np.array(live, np.bool_)
    for start in range(0, len(regions), MAX_REGISTRATIONS):
        stop = min(start + MAX_REGISTRATIONS, len(regions))
        columns = _columns_of(regions[start:stop], begun[start:stop])
        if asked is not None:
            _enter_asked(columns, asked[start:stop])
        yield pack_region_columns(header, np.array(versions[start:stop], np.int64), columns)


def pack_region_columns(header: Header, version: I64, regions: RegionColumns) -> bytes:
    """Return one record of at most `MAX_REGISTRATIONS` regions; the header's `shapes` is filled in here."""
    numbers = {
        "version": version,
        "shape": regions.shape,
        "empty": regions.empty.astype(np.int64),
        "live": regions.live.astype(np.int64),
        "lo": regions.lo,
        "hi": regions.hi,
    }
    others = {"group": dictionary(regions.group.astype(np.int32), pa.array(regions.groups, pa.binary()))}
    for name in ("low", "high", "terms", "have"):
        if getattr(regions, name):
            others[name] = pa.array(getattr(regions, name), pa.binary())
    for name, flags in (("digest_only", regions.digest_only), ("by_keys", regions.by_keys)):
        if flags is not None and flags.any():
            numbers[name] = flags.astype(np.int64)
    needed = format_of_shapes(regions.shapes)
    return write(msgspec.structs.replace(header, shapes=regions.shapes, format=needed), numbers, others)


def read_registrations(header: Header, columns: Columns) -> PackedRegistrations:
    """Read a record; what names no shape of the record is counted as astray. Raises ValueError, KeyError otherwise."""
    group, groups = columns.groups()
    shapes, empty = columns.ints("shape").tolist(), columns.ints("empty").tolist()
    live = columns.ints("live").astype(np.bool_).tolist() if columns.has("live") else [True] * len(shapes)
    terms = columns.optional("terms") or [b""] * len(shapes)
    lows, highs = (_either(columns, *names) for names in (("lo", "low"), ("hi", "high")))
    rows = zip(columns.ints("version").tolist(), shapes, group.tolist(), lows, highs, empty, terms, live, strict=True)
    found = PackedRegistrations(header, [], [])
    for version, shape, g, lo, hi, e, term, begun in rows:
        if not (0 <= shape < len(header.shapes) and e in (0, 1)):
            found.astray += 1
            continue
        found.versions.append(version)
        found.regions.append(Region(header.shapes[shape], groups[g], lo, hi, bool(e), term))
        found.live.append(begun)
    if columns.has("digest_only") or columns.has("by_keys") or columns.optional("have"):
        found.asked = _asked(columns, header)
    return found


def encode_have(told: Told) -> bytes:
    """Return the digest of what a subscriber was told as the column `have` has it."""
    return msgspec.msgpack.encode(told)


def _asked(columns: Columns, header: Header) -> dict[int, Asked]:
    """Return how rows are asked for, by the places of the registrations that are not astray."""
    rows = columns.layout.rows
    have = columns.optional("have") or [None] * rows
    only, keys = (
        columns.ints(name).tolist() if columns.has(name) else [0] * rows for name in ("digest_only", "by_keys")
    )
    shapes, empty = columns.ints("shape").tolist(), columns.ints("empty").tolist()
    sound = [i for i in range(rows) if 0 <= shapes[i] < len(header.shapes) and empty[i] in (0, 1)]
    asked = {}
    for place, i in enumerate(sound):
        if have[i] is not None or only[i] or keys[i]:
            told = None if have[i] is None else _HAVE.decode(have[i])
            asked[place] = Asked(told, bool(only[i]), bool(keys[i]))
    return asked


def _enter_asked(columns: RegionColumns, asked: Sequence[Asked]) -> None:
    have = [None if each.told is None else encode_have(each.told) for each in asked]
    columns.have = have if any(told is not None for told in have) else []
    columns.digest_only = np.array([each.digest_only for each in asked], np.bool_)
    columns.by_keys = np.array([each.by_keys for each in asked], np.bool_)


def _columns_of(regions: Sequence[Region], live: Bool) -> RegionColumns:
    shapes = {shape: i for i, shape in enumerate(dict.fromkeys(region.shape for region in regions))}
    groups = {group: i for i, group in enumerate(dict.fromkeys(region.group for region in regions))}
    lo, low = _bounds([region.lo for region in regions])
    hi, high = _bounds([region.hi for region in regions])
    shape, group = [shapes[region.shape] for region in regions], [groups[region.group] for region in regions]
    empty = np.array([region.empty for region in regions], np.bool_)
    terms = [region.terms for region in regions]
    return RegionColumns(
        list(shapes), np.array(shape, np.int64), list(groups), np.array(group, np.int64), lo, hi, empty, live, low,
        high, terms if any(terms) else [],
    )  # fmt: skip


def _bounds(bounds: list[int | bytes]) -> tuple[I64, list[bytes | None]]:
    """Return the bounds that are integers (0 elsewhere), and where some are bytes, those (None elsewhere)."""
    numbers = np.array([0 if isinstance(bound, bytes) else bound for bound in bounds], np.int64)
    keys = [bound if isinstance(bound, bytes) else None for bound in bounds]
    return numbers, keys if any(key is not None for key in keys) else []


def _either(columns: Columns, number: str, key: str) -> list[Any]:
    """Return a bound of each row: the bytes where there are any, else the integer."""
    numbers, keys = columns.ints(number).tolist(), columns.optional(key)
    return numbers if not keys else [n if k is None else k for n, k in zip(numbers, keys, strict=True)]
