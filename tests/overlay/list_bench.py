"""Lists of a store that follow messages about one table of few rows, with the messages that a shard would make."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import msgspec
import numpy as np

from catalog.query.compiler import Compiler
from catalog.schema.catalog import Catalog
from connectors.topics import Topics
from operators.best_messages import HEADS, BestMessages, ImageValues
from operators.packed import Header, PackedBest
from operators.reply import encode_row
from overlay.delivery.delivery import Position
from overlay.delivery.outbox import Outbox
from overlay.maintain.best_path import BestPath
from overlay.maintain.list_changes import ListChanges
from overlay.maintain.mode import Modes
from overlay.subscriptions.edge_counters import EdgeCounters
from overlay.subscriptions.subscription_store import SubscriptionStore
from state.best_tree import IN, OUT, STAY
from state.order_code import INT64_MAX, INT64_MIN
from tests.overlay.arrivals import newcomers
from tests.overlay.edge_world import table
from tests.overlay.table.test_slot_table import array

TABLE = table("t", 0)
COMPILER = Compiler(Catalog(0, {"t": TABLE}))
SHARD = "t/0"
Row = tuple[int, int]
"""x and m of a row."""
Rows = dict[str, Row]
Change = tuple[str, Row | None]
"""A key, and what its row is now."""


def rank(key: str, row: Row) -> tuple[int, str]:
    """Return what rows are ordered by: m, then the key."""
    return row[1], key


class ListBench:
    """Lists by slot: `asked` has lo, hi, limit and the columns that are shown of each."""

    def __init__(self, asked: Sequence[tuple[int, int, int, str, str]], rows: Rows) -> None:
        self.rows = dict(rows)
        self.asked = list(asked)
        self.store, self.counters, self.outbox = SubscriptionStore(), EdgeCounters(), Outbox(Topics(), 0)
        self.lists = ListChanges(self.store, self.outbox, self.counters, Modes(self.store))
        self.path = BestPath(self.store, self.counters, self.lists)
        self.causes = 0
        for slot, (lo, hi, limit, shown, policy) in enumerate(asked):
            sql = f"SELECT {shown} FROM t WHERE x >= {lo} AND x <= {hi} ORDER BY m, k LIMIT {limit}{policy}"
            compiled = COMPILER.compile(sql)
            self.store.add(newcomers((b"%d" % slot, slot, compiled), relation=TABLE))
            zero = array(0)
            self.store.sync(array(slot), zero, zero > 0, zero + 1)
            images = compiled.region.shape.images  # type: ignore[union-attr]
            self.store.start_lists({slot: [self.image(images, key) for key in self.listed(slot)]})
        self.store.changes()

    def listed(self, slot: int) -> list[str]:
        """Return the keys of the rows that a list has to have."""
        lo, hi, limit, _, _ = self.asked[slot]
        inside = [key for key, (x, _) in self.rows.items() if lo <= x <= hi]
        return sorted(inside, key=lambda key: rank(key, self.rows[key]))[:limit]

    def shown(self, slot: int) -> list[list[int | str]]:
        """Return what a list has to show."""
        names = self.asked[slot][3].split(", ")
        return [
            [{"k": key, "x": self.rows[key][0], "m": self.rows[key][1]}[name] for name in names]
            for key in self.listed(slot)
        ]

    def image(self, names: Sequence[str], key: str) -> bytes:
        """Return a row as it is now, in some columns."""
        x, m = self.rows[key]
        return encode_row([{"k": key, "x": x, "m": m}[name] for name in names])

    def batch(self, causes: Sequence[Sequence[Change]], records: int = 1) -> list[bytes]:
        """Apply causes, each of one row or of several, cut into records; return the deliveries."""
        messages, images = list[tuple[int, bool, dict]](), dict[tuple[str, Row], int]()
        for cause in causes:
            for key, now in cause:
                messages += [(self.causes, len(cause) > 1, made) for made in self.messages(key, now, images)]
            self.causes += 1
        cuts = [len(messages) * i // records for i in range(records + 1)]
        for first, end in pairwise(cuts):
            if end > first:
                self.path.apply(self.packed(messages[first:end], images), Position(0, 1))
        self.lists.end()
        return [record.value or b"" for record in self.outbox.take()]

    def messages(self, key: str, now: Row | None, images: dict[tuple[str, Row], int]) -> list[dict]:
        """Let a row change, and return what a shard says of it: each range hears one of these at most."""
        was = self.rows.pop(key, None)
        others = sorted((rank(k, row), row[0], k) for k, row in self.rows.items())
        if now is not None:
            self.rows[key] = now
        sides = [(STAY, was, now)] if was and now and was[0] == now[0] else [(OUT, was, None), (IN, None, now)]
        apart = len(sides) == 2 and was is not None and now is not None
        made = []
        for kind, old, new in sides:
            here = old or new
            if here is None or (was == now):
                continue
            ranks = [rank(key, row) for row in (old, new) if row is not None]
            ref = min(ranks)
            better = [x for other, x, _ in others if other < ref]
            worse = [(other, x, k) for other, x, k in others if other > ref]
            falls = kind == OUT or (kind == STAY and len(ranks) == 2 and ranks[1] > ranks[0])
            cands = [(x, k) for other, x, k in worse if falls and (kind == OUT or other < ranks[1])]
            beyond = (now if kind == OUT else was) if apart else None
            at = here[0]
            made.append(
                {
                    "kind": kind,
                    "lo_min": INT64_MIN if beyond is None or beyond[0] > at else beyond[0] + 1,
                    "lo_max": at,
                    "hi_min": at,
                    "hi_max": INT64_MAX if beyond is None or beyond[0] < at else beyond[0] - 1,
                    "base": sum(x == at for x in better),
                    "left": sorted((x for x in better if x < at), reverse=True),
                    "right": sorted(x for x in better if x > at),
                    "cands": [(x, images.setdefault((k, self.rows[k]), len(images))) for x, k in cands],
                    "old": -1 if old is None else images.setdefault((key, old), len(images)),
                    "new": -1 if new is None else images.setdefault((key, new), len(images)),
                }
            )
        if apart and made:
            made += self._both(key, was, now, others, images)
        return made

    def _both(
        self, key: str, was: Row | None, now: Row | None, others: Sequence[tuple[tuple[int, str], int, str]],
        images: dict[tuple[str, Row], int],
    ) -> list[dict]:  # fmt: skip
        """Return what ranges hear that have the row before and after, at another x."""
        assert was is not None and now is not None
        low, high = sorted((was[0], now[0]))
        ranks = rank(key, was), rank(key, now)
        better = [x for other, x, _ in others if other < min(ranks)]
        cands = [(x, k) for other, x, k in others if ranks[0] < other < ranks[1]]
        return [
            {
                "kind": STAY,
                "lo_min": INT64_MIN,
                "lo_max": low,
                "hi_min": high,
                "hi_max": INT64_MAX,
                "base": sum(low <= x <= high for x in better),
                "left": sorted((x for x in better if x < low), reverse=True),
                "right": sorted(x for x in better if x > high),
                "cands": [(x, images.setdefault((k, self.rows[k]), len(images))) for x, k in cands],
                "old": images.setdefault((key, was), len(images)),
                "new": images.setdefault((key, now), len(images)),
            }
        ]

    def packed(self, told: Sequence[tuple[int, bool, dict]], images: dict[tuple[str, Row], int]) -> PackedBest:
        """Return a record as a shard makes it."""
        found = [made for _, _, made in told]
        for made in found:
            made |= {"lefts": len(made["left"]), "rights": len(made["right"])}
        heads = {name: [made.get(name, 0) for made in found] for name in HEADS}
        heads |= {"cause": [cause for cause, _, _ in told], "cands": [len(made["cands"]) for made in found]}
        channels = sorted({channel for entry in self.store.shapes for channel in entry.channels})
        every = [(i, channel) for i in range(len(found)) for channel in range(len(channels))]
        which = [i for i, _ in every]
        columns = {name: np.array([values[i] for i in which], np.int64) for name, values in heads.items()}
        columns["channel"] = np.array([channel for _, channel in every], np.int64)
        known = np.ones(len(images), np.bool_)
        values = {
            "k": ImageValues(np.arange(len(images)), known, [key for key, _ in images]),
            "x": ImageValues(np.array([row[0] for _, row in images], np.int64), known),
            "m": ImageValues(np.array([row[1] for _, row in images], np.int64), known),
        }
        made = BestMessages(
            channels=channels,
            groups=[b"[]"],
            bounds=np.array([x for i in which for x in (*found[i]["left"], *found[i]["right"])], np.int64),
            cand_x=np.array([x for i in which for x, _ in found[i]["cands"]], np.int64),
            cand=np.array([row for i in which for _, row in found[i]["cands"]], np.int64),
            texts=[],
            images=values,
            **{name: columns[name].astype(np.int32 if name in HEADS[:3] else np.int64) for name in HEADS},
        )
        causes = np.array([told[i][0] for i in which], np.int64)
        several = np.array([told[i][1] for i in which], np.bool_)
        header = Header("best", 0, SHARD, channels=channels)
        return PackedBest(header, np.arange(len(every)), causes * 0, causes, made, several if several.any() else None)


def lines(values: Sequence[bytes]) -> list[dict]:
    """Return deliveries as they are read."""
    return [msgspec.json.decode(value) for value in values]
