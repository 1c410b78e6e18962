"""The first rows of a range in an order.

SELECT symbol, price FROM stock WHERE sector = 'energy' AND risk < 3 ORDER BY price DESC, symbol LIMIT 3

shape      stock, shown (symbol, price), equal (sector), range risk, order (price DESC, symbol), limit 3
channel    the best 5 of the same equal, range and order                    what the shard is listened to for
region     the shape, group ["energy"], lo none, hi 3                      one subscription's constants
"""

from __future__ import annotations

from catalog.query.channel import MOSTS, BestChannel, Channel, Order
from catalog.query.keyed import KeyedShape
from catalog.query.output import Output


class BestShape(KeyedShape, frozen=True, order=True, array_like=True, tag=3):
    """What questions for first rows have in common once their constants are taken out.

    shown: the SELECT list, where a column may stand twice.  equal: the columns compared by `=`, in DDL order.
    range: the range attribute, or None.  order: ends with all columns of the primary key, so no two rows are equal in
    it.  limit: how many rows are asked for, at most the last of `MOSTS`.
    keys: where the columns of the primary key stand in `shown`; () unless all of them are shown.
    """

    relation: str
    shown: tuple[str, ...]
    equal: tuple[str, ...]
    range: str | None
    order: tuple[Order, ...]
    limit: int
    keys: tuple[int, ...]

    @property
    def images(self) -> tuple[str, ...]:
        """What must be known of a row: what is shown, then what else it is ordered by, which tells rows apart."""
        return (*self.shown, *(each.column for each in self.order if each.column not in self.shown))

    @property
    def outputs(self) -> tuple[Output, ...]:
        """None: rows are shown as they are."""
        return ()

    @property
    def grouped(self) -> tuple[str, ...]:
        """The columns whose values are the group of a region."""
        return self.equal

    @property
    def channels(self) -> tuple[Channel, ...]:
        """The one channel that its answers are made from: the smallest that is for enough rows."""
        most = next(most for most in MOSTS if most >= self.limit)
        return (BestChannel(self.relation, "best", None, self.equal, self.range, self.order, most),)

    def channel_of(self, output: Output) -> Channel:
        """Return the channel that its rows are read from."""
        return self.channels[0]
