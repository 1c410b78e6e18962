"""What the soak publishes and asks: a small table that never stands still, and questions that few publications answer.

Trades change, move and go; quotes are kept in three buckets. Nearly every question is about so small a region that a
publication changes about `AFFECTED` answers, however many questions there are; one in 500 is about a hundredth of the
trades, and told at most once a batch. Families and policies are those of the crash test. As from applications, the same
few SELECT lists are asked about ever new regions; so are rows, and sums, under conditions beyond one range; first rows,
in few orders; and rows of joins of the trades with a few notes about them, of which each says who is above it. Some ask
views of trades and notes, and some for offers, which choose whom they are for; and some ask for minutes of a stream,
whose answers become final when the minute is over.
"""

from __future__ import annotations

import random

from connectors.json.writer import encode_key, encode_row
from connectors.record import OutRecord
from connectors.topics import Topics
from tests.stack.boards import Boards
from tests.stack.notes import Notes
from tests.stack.offers import Offers
from tests.stack.ticks import Ticks
from tests.stack.trades import QUOTE, SECTORS, Questions, Row, relation_of

TRADE = """CREATE TABLE trade (id BIGINT PRIMARY KEY, sector VARCHAR, venue INTEGER, risk DOUBLE, qty BIGINT,
  price DECIMAL(12,2))"""
TRADES, QUOTES, NOTES = 20_000, 2_000, 2_000
TICKS_A_MINUTE, MINUTES = 600, 90
"""At 1,000 publications a second the time of the ticks goes about as fast as ours; questions go beyond an hour."""
DESKS = ["a", "b", "c", "d", "e", "f", "g", "h"]
QTY, RISK, BID = 10**9, 100.0, 2.0
AFFECTED = 1.5
LISTS = {
    "trade": [
        "MIN(price)",
        "MAX(price), MIN(price)",
        "COUNT(*)",
        "SUM(price), COUNT(*)",
        "DISTINCT sector",
    ],
    "quote": ["MIN(bid)", 'MAX("day")', "COUNT(*)", "AVG(bid), MIN(bid)", "DISTINCT no"],
}
"""The SELECT lists: an engine's work for a publication grows with the different things that are asked."""
ROWS = [
    ("id, sector, price", ["", "", "LATEST", "TRANSITIONS", "ENTER"]),
    ("*", ["", "LATEST", "TRANSITIONS"]),
    ("sector, risk", ["", "LATEST"]),
]
"""What is shown of rows, and the policies that it allows."""
FIRST = [("id, price", "price DESC, id"), ("id, qty", "qty, id"), ("sector, price", "price, id")]
"""What is shown of first rows, and their order."""
ONE_NUMBER = {"MIN(price)", "COUNT(*)", "MIN(bid)"}


class Market:
    """Publications; the same for the same seed. Memory: the rows that are there, at most `TRADES`."""

    def __init__(self, seed: int) -> None:
        self._choose = random.Random(seed)
        self._rows: dict[int, Row] = {}
        self._trade = relation_of(TRADE, "trade")
        self._quote = relation_of(QUOTE, "quote")
        self._notes = Notes(seed, Topics(), NOTES, TRADES)
        self._offers = Offers(seed, Topics())
        self._ticks = Ticks(seed, Topics(), TICKS_A_MINUTE, NOTES)

    def next(self) -> OutRecord:
        """Return a change of a trade, in five of a quote, in fifty of a note, in 100 a tick, in 200 of an offer."""
        if self._choose.random() < 0.02:
            return self._notes.next()
        if self._choose.random() < 0.01:
            return self._ticks.next()
        if self._choose.random() < 0.005:
            return self._offers.next()
        return self._next_quote() if self._choose.random() < 0.2 else self._next_trade()

    def _next_trade(self) -> OutRecord:
        choose = self._choose
        id, action = choose.randrange(TRADES), choose.random()
        known = self._rows.get(id)
        if known is not None and action < 0.08:
            del self._rows[id]
            return OutRecord("trade", None, encode_key(self._trade, {"id": id}), None)
        if known is None or action < 0.12:
            row = {"id": id} | self._values("sector", "venue", "risk", "qty", "price")
        elif action < 0.75:
            row = known | self._values("price", "qty")
        else:
            row = known | self._values("risk", *(["sector", "price"] if action > 0.9 else []))
        self._rows[id] = row
        return OutRecord("trade", None, encode_key(self._trade, row), encode_row(self._trade, row))

    def _values(self, *columns: str) -> Row:
        choose = self._choose
        made: Row = {}
        for column in columns:
            if column == "sector":
                made[column] = choose.choice(SECTORS)
            elif column == "venue":
                made[column] = choose.randrange(4)
            elif column == "risk":
                made[column] = None if choose.random() < 0.02 else round(choose.uniform(0, RISK), 4)
            elif column == "qty":
                made[column] = None if choose.random() < 0.02 else choose.randrange(QTY)
            else:
                made[column] = None if choose.random() < 0.02 else f"{choose.randrange(10**6) / 100:.2f}"
        return made

    def _next_quote(self) -> OutRecord:
        choose = self._choose
        row: Row = {"desk": choose.choice(DESKS), "no": choose.randrange(QUOTES)}
        key = encode_key(self._quote, row)
        if choose.random() < 0.1:
            return OutRecord("quote", None, key, None)
        row |= {"day": f"2026-0{choose.randrange(1, 10)}-1{choose.randrange(10)}", "bid": choose.uniform(-1, 1)}
        return OutRecord("quote", None, key, encode_row(self._quote, row))


