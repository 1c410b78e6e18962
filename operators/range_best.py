"""First rows of a range: a tree over the slots runs through the changes (state/best_tree.py).

Which subscriptions: SELECT columns FROM t WHERE e = .. AND x BETWEEN .. ORDER BY y, key LIMIT k. A channel is for all k
up to `most`, and its message says to whom a change matters, at which place, and which rows may move up (operators/
best_messages.py); the rows themselves travel as images of the columns that somebody shows, each once.

    ranks    every version of a row has its place in the order (state/rank_order.py)
    slots    rows by (equalities; x), as for every range (state/ordering.py)
    tree     the least rank over any run of slots

Exact: the message's header says why one of them serves every range and every k. A change of neither place nor order nor
needed column is not told. One row change is at most three messages a channel, of which a range hears one.

Cost: O(n) a batch to rank and to build the tree; per change what best_tree.py says, and 0.3 us to lay its messages out;
1 us for each group and each text that is a bound. In all 2.3 us a change of any kind where K = 10, of 5,000 in a batch
on 50,000 rows; the tree takes 1.3 of these.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from catalog.query.best_shape import BestShape
from catalog.query.channel import MOSTS, BestChannel, Channel
from catalog.query.shape import Region
from catalog.schema.relation import Relation
from operators.batch_view import BatchView
from operators.best_messages import HEADS, BestMessages, ImageValues
from operators.channel_binding import ChannelBinding
from operators.channel_kind import ChannelKind, its_own_ordering
from operators.projection import Projection
from operators.reply import Rows
from state.best_tree import BestFound, BestTree
from state.change_batch import I64, Bool
from state.distinct_numbers import distinct_numbers
from state.minima import ABSENT
from state.order_code import INT64_MAX, INT64_MIN
from state.rank_order import RankKey


def tree_of(view: BatchView, bound: ChannelBinding) -> tuple[BestTree, I64]:
    """Return the tree of the rows before the view's changes, and its leaves. Cost: O(n)."""
    layout, rank = view.layout(bound.order), view.ranks(bound.rank).rank
    leaves = np.where(layout.version < view.replay.rows, rank[layout.version], ABSENT)
    return BestTree(layout, leaves), leaves


def find(view: BatchView, bindings: Mapping[Channel, ChannelBinding], needed: Sequence[str]) -> BestMessages | None:
    """Return the messages of the view's changes, None where no channel is of this kind.

    Images have the columns `needed`. Cost: see the module's header.
    """
    bounds = [bound for bound in bindings.values() if isinstance(bound.channel, BestChannel)]
    if not bounds:
        return None
    numbers = [view.relation.index(name) for name in needed]
    differs = _differs(view, {*numbers, *(place for bound in bounds for place, _, _ in bound.rank)})
    merge = _Merge(view, bounds)
    for number, bound in enumerate(bounds):
        changes = _changes(view, bound, differs)
        if changes.shape[1]:
            tree, _ = tree_of(view, bound)
            assert isinstance(bound.channel, BestChannel)
            merge.add(number, tree.replay(changes, bound.channel.most))
    return merge.messages(dict(zip(needed, numbers, strict=True)))


def first(view: BatchView, bindings: Mapping[Channel, ChannelBinding], regions: Sequence[Region]) -> list[Rows]:
    """Return the first rows of regions that a row can meet, all of one shape; `view` must be still.

    Rows have the columns of the shape's `images`, best first. Cost: O(n), 2 us and 1 us a row for each.
    """
    shape = regions[0].shape
    assert isinstance(shape, BestShape)
    bound = bindings[shape.channels[0]]
    tree, leaves = tree_of(view, bound)
    places = view.places(bound.order, regions)
    group = view.seek(bound.order, places.groups)[places.group]
    slots, count = tree.first(group, places.lo, places.hi, np.full(len(group), shape.limit))
    versions = view.ranks(bound.rank).version[leaves[slots]]
    used, place = np.unique(versions, return_inverse=True)
    encoded = Projection(view.relation, view.rows, view.replay, shape.images).encoded(used)
    rows, ends = [encoded[i] for i in place.tolist()], np.cumsum(count).tolist()
    return [Rows(tuple(rows[end - n : end])) for end, n in zip(ends, count.tolist(), strict=True)]


def _differs(view: BatchView, numbers: Collection[int]) -> Bool:
    """Return which changes leave another image of a row in these columns; those that come or go do."""
    replay = view.replay
    before, after = replay.before, replay.after
    both = np.flatnonzero((before != after) & (before >= 0) & (after >= 0))
    one, other = before[both], after[both]
    differs = (before < 0) != (after < 0)
    for number in numbers:
        codes, valid = replay.codes[number], replay.valid[number]
        differs[both] |= (codes[one] != codes[other]) | (valid[one] != valid[other])
    return differs


def _changes(view: BatchView, bound: ChannelBinding, differs: Bool) -> I64:
    """Return the changes that the channel is about, as `BestTree.replay` takes them."""
    replay = view.replay
    slot, rank = np.append(view.layout(bound.order).slot, -1), np.append(view.ranks(bound.rank).rank, -1)
    rank = np.where(slot >= 0, rank, -1)
    here, there = slot[replay.before], slot[replay.after]
    cause = np.flatnonzero((here != there) | (differs & (here >= 0)))
    before, after = replay.before[cause], replay.after[cause]
    return np.stack([cause, here[cause], rank[before], there[cause], rank[after]])


