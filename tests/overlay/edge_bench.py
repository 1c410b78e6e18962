"""A virtual edge on the bench: records made by hand, what it wrote sorted by topic."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import numpy as np

from catalog.query.shape import Output, Shape
from catalog.schema.catalog import Catalog
from catalog.schema.relation import Column, Relation
from catalog.types.column_type import ColumnType, Kind
from connectors.record import OutRecord
from connectors.topics import Topics
from operators.answer import Parts
from operators.control import Control, EpochBegins, Progress, RegisterAll, encode_control
from operators.operator import Answers, Messages
from operators.packed import Header, pack_snapshot
from overlay.index.join_index import JoinIndex
from overlay.machine.virtual_edge import VirtualEdge
from state.order_code import INT64_MAX, INT64_MIN
from tests.operators.packing import pack_apart

TOPICS = Topics()
COLUMNS = (
    Column("symbol", ColumnType(Kind.VARCHAR), False),
    Column("risk", ColumnType(Kind.DOUBLE)),
    Column("price", ColumnType(Kind.DECIMAL, 12, 2)),
    Column("day", ColumnType(Kind.DATE)),
    Column("flag", ColumnType(Kind.BOOLEAN)),
)
STOCK = Relation("stock", COLUMNS, ("symbol",), "stock-topic")
BOND = Relation("bond", COLUMNS, ("symbol",), "bond-topic", born=1)
CATALOGS = {
    0: Catalog(0, {"stock": STOCK}),
    1: Catalog(1, {"stock": STOCK, "bond": BOND}),
    2: Catalog(2, {"bond": BOND}),
}
PRICE = Shape("stock", (Output("min", "price"),), (), None)
ASK = "SELECT MIN(price) FROM stock"


class Bench:
    """A virtual edge with what it wrote, sorted by topic."""

    def __init__(
        self, number: int = 0, partitions: int = 1, begun: bool = True,
        catalogs: Callable[[int], Catalog] = CATALOGS.__getitem__, joins: JoinIndex | None = None,
    ) -> None:  # fmt: skip
        self.catalogs = catalogs
        self.edge = VirtualEdge(number, partitions, TOPICS, catalogs, joins=joins)
        self.state: list[bytes] = []
        self.offset = 0
        if begun:
            self.control(EpochBegins(5, 0), RegisterAll(5, 0))

    def control(self, *records: Control) -> None:
        for record in records:
            self.edge.notification(self.offset, b"@x", encode_control(record))
            self.offset += 1

    def ask(self, offset: int, name: str, sql: str = ASK) -> None:
        self.edge.subscription(offset, name.encode(), msgspec.json.encode({"sql": sql}))

    def take(self) -> dict[str, list[OutRecord]]:
        found: dict[str, list[OutRecord]] = {}
        for record in self.edge.take():
            assert record.partition == self.edge.number
            found.setdefault(record.topic.removeprefix("tw."), []).append(record)
        self.state += [record.value for record in found.get("edge-state", []) if record.value is not None]
        return found

    def lines(self, topic: str = "deliveries") -> list[dict]:
        return [msgspec.json.decode(record.value) for record in self.take().get(topic, []) if record.value]

    def snapshot(
        self, batch: int, answers: dict[int, int | None], epoch: int = 5, chunk: int = 0, of: int = 1,
        parts: dict[int, Parts] | None = None,
    ) -> None:  # fmt: skip
        """Answers by version; `parts` by place among them, where the answer is not an order code."""
        header = Header("snapshot", epoch, "stock/0", batch, chunk=chunk, of=of)
        new = np.array([value or 0 for value in answers.values()], np.int64)
        known = np.array([value is not None for value in answers.values()])
        packed = pack_snapshot(header, np.array(list(answers), np.int64), Answers(new, known, parts or {}))
        self.edge.notification(self.offset, b"stock/0", packed)
        self.offset += 1

    def message(self, batch: int, *new: int | None, shape: Shape = PRICE, chunk: int = 0, of: int = 1) -> None:
        """One chunk: messages to everybody of `shape`, from offsets 100, 101 ... of partition 3."""
        m = len(new)
        zeros, everywhere = np.zeros(m, np.int32), np.full((4, m), INT64_MIN)
        everywhere[1] = everywhere[3] = INT64_MAX
        codes, known = np.array([v or 0 for v in new], np.int64), np.array([v is not None for v in new])
        nothing = zeros.astype(np.int64)
        messages = Messages(
            list(shape.channels), [b"[]"], zeros, zeros, zeros,
            nothing, nothing, known & False, codes, known, *everywhere,
        )  # fmt: skip
        header = Header("messages", 5, "stock/0", batch, chunk=chunk, of=of, channels=messages.channels)
        packed = pack_apart(header, messages, np.arange(m), zeros + 3, np.arange(100, 100 + m))
        self.edge.notification(self.offset, b"stock/0", packed)
        self.offset += 1

    def live(self, *names: str, sql: str = ASK, value: int | None = 1025) -> None:
        """Subscribe and answer in batch 0."""
        for version, name in enumerate(names):
            self.ask(version, name, sql)
        self.take()
        self.snapshot(0, dict.fromkeys(range(len(names)), value))
        self.control(Progress(5, 0, 0, "t0"))

    def again(self) -> VirtualEdge:
        edge = VirtualEdge(self.edge.number, 1, TOPICS, self.catalogs)
        edge.restore(self.state)
        assert edge.dump() == self.edge.dump()
        return edge
