"""The workload of the benchmarks: prices of stocks that go up and down, and subscribers who ask for the lowest.

    CREATE TABLE stock (symbol VARCHAR PRIMARY KEY, exchange VARCHAR, risk DOUBLE, price DECIMAL(12,2))
    SELECT MIN(price) FROM stock WHERE risk BETWEEN lo AND hi

Each publication changes the price of a random stock by at most `STEP` cents, down ("good") and up ("bad") equally
often, and is about 85 bytes. Whoever asks for k of n rows is affected by about 2 / n of such changes, however large k
is, so 100,000 subscriptions on 50,000 rows make about 2 answers change with a publication; `affected` counts it.

Everything is synthetic, made from a seed: the same seed gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from catalog.ddl.statements import apply_ddl
from catalog.query.shape import Output, Region, Shape, group_key
from catalog.schema.catalog import Catalog
from catalog.schema.relation import Relation
from connectors.kafka.partitioner import home_partition
from connectors.record import OutRecord
from connectors.topics import Topics
from operators.packed import Header, PackedMessages, pack_registrations
from overlay.index.subscription_index import SubscriptionIndex
from state.change_batch import I64
from state.order_code import codes_of_doubles

DDL = (
    "CREATE TABLE stock (symbol VARCHAR PRIMARY KEY, exchange VARCHAR, risk DOUBLE, price DECIMAL(12,2)) "
    "WITH ('topic'='{topic}')"
)
SHAPE = Shape("stock", (Output("min", "price"),), (), "risk")
EXCHANGES = ("NYSE", "NASDAQ", "XETRA", "TSE")
RISKS = 1_000_000
TOP = RISKS / 1_000
STEP = 500
LOWEST, HIGHEST = 10_000, 1_000_000


def catalog_of(topic: str, version: int = 0) -> Catalog:
    """Return the catalog with the table `stock` fed by `topic`."""
    return apply_ddl(Catalog(), DDL.format(topic=topic), version)


class Market:
    """The rows as they are now, in the order of their symbols; `load` publishes all, `changes` moves some."""

    def __init__(self, relation: Relation, rows: int, seed: int = 1) -> None:
        self.relation = relation
        self._random = np.random.default_rng(seed)
        self._risks = (np.sort(self._random.choice(RISKS, rows, replace=False)) / 1_000).tolist()
        self._prices = self._random.integers(LOWEST, HIGHEST, rows).tolist()
        self._places = self._random.permutation(rows).tolist()

    def __len__(self) -> int:
        return len(self._prices)

    def load(self) -> Iterator[OutRecord]:
        """Yield a publication of every row."""
        for row in range(len(self)):
            yield self._publication(row)

    def changes(self, count: int) -> Iterator[OutRecord]:
        """Yield `count` changes of prices, half of them down and half up, in random order."""
        rows = self._random.integers(0, len(self), count).tolist()
        down = self._random.permutation(np.arange(count) % 2).astype(np.bool_).tolist()
        steps = self._random.integers(1, STEP, count).tolist()
        for row, is_down, step in zip(rows, down, steps, strict=True):
            price = self._prices[row]
            is_down = price + step > HIGHEST or (is_down and price - step >= LOWEST)
            self._prices[row] = price - step if is_down else price + step
            yield self._publication(row)

    def _publication(self, row: int) -> OutRecord:
        symbol, price = f"S{self._places[row]:06d}", self._prices[row]
        key = f'{{"symbol":"{symbol}"}}'
        value = (
            f'{{"symbol":"{symbol}","exchange":"{EXCHANGES[row % 4]}","risk":{self._risks[row]!r},'
            f'"price":{price // 100}.{price % 100:02d}}}'
        )
        return OutRecord(self.relation.topic, None, key.encode(), value.encode())


class Audience:
    """Subscribers to a table of `rows`: ranges of `risk` over one row to `widest`, evenly over the orders of magnitude.

    Wide ranges hear of the lowest rows only; the narrower they are, the more publications change something.
    """

    def __init__(self, size: int, rows: int, widest: int | None = None, seed: int = 2) -> None:
        source = np.random.default_rng(seed)
        width = TOP / rows * np.exp(source.uniform(0, np.log(widest or rows), size))
        self.lo: list[float] = np.round(source.uniform(0, TOP - width), 3).tolist()
        self.hi: list[float] = np.round(np.array(self.lo) + width, 3).tolist()

    def __len__(self) -> int:
        return len(self.lo)

    def codes(self) -> tuple[I64, I64]:
        """Return the order codes of both bounds."""
        return codes_of_doubles(np.array(self.lo)), codes_of_doubles(np.array(self.hi))

    def identities(self) -> list[str]:
        """Return the ids of the subscriptions."""
        return [f"subscriber-{i:06d}" for i in range(len(self))]

    def subscriptions(self, topics: Topics, form: str = "") -> Iterator[OutRecord]:
        """Yield the records that ask an edge; `form` is put behind each statement."""
        for name, lo, hi in zip(self.identities(), self.lo, self.hi, strict=True):
            sql = f'{{"sql":"SELECT MIN(price) FROM stock WHERE risk BETWEEN {lo!r} AND {hi!r}{form}"}}'
            yield OutRecord(topics.subscriptions, None, name.encode(), sql.encode())

    def registrations(self, topics: Topics, epoch: int, relation: Relation, partitions: int) -> Iterator[OutRecord]:
        """Yield the records that edges would write for these subscriptions, each at its home."""
        homes: list[list[int]] = [[] for _ in range(partitions)]
        for i, name in enumerate(self.identities()):
            homes[home_partition(name.encode(), partitions)].append(i)
        lo, hi = (codes.tolist() for codes in self.codes())
        for ve, own in enumerate(homes):
            header = Header("register", epoch, relation.shard, ve=ve, catalog=relation.born)
            regions = [Region(SHAPE, group_key(()), lo[i], hi[i]) for i in own]
            for value in pack_registrations(header, own, regions):
                yield OutRecord(topics.registrations, ve, relation.shard.encode(), value)

    def affected(self, packed: Sequence[PackedMessages]) -> int:
        """Return how many answers `packed` change, a subscription counted as often as a message meets it."""
        index = SubscriptionIndex()
        size = len(self)
        zeros = np.zeros(size, np.int64)
        index.insert(np.arange(size), zeros, [group_key(())] * size, zeros, *self.codes())
        number = index.groups.number(0, group_key(()), 0)
        met = 0
        for part in packed:
            of = part.messages
            groups = np.full(len(of), number, np.int64)
            met += len(index.query(groups, of.lo_min, of.lo_max, of.hi_min, of.hi_max)[0])
        return met