class _Merge:
    """Takes what was found for one channel after the other; `messages` returns all of it by cause."""

    def __init__(self, view: BatchView, channels: Sequence[ChannelBinding]) -> None:
        self._view = view
        self._channels = channels
        self._groups: dict[bytes, int] = {}
        self._texts: dict[str, int] = {}
        self._heads: list[I64] = [np.zeros((len(HEADS), 0), np.int64)]
        self._lists: list[tuple[I64, I64, I64]] = [(np.zeros(0, np.int64),) * 3]

    def add(self, number: int, found: BestFound) -> None:
        """Take the messages of the channel with this number; ranks become versions, groups and texts get places."""
        view, bound = self._view, self._channels[number]
        version = np.append(view.ranks(bound.rank).version, -1)
        cause, group, kind, *box, base, lefts, rights, cands, old, new = found.head
        used, which = distinct_numbers(group)
        names = view.groups(bound.order, len(bound.order[0]), used)
        places = np.array([self._groups.setdefault(name, len(self._groups)) for name in names], np.int64)
        bounds, cand_x = found.bounds, found.cand_x
        if bound.range_text:
            box, bounds, cand_x = self._as_texts(bound.order[1] or 0, box, bounds, cand_x)
        channel = np.full(len(cause), number)
        head = (cause, channel, places[which], kind, *box, base, lefts, rights, cands, version[old], version[new])
        self._heads.append(np.stack(head))
        self._lists.append((bounds, cand_x, version[found.cand]))

    def messages(self, needed: Mapping[str, int]) -> BestMessages:
        """Return all messages, with images of the columns `needed`."""
        heads: dict[str, Any] = dict(zip(HEADS, np.concatenate(self._heads, axis=1), strict=True))
        bounds, cand_x, cand = (np.concatenate(parts) for parts in zip(*self._lists, strict=True))
        used, place = distinct_numbers(np.concatenate([heads["old"], heads["new"], cand]) + 1)
        place -= int(len(used) > 0 and used[0] == 0)
        used, cause = used[used > 0] - 1, heads["cause"]
        heads["old"], heads["new"], cand = np.split(place, [len(cause), 2 * len(cause)])
        heads |= {name: heads[name].astype(np.int32) for name in ("cause", "channel", "group")}
        found = BestMessages(
            channels=[bound.channel for bound in self._channels],
            groups=list(self._groups),
            bounds=bounds,
            cand_x=cand_x,
            cand=cand,
            texts=list(self._texts),
            images={name: self._image(column, used) for name, column in needed.items()},
            **heads,
        )
        if len(self._heads) < 3:
            return found
        text_bounds = np.array([bound.range_text for bound in self._channels], np.bool_)
        return found.take(np.argsort(cause, kind="stable"), text_bounds)

    def _as_texts(self, column: int, box: list[I64], bounds: I64, cand_x: I64) -> tuple[list[I64], I64, I64]:
        """Return bounds by rank as places in `texts`: that of lo_min of the text below, of hi_max of the one above."""
        lo_min, lo_max, hi_min, hi_max = box
        there = np.concatenate([lo_min != INT64_MIN, hi_max != INT64_MAX])
        edges = np.concatenate([lo_min - 1, hi_max + 1])[there]
        ranks = np.concatenate([edges, lo_max, hi_min, bounds, cand_x])
        used, which = np.unique(ranks, return_inverse=True)
        texts = self._view.rows.texts_of(column, used) if len(used) else []
        numbers = np.array([self._texts.setdefault(text, len(self._texts)) for text in texts], np.int64)[which]
        ends = np.full(len(there), -1, np.int64)
        ends[there] = numbers[: len(edges)]
        cuts = np.cumsum([len(edges), len(lo_max), len(hi_min), len(bounds)])
        _, lo_max, hi_min, bounds, cand_x = np.split(numbers, cuts)
        return [ends[: len(lo_min)], lo_max, hi_min, ends[len(lo_min) :]], bounds, cand_x

    def _image(self, number: int, versions: I64) -> ImageValues:
        replay = self._view.replay
        known = replay.valid[number][versions]
        values = ImageValues(np.where(known, replay.codes[number][versions], 0), known)
        if self._view.relation.columns[number].type.coded:
            return values
        return replace(values, texts=self._view.rows.strings_of(number)).take(np.arange(len(versions)))


def _lacks(channel: Channel, relation: Relation) -> str:
    assert isinstance(channel, BestChannel)
    named = [each.column for each in channel.order]
    if len(set(named)) < len(named) or set(named[-len(relation.key) :]) != set(relation.key):
        return f"order by {named}, expected each column once, and the primary key {list(relation.key)} at the end"
    compared = [name for name in (*channel.equal, channel.range) if name is not None]
    if len(set(compared)) < len(compared) or channel.column is not None:
        return f"columns {compared} compared, {channel.column} measured, expected each once and none"
    return "" if channel.most in MOSTS else f"first {channel.most} rows, expected one of {MOSTS}"


def _rank(channel: Channel, relation: Relation) -> RankKey:
    assert isinstance(channel, BestChannel)
    return tuple([(relation.index(each.column), each.descending, each.nulls_first) for each in channel.order])


KIND = ChannelKind(lacks=_lacks, orderings=its_own_ordering, rank=_rank)
