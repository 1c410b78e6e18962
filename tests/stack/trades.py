"""What the crash test publishes and asks: rows that come, change, move and go, and subscriptions that do so, too."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from typing import Any

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from catalog.schema.relation import Relation
from connectors.json.writer import encode_key, encode_row
from connectors.record import OutRecord
from connectors.topics import Topics

TRADE = """CREATE TABLE trade (id BIGINT PRIMARY KEY, sector VARCHAR, venue INTEGER, risk DOUBLE, qty BIGINT,
  price DECIMAL(12,2), volume DECIMAL(30,4))"""
WIDER_TRADE = TRADE[:-1] + ", fee BIGINT)"
QUOTE = """CREATE TABLE quote (desk VARCHAR, no INTEGER, "day" DATE, bid REAL, PRIMARY KEY (desk, no))
  WITH ('buckets'='3', 'bucket.by'='desk')"""
KEYS = 800
SECTORS = ["energy", "health", "tech", "café", "Ω", "food"]
DESKS = ["a", "b", "c", "d"]
REFUSED = ["SELECT MEDIAN(price) FROM trade", "SELECT MIN(x) FROM trade", "SELECT MIN(price FROM trade"]
FIRST = [
    "SELECT id, price FROM trade WHERE sector = '{sector}' ORDER BY price DESC, id LIMIT {count}",
    "SELECT * FROM trade WHERE risk BETWEEN {low} AND {high} ORDER BY qty, id DESC LIMIT {count} NOTIFY LATEST",
    "SELECT sector, volume FROM trade WHERE venue = 1 AND risk >= {low} ORDER BY volume, id LIMIT {count}",
]
"""Questions for the first trades of a range."""
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
            changed = (
                {"price", "qty", "volume"}
                if action < 0.65
                else {"risk"}
                if action < 0.8
                else {"risk", "price", "sector"}
            )
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
            "volume": lambda: (
                None if choose.random() < 0.1 else f"{choose.getrandbits(80)}.{choose.randrange(10**4):04}"
            ),
        }
        if self.quotes:
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
    """Subscriptions of every family and policy; the same for the same seed."""

    def __init__(self, seed: int, topics: Topics) -> None:
        self._choose = random.Random(seed)
        self._topic = topics.subscriptions
        self.ids: list[str] = []

    def new(self, count: int, make: Callable[[], Row] | None = None) -> Iterator[OutRecord]:
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
                yield self._record(id, {"sql": self._choose.choice(REFUSED[:2])})
            else:
                yield self._record(id, self.trade())

    def trade(self) -> Row:
        """Ask about trades. What concerns most rows is told at most once a batch."""
        choose = self._choose
        if choose.random() < 0.4:
            return self._any_condition()
        low = round(choose.uniform(-5, 95), 1)
        sector, venue = choose.choice(SECTORS), choose.randrange(4)
        where, often = choose.choice(
            [
                (f"sector = '{sector}' AND risk BETWEEN {low} AND {round(low + choose.uniform(-2, 30), 1)}", False),
                (f"venue = {venue} AND risk >= {low} AND sector = '{sector}'", False),
                (f"risk < {low}", True),
                (f"qty > {choose.getrandbits(62)} AND venue = 1", False),
                (f"risk > {low} AND risk <= {low + 3}", False),
                (f"sector >= '{sector}' AND sector < 'i' AND venue = {venue}", False),
                (f"volume < {choose.getrandbits(78)}.5 AND venue = {venue}", False),
                ("", True),
            ]
        )
        return self._question("trade", self._items(["qty", "price", "risk", "volume"], ["sector", "id"]), where, often)

    def later(self) -> Row:
        """Ask what can be asked only after `Trades.widen`; quotes are kept in buckets, by their desks."""
        choose = self._choose
        desk = f"desk = '{choose.choice(DESKS)}'"
        if choose.random() < 0.5:
            day = f" AND \"day\" >= '2026-0{choose.randrange(1, 10)}-15'"
            where = desk + choose.choice(["", day])
            return self._question("quote", self._items(["bid", "no"], ['"day"']), where, False)
        where = choose.choice([f"sector = '{choose.choice(SECTORS)}'", f"fee <= {choose.randrange(20)}"])
        return self._question("trade", self._items(["fee", "price"], ["sector"]), where, False)

    def first(self) -> Row:
        """Ask for the first trades of a range."""
        choose = self._choose
        low, sector = round(choose.uniform(-5, 95), 1), choose.choice(SECTORS)
        high, count = round(low + choose.uniform(0, 20), 1), choose.randrange(1, 6)
        return {"sql": choose.choice(FIRST).format(low=low, high=high, sector=sector, count=count)}

    def _any_condition(self) -> Row:
        """Ask for the rows that meet any condition, or for sums over them."""
        choose = self._choose
        where, often = self._condition()
        if choose.random() < 0.35:
            items = choose.choice(["COUNT(*)", "SUM(price)", "AVG(risk), COUNT(*)", "SUM(volume), COUNT(qty)"])
            return self._question("trade", (items, items in ("COUNT(*)", "SUM(price)")), where, often)
        shown = choose.choice(["*", "id, sector, price", "sector", "price, qty, price", "volume, id", "risk, venue"])
        keyed = "id" in shown or shown == "*"
        policy = choose.choice(
            ["LATEST"] if often else ["", "", "LATEST", *(["TRANSITIONS", "ENTER"] if keyed else [])]
        )
        sql = f"SELECT {shown} FROM trade{where and ' WHERE ' + where}"
        sql += (policy and f" NOTIFY {policy}") + choose.choice(["", "", "", " SNAPSHOT NONE"])
        return {"sql": sql + choose.choice([""] * 9 + [" TTL 20 SECONDS"])}

    def _condition(self) -> tuple[str, bool]:
        """Return a condition beyond one range, and whether it holds for many rows."""
        choose = self._choose
        low, venue = round(choose.uniform(-5, 95), 1), choose.randrange(4)
        sector, other = choose.sample(SECTORS, 2)
        return choose.choice(
            [
                (f"sector IN ('{sector}', '{other}', NULL) AND risk > {low} AND risk <= {low + 5}", False),
                (f"sector = '{sector}' AND risk BETWEEN {low} AND {low + 9} OR venue = {venue} AND price < 200", False),
                (f"NOT (sector = '{sector}' OR risk < 90 OR venue = {venue})", False),
                (f"sector LIKE '{sector[0]}%' AND venue <> {venue} AND qty > {choose.getrandbits(62)}", False),
                (f"price IS NULL OR volume IS NULL AND sector NOT IN ('{sector}', '{other}')", False),
                (f"id IN ({', '.join(map(str, choose.sample(range(KEYS), 12)))}) AND sector IS NOT NULL", False),
                (f"volume < {choose.getrandbits(77)}.5 OR qty IS NULL", False),
                (f"risk NOT BETWEEN {low} AND {low + 10}", True),
                ("", True),
            ]
        )

    def _question(self, table: str, asked: tuple[str, bool], where: str, often: bool) -> Row:
        """Ask for a SELECT list, of which is said whether it is one number."""
        items, alone = asked
        sql = f"SELECT {items} FROM {table}" + (f" WHERE {where}" if where else "")
        choose = self._choose
        policy = choose.choice(["LATEST"] if often else ["", "", "", "LATEST", "LEAST"])
        if policy == "LEAST":
            policy = choose.choice(["MIN CHANGE 2.5", "MIN CHANGE 10 %"]) if alone else "EVERY CHANGE"
        ttl = choose.choice([20, 90, 3600]) if choose.random() < 0.1 else 0
        if choose.random() < 0.5:
            return {"sql": sql + (f" NOTIFY {policy}" if policy else "") + (f" TTL {ttl} SECONDS" if ttl else "")}
        return {"sql": sql} | ({"notify": policy} if policy else {}) | ({"ttl": ttl} if ttl else {})

    def _items(self, numbers: list[str], others: list[str]) -> tuple[str, bool]:
        """Return a SELECT list, and whether it is one number."""
        choose = self._choose
        kind = choose.random()
        if kind < 0.15:
            return f"DISTINCT {choose.choice([*numbers, *others])}", False
        items = [self._item(numbers, others) for _ in range(1 if kind < 0.8 else choose.randrange(2, 4))]
        return ", ".join(item for item, _ in items), len(items) == 1 and items[0][1]

    def _item(self, numbers: list[str], others: list[str]) -> tuple[str, bool]:
        choose = self._choose
        function = choose.choice(["MIN", "MIN", "MAX", "MAX", "COUNT", "SUM", "AVG"])
        if function == "COUNT" and choose.random() < 0.5:
            return "COUNT(*)", True
        column = choose.choice(numbers if function in ("SUM", "AVG") else [*numbers, *others])
        return f"{function}({column})", column in numbers or function == "COUNT"

    def _record(self, id: str, what: Row) -> OutRecord:
        return OutRecord(self._topic, None, id.encode(), json.dumps(what).encode())
