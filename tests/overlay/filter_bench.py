"""A virtual edge on the bench with filters: registrations as the shard reads them, rows and images made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from catalog.query.channel import ImageChannel
from operators.control import Progress
from operators.operator import Answers
from operators.packed import Header, PackedRegistrations, is_packed, pack_images, pack_snapshot, unpack
from operators.reply import Asked, Reply, Rows, encode_row
from operators.row_images import Images
from state.causes import Causes
from tests.oracle.naive_answer import Naive, Row
from tests.oracle.naive_filter import Image, ImageTeller
from tests.overlay.edge_bench import STOCK, Bench

COLUMNS = ("symbol", "risk", "price", "day", "flag")
Change = tuple[Row | None, Row | None]


def stock(symbol: str, price: int | None = None, **others: int | None) -> Row:
    """Return a row of the bench's table; prices are in hundredths."""
    return {"symbol": symbol, "price": price} | others


def rows_of(*rows: tuple[int | str | None, ...], last: bool = True) -> Rows:
    """Return rows as a shard answers with."""
    return Rows(tuple(encode_row(row) for row in rows), last)


class FilterBench(Bench):
    """Each change is a cause of its own, at offsets 100, 101 ... of partition 3; `asked`: how rows were asked for."""

    epoch = 5
    asked: list[Asked]

    def answer(self, batch: int, replies: Sequence[tuple[int, Reply]], chunk: int = 0, of: int = 1) -> None:
        """Give replies by version, as one chunk."""
        header = Header("snapshot", self.epoch, "stock/0", batch, chunk=chunk, of=of)
        nothing = np.zeros(len(replies), np.int64)
        versions = np.array([version for version, _ in replies], np.int64)
        answers = Answers(nothing, nothing > 0, {})
        packed = pack_snapshot(header, versions, answers, {i: reply for i, (_, reply) in enumerate(replies)})
        self._give(packed)

    def images(
        self, batch: int, *changes: Change, swept: bool = False, first: int = 0, needed: Sequence[str] = COLUMNS,
        chunk: int = 0, of: int = 1, last_alone: bool = False,
    ) -> None:  # fmt: skip
        """Give row changes as one chunk; `swept`: all are of one cause, or all but the `last_alone`.

        `first` numbers the first cause.
        """
        numbers = [first + (0 if swept else i) for i in range(len(changes))]
        numbers[-1] += last_alone
        said = [Image(number, *change) for number, change in zip(numbers, changes, strict=True)]
        images: Images = ImageTeller(Naive(STOCK), set(needed)).images(said)
        causes = numbers[-1] + 1
        nothing = np.zeros(causes, np.int32)
        offsets = Causes(["stock-topic"], nothing, nothing + 3, np.arange(100, 100 + causes))
        header = Header("images", self.epoch, "stock/0", batch, chunk=chunk, of=of)
        several = np.full(causes, swept)
        self._give(pack_images(header, ImageChannel("stock"), images, np.arange(len(said)), offsets, several))

    def end(self, batch: int) -> None:
        """Say that a batch is committed."""
        self.control(Progress(self.epoch, batch, 0, f"t{batch}"))

    def start(self, sql: str, *rows: tuple[int | str | None, ...], name: str = "a", version: int = 0) -> None:
        """Subscribe and answer in batch 0."""
        self.ask(version, name, sql)
        self.take()
        self.answer(0, [(version, rows_of(*rows))])
        self.end(0)

    def told(self) -> list[dict[str, Any]]:
        """Return what was told, but for progress."""
        return [line for line in self.lines() if line["kind"] != "progress"]

    def registered(self) -> list[PackedRegistrations]:
        """Return the registrations of the step."""
        values = [record.value for record in self.take().get("registrations", [])]
        found = [unpack(value) for value in values if value is not None and is_packed(value)]
        return [one for one in found if isinstance(one, PackedRegistrations)]

    def _give(self, value: bytes) -> None:
        self.edge.notification(self.offset, b"stock/0", value)
        self.offset += 1
