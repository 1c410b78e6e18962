"""What routing summaries spare: messages that come to an edge and that no subscription there wants.

    python -m benchmarks.summaries

20,000 changes of 20,000 stocks (stock_workload) are routed to 16 virtual edges, each with so many subscriptions, and for
each it is counted how many came and how many of them met nobody:

    none       an edge gets all messages of the channels that it listens to
    widened    boxes that were widened as subscriptions came; half of them are over since
    told       boxes of the summary that the edge then told
    perfect    exactly what somebody there wants

`scattered`: each edge has ranges anywhere, as where ids are spread by their hash. `together`: those of an edge lie close
to one another, as where who asks alike lives in the same place. The subscriptions that are over asked about another
tenth of the range than those that stay.

`messages` are per edge as a share of what `none` brings, `unwanted` is the share of what came that met nobody, and
`summary_ms` the processor time in which an edge makes its summary. Data is synthetic and seeded.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from benchmarks.shard_cost import raw
from benchmarks.stock_workload import SHAPE, TOP, Market, catalog_of
from catalog.query.shape import group_key
from connectors.formats.record_format import format_of
from operators.operator import Messages
from overlay.index.subscription_index import SubscriptionIndex
from shard.route import route
from shard.tables import Table
from state.boxes import Boxes, hashes_of
from state.change_batch import I64, Bool
from state.order_code import codes_of_doubles

EDGES = 16
ROWS = 20_000
CHANGES = 20_000
SIZES = (10, 100, 1_000, 10_000)
PIECE = 100
"""Subscriptions that come together; boxes are widened by each such piece."""
(CHANNEL,) = SHAPE.channels
GROUP = group_key(())
Ranges = tuple[I64, I64]


def messages() -> Messages:
    """Return what the changes make a shard say, with everybody listening."""
    relation = catalog_of("stock").relations["stock"]
    market, operator, format_ = Market(relation, ROWS), Table(relation), format_of(relation)
    operator.listen([CHANNEL])
    operator.apply(format_.decode(raw(list(market.load()), "stock")).changes)
    return operator.apply(format_.decode(raw(list(market.changes(CHANGES)), "stock")).changes).messages


def ranges(source: np.random.Generator, size: int, start: float, end: float) -> Ranges:
    """Return ranges over 1 to 100 rows that begin in [start, end] of the attribute."""
    width = TOP / ROWS * np.exp(source.uniform(0, np.log(100), size))
    lo = source.uniform(start, end, size)
    return codes_of_doubles(lo), codes_of_doubles(lo + width)


def edge(seed: int, size: int, together: bool) -> tuple[Ranges, Ranges]:
    """Return the ranges of an edge that are over, and those that stay."""
    source = np.random.default_rng(seed)
    if not together:
        return ranges(source, size, 0, TOP), ranges(source, size, 0, TOP)
    tenths = source.permutation(10)[:2] * TOP / 10
    over, stay = (ranges(source, size, tenth, tenth + TOP / 20) for tenth in tenths)
    return over, stay


def boxes_of(own: Ranges) -> Boxes:
    """Return the boxes of a summary."""
    return Boxes.of(hashes_of([GROUP] * len(own[0])), *own)


def widened(over: Ranges, stay: Ranges) -> Boxes:
    """Return the boxes of all that ever came, piece by piece."""
    boxes = Boxes.none()
    lo, hi = (np.concatenate(pair) for pair in zip(over, stay, strict=True))
    order = np.random.default_rng(0).permutation(len(lo))
    for start in range(0, len(order), PIECE):
        part = order[start : start + PIECE]
        boxes = boxes.widen(hashes_of([GROUP] * len(part)), lo[part], hi[part])
    return boxes


def wanted(said: Messages, own: Ranges) -> Bool:
    """Return which messages somebody of `own` wants."""
    index, size = SubscriptionIndex(), len(own[0])
    zeros = np.zeros(size, np.int64)
    index.insert(np.arange(size), zeros, [GROUP] * size, zeros, *own)
    group = np.full(len(said), index.groups.number(0, GROUP, 0), np.int64)
    met = np.zeros(len(said), np.bool_)
    met[index.query(group, said.lo_min, said.lo_max, said.hi_min, said.hi_max)[0]] = True
    return met


def shares(said: Messages, boxes: Mapping[int, Boxes], wanted_by: list[Bool]) -> dict[str, float]:
    """Return what came of all that is said, and the share of it that met nobody."""
    came = useless = 0
    for rows, edges in route({CHANNEL: boxes}, said, EDGES).parts:
        for number in edges:
            came += len(rows)
            useless += len(rows) - int(np.count_nonzero(wanted_by[number][rows]))
    return {"messages": round(came / EDGES / len(said), 4), "unwanted": round(useless / max(came, 1), 4)}


def compared(said: Messages, size: int, together: bool) -> dict[str, Any]:
    """Return the figures of one workload."""
    edges = [edge(seed, size, together) for seed in range(EDGES)]
    wanted_by = [wanted(said, stay) for _, stay in edges]
    everything = boxes_of((np.full(1, np.iinfo(np.int64).min), np.full(1, np.iinfo(np.int64).max)))
    whole = Boxes(np.tile(np.array([np.iinfo(np.int64).min, np.iinfo(np.int64).max]), 2)[None], everything.groups)
    began = time.process_time()
    told = [boxes_of(stay) for _, stay in edges]
    spent = (time.process_time() - began) / EDGES
    perfect = sum(int(np.count_nonzero(mine)) for mine in wanted_by) / EDGES / len(said)
    return {
        "none": shares(said, dict.fromkeys(range(EDGES), whole), wanted_by),
        "widened": shares(said, dict(enumerate(widened(*both) for both in edges)), wanted_by),
        "told": shares(said, dict(enumerate(told)), wanted_by),
        "perfect": {"messages": round(perfect, 4), "unwanted": 0.0},
        "summary_ms": round(spent * 1000, 1),
    }


def measure() -> dict[str, Any]:
    """Return the figures for `make bench`, by workload and subscriptions at each edge."""
    said = messages()
    figures: dict[str, Any] = {
        name: {str(size): compared(said, size, name == "together") for size in SIZES}
        for name in ("scattered", "together")
    }
    return {"summaries": figures | {"edges": EDGES, "messages": len(said)}}


if __name__ == "__main__":
    print(json.dumps(measure(), indent=2))
