"""What the crash test publishes and asks: rows that come, change, move and go, and subscriptions that do so, too."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from typing import Any

from catalog.ddl import apply_ddl
from catalog.relation import Catalog, Relation
from connectors.json_writer import encode_key, encode_row
from connectors.record import OutRecord
from connectors.topics import Topics

TRADE = """CREATE TABLE trade (id BIGINT PRIMARY KEY, sector VARCHAR, venue INTEGER, risk DOUBLE, qty BIGINT,
  price DECIMAL(12,2))"""
WIDER_TRADE = TRADE[:-1] + ", fee BIGINT)"
QUOTE = 'CREATE TABLE quote (desk VARCHAR, no INTEGER, "day" DATE, bid REAL, PRIMARY KEY (desk, no))'
KEYS = 800
SECTORS = ["energy", "health", "tech", "café", "Ω", "food"]
DESKS = ["a", "b", "c"]
REFUSED = ["SELECT MEDIAN(price) FROM trade", "SELECT MIN(x) FROM trade", "SELECT MIN(price FROM trade"]
Row = dict[str, Any]
Pair = tuple[bytes, bytes | None]


def relation_of(ddl: str, name: str) -> Relation:
    return apply_ddl(Catalog(), ddl, 0).relations[name]


class Trades:
    """Publications; the same for the same seed. `table` chooses what the next one concerns."""

    def __init__(self, seed: int) -> None:
        self._choose = random.Random(seed)
        self._rows: dict[int, Row] = {}
        self.trade = relation_of(TRADE, "trade")
        self.quote = relation_of(QUOTE, "quote")
        self.quotes = False

    def widen(self) -> None:
        """From now on rows have the appended column, and the second table has rows."""
        self.trade = relation_of(WIDER_TRADE, "trade")
        self.quotes = True

    def next(self) -> OutRecord:
        if self.quotes and self._choose.random() < 0.15:
            return self._quote()
        key, value = self._trade()
        return OutRecord("trade", None, key, value)

    def _trade(self) -> Pair:
        choose = self._choose
        id = choose.randrange(KEYS)
        known, action = self._rows.get(id), choose.random()
        if action < 0.12:
            self._rows.pop(id, None)
            return encode_key(self.trade, {"id": id}), None
        if known is None or action < 0.2:
            row = {"id": id} | {name: make() for name, make in self._columns().items()}
        else:
            changed = {"price", "qty"} if action < 0.65 else {"risk"} if action < 0.8 else {"risk", "price", "sector"}
            row = known | {name: make() for name, make in self._columns().items() if name in changed}
        self._rows[id] = row
        return encode_key(self.trade, row), encode_row(self.trade, row)

    def _columns(self) -> dict[str, Callable[[], Any]]:
        choose = self._choose
        columns: dict[str, Callable[[], Any]] = {
            "sector": lambda: choose.choice([*SECTORS, None]),
            "venue": lambda: choose.randrange(4),
            "risk": lambda: None if choose.random() < 0.03 else round(choose.uniform(0, 100), 1),
            "qty": lambda: None if choose.random() < 0.05 else choose.choice([-1, 1]) * choose.getrandbits(63),
            "price": lambda: None if choose.random() < 0.05 else f"{choose.randrange(10**6) / 100:.2f}",
        }
        if len(self.trade.columns) > 6:
            columns["fee"] = lambda: choose.randrange(100)
        return columns

    def _quote(self) -> OutRecord:
        choose = self._choose
        row: Row = {"desk": choose.choice(DESKS), "no": choose.randrange(60)}
        key = encode_key(self.quote, row)
        if choose.random() < 0.2:
            return OutRecord("quote", None, key, None)
        row |= {"day": f"2026-0{choose.randrange(1, 10)}-1{choose.randrange(10)}", "bid": choose.uniform(-1, 1)}
        return OutRecord("quote", None, key, encode_row(self.quote, row))


class Questions:
    """Subscriptions; the same for the same seed."""

    def __init__(self, seed: int, topics: Topics) -> None:
        self._choose = random.Random(seed)
        self._topic = topics.subscriptions
        self.ids: list[str] = []

    def new(self, count: int, make: Callable[[], str] | None = None) -> Iterator[OutRecord]:
        for _ in range(count):
            self.ids.append(f"s{len(self.ids)}")
            yield self._record(self.ids[-1], (make or self.trade)())

    def changes(self, count: int) -> Iterator[OutRecord]:
        """Replace and end some of the subscriptions, and ask some that are refused."""
        for _ in range(count):
            id, action = self._choose.choice(self.ids), self._choose.random()
            if action < 0.25:
                yield OutRecord(self._topic, None, id.encode(), None)
            elif action < 0.35:
                yield self._record(
                    id, self._choose.choice(["SELECT MEDIAN(price) FROM trade", "SELECT MIN(x) FROM trade"])
                )
            else:
                yield self._record(id, self.trade())

    def trade(self) -> str:
        choose = self._choose
        low = round(choose.uniform(-5, 95), 1)
        return choose.choice(
            [
                f"SELECT {self._aggregate('price')} FROM trade WHERE sector = '{choose.choice(SECTORS)}' "
                f"AND risk BETWEEN {low} AND {round(low + choose.uniform(-2, 30), 1)}",
                f"SELECT {self._aggregate('qty')} FROM trade WHERE venue = {choose.randrange(4)} AND risk >= {low}",
                f"SELECT {self._aggregate('price')} FROM trade WHERE risk < {low}",
                f"SELECT {self._aggregate('risk')} FROM trade WHERE qty > {choose.getrandbits(62)} AND venue = 1",
                f"SELECT {self._aggregate('price')} FROM trade WHERE risk > {low} AND risk <= {low + 3}",
                f"SELECT {self._aggregate('qty')} FROM trade",
            ]
        )

    def later(self) -> str:
        """Ask what can be asked only after `Trades.widen`."""
        choose = self._choose
        return choose.choice(
            [
                f"SELECT {self._aggregate('bid')} FROM quote WHERE desk = '{choose.choice(DESKS)}'",
                f"SELECT {self._aggregate('bid')} FROM quote WHERE \"day\" >= '2026-0{choose.randrange(1, 10)}-15'",
                f"SELECT {self._aggregate('fee')} FROM trade WHERE sector = '{choose.choice(SECTORS)}'",
                f"SELECT {self._aggregate('price')} FROM trade WHERE fee <= {choose.randrange(100)}",
            ]
        )

    def _aggregate(self, measure: str) -> str:
        return f"{self._choose.choice(['MIN', 'MAX'])}({measure})"

    def _record(self, id: str, sql: str) -> OutRecord:
        return OutRecord(self._topic, None, id.encode(), json.dumps({"sql": sql}).encode())
