"""Filters: the rows that meet a WHERE, or totals over them, whatever the WHERE says.

    SELECT symbol, price FROM stock WHERE price > 5 AND (sector <> 'energy' OR risk IS NULL)

    shape      stock, shown (symbol, price), tested (sector, risk, price)      what the edge answers
    channel    the images of stock's rows                                      what the shard is listened to for
    region     the shape, group [], terms: boxes of value sets                 one subscription's constants

The WHERE as a whole is constants: subscriptions that show and compare the same columns have one shape.
"""

from __future__ import annotations

from catalog.query.channel import Channel, ImageChannel
from catalog.query.keyed import KeyedShape
from catalog.query.output import Output


class FilterShape(KeyedShape, frozen=True, order=True, array_like=True, tag=2):
    """What filters have in common once their WHERE is taken out.

    shown: the SELECT list of rows, where a column may stand twice; or else outputs: COUNT, SUM and AVG.
    tested: the columns that the WHERE compares, in DDL order; the boxes in a region's terms count in them.
    bucket: the columns by which the table's rows are parted into buckets, each fixed by `=`; () without buckets.
    keys: where the columns of the primary key stand in `shown`; () unless all of them are shown.
    """

    relation: str
    shown: tuple[str, ...]
    outputs: tuple[Output, ...]
    tested: tuple[str, ...]
    bucket: tuple[str, ...]
    keys: tuple[int, ...]

    @property
    def equal(self) -> tuple[str, ...]:
        """None: no channel of a filter is parted by equalities."""
        return ()

    @property
    def range(self) -> str | None:
        """None: no channel of a filter has a range."""
        return None

    @property
    def grouped(self) -> tuple[str, ...]:
        """The columns whose values are the group of a region."""
        return self.bucket

    @property
    def channels(self) -> tuple[Channel, ...]:
        """The one channel that its answers are made from."""
        return (ImageChannel(self.relation),)

    def channel_of(self, output: Output) -> Channel:
        """Return the channel that `output` is read from."""
        return ImageChannel(self.relation)