class Asker(Questions):
    """Makes questions, of which a publication answers about `AFFECTED` while `count` of them stand."""

    def __init__(self, seed: int, topics: Topics, count: int) -> None:
        super().__init__(seed, topics)
        self._part = AFFECTED / max(count, 1)
        self._boards = Boards(seed, topics)
        self._offers = Offers(seed, topics)
        self._ticks = Ticks(seed, topics, TICKS_A_MINUTE, NOTES)

    def ask(self) -> Row:
        """Return what a record of `subscriptions` says; one in ten has a time to live."""
        choose = self._choose
        if choose.random() < 0.002:
            low = choose.uniform(0, RISK * 0.94)
            where = f"sector = '{choose.choice(SECTORS)}' AND risk BETWEEN {low:.4f} AND {low + RISK * 0.06:.4f}"
            return self._question("trade", self._asked("trade"), where, True)
        if choose.random() < 0.002:
            return self._offers.ask()
        if choose.random() < 0.015:
            return self._ticks.ask(MINUTES)
        if choose.random() < 0.3:
            return self._beyond_a_range()
        if choose.random() < 0.1:
            return self._first_rows()
        if choose.random() < 0.05:
            return self._joined()
        if choose.random() < 0.02:
            return self._boards.ask(min(self._part * 10, 0.2))
        if choose.random() < 0.2:
            return self._question("quote", self._asked("quote"), self._about_quotes(), False)
        return self._question("trade", self._asked("trade"), self._about_trades(), False)

    def _beyond_a_range(self) -> Row:
        """Ask for the trades that meet a condition beyond one range, or for sums over them."""
        choose, part = self._choose, self._part
        sector, other = choose.sample(SECTORS, 2)
        low, ids = choose.uniform(0, RISK), ", ".join(str(choose.randrange(TRADES)) for _ in range(3))
        width = RISK * part
        where = choose.choice(
            [
                f"sector IN ('{sector}', '{other}') AND risk BETWEEN {low:.5f} AND {low + 3 * width:.5f}",
                f"id IN ({ids}) OR id = {choose.randrange(TRADES)} AND price > 5000",
                f"venue <> 2 AND sector LIKE '{sector[0]}%' AND {self._between('risk', RISK, 6 * part)}",
                f"NOT (sector = '{sector}' OR qty IS NULL) AND {self._between('risk', RISK, part)}",
                f"risk IS NULL AND price < 100 AND venue = {choose.randrange(4)} AND qty < {int(QTY * 800 * part)}",
            ]
        )
        if choose.random() < 0.3:
            return self._question("trade", (choose.choice(["COUNT(*)", "SUM(price)"]), True), where, False)
        shown, policies = choose.choice(ROWS)
        policy = choose.choice(policies)
        sql = f"SELECT {shown} FROM trade WHERE {where}" + (policy and f" NOTIFY {policy}")
        return {"sql": sql + choose.choice(["", "", "", " SNAPSHOT NONE"])} | choose.choice([{}] * 9 + [{"ttl": 90}])

    def _first_rows(self) -> Row:
        """Ask for the best few trades of a range of risk, in one of three orders."""
        choose = self._choose
        shown, order = choose.choice(FIRST)
        where = f"sector = '{choose.choice(SECTORS)}' AND {self._between('risk', RISK, 6 * self._part)}"
        sql = f"SELECT {shown} FROM trade WHERE {where} ORDER BY {order} LIMIT {choose.randrange(1, 6)}"
        return {"sql": sql + choose.choice(["", "", " NOTIFY LATEST"])} | choose.choice([{}] * 9 + [{"ttl": 90}])

    def _joined(self) -> Row:
        """Ask for trades with their notes, or for notes with those above them."""
        choose = self._choose
        about = "trade t JOIN note n ON t.id = n.trade"
        narrow = choose.choice([f"n.id = {choose.randrange(NOTES)}", self._between("t.risk", RISK, 10 * self._part)])
        sql = choose.choice(
            [
                f"SELECT t.id, t.price, n.sector FROM {about} WHERE {narrow}",
                f"SELECT t.price, o.mark FROM {about} JOIN note o ON n.chief = o.id WHERE {narrow}",
                f"SELECT a.id, b.mark FROM note a JOIN note b ON a.chief = b.id WHERE a.id = {choose.randrange(NOTES)}",
            ]
        )
        return {"sql": sql + choose.choice(["", "", " NOTIFY LATEST", " SNAPSHOT NONE"])} | choose.choice(
            [{}] * 9 + [{"ttl": 90}]
        )

    def _asked(self, table: str) -> tuple[str, bool]:
        items = self._choose.choice(LISTS[table])
        return items, items in ONE_NUMBER

    def _about_trades(self) -> str:
        choose, part = self._choose, self._part
        venue, sector = choose.randrange(4), choose.choice(SECTORS)
        kind = choose.randrange(4)
        if kind == 0:
            return f"sector = '{sector}' AND {self._between('risk', RISK, 6 * part)}"
        if kind == 1:
            return self._between("risk", RISK, part)
        if kind == 2:
            low = choose.randrange(QTY)
            return f"qty >= {low} AND qty < {low + int(QTY * 4 * part)} AND venue = {venue}"
        return f"id = {choose.randrange(TRADES)}"

    def _about_quotes(self) -> str:
        choose = self._choose
        desk = choose.choice(DESKS)
        if choose.random() < 0.5:
            return f"desk = '{desk}' AND no = {choose.randrange(QUOTES)}"
        low = choose.uniform(-1, 1)
        return f"desk = '{desk}' AND bid >= {low:.7f} AND bid < {low + BID * 8 * self._part:.7f}"

    def _between(self, column: str, size: float, part: float) -> str:
        low = self._choose.uniform(0, size)
        return f"{column} BETWEEN {low:.5f} AND {low + size * min(part, 1):.5f}"
