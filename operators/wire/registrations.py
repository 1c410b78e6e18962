"""The record `register`, edge to shard: regions that a virtual edge asks about, each under its subscription's version.

    version shape group lo hi empty live [low high terms]

`shape` is a place in the header's `shapes`. `low` and `high` have the bounds that are bytes, `terms` the constants that
do not route. `live`: the subscription has begun, and is answered whatever the shard's bounds are; a record of format 1
does not say so, and counts as if all had.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from catalog.query.shape import Region, Shape
from operators.wire.columns import Columns, dictionary, write
from operators.wire.header import Header
from state.change_batch import I64, Bool

MAX_REGISTRATIONS = 10_000


@dataclass(slots=True)
class PackedRegistrations:
    """Regions that a virtual edge registers with a shard, each under its subscription's version.

    live: whether each subscription has begun.
    astray: how many more stood in the record whose shape or group is none of the record's (`unpack_sound`).
    """

    header: Header
    versions: list[int]
    regions: list[Region]
    live: list[bool] = field(default_factory=list)
    astray: int = 0


@dataclass(slots=True)
class RegionColumns:
    """n regions as columns: `shape` and `group` are places among `shapes` and `groups`.

    `low` and `high` have the bounds that are bytes (None elsewhere), `terms` the constants that do not route; each is
    empty where there are none. `live`: the subscription has begun.
    """

    shapes: list[Shape]
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


def pack_registrations(
    header: Header, versions: Sequence[int], regions: Sequence[Region], live: Sequence[bool] | None = None
) -> Iterator[bytes]:
    """Yield records of at most `MAX_REGISTRATIONS` regions each; the header's `shapes` is filled in here.

    `live` says of which the subscription has begun; None: of none.
    """
    begun = np.zeros(len(regions), np.bool_) if live is None else np.array(live, np.bool_)
    for start in range(0, len(regions), MAX_REGISTRATIONS):
        stop = min(start + MAX_REGISTRATIONS, len(regions))
        columns = _columns_of(regions[start:stop], begun[start:stop])
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
    for name, keys in (("low", regions.low), ("high", regions.high), ("terms", regions.terms)):
        if keys:
            others[name] = pa.array(keys, pa.binary())
    return write(msgspec.structs.replace(header, shapes=regions.shapes), numbers, others)


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
    return found


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
