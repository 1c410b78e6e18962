"""Transfers between accounts at full speed, while engine and edge are killed: nobody is told of money made or lost.

One record is one transfer, so it takes from one account and gives to another in one publication. Views make of it two
entries, of the entries the balance of each account, and of the balances their total, which is 0 whatever happens: after
a transfer, after one that is put right (another amount, another payee), after one that is called back. A system that
shows a balance after the first entry and before the second tells of another total now and then; here every level is
what an exact prefix of the transfers makes of it.
"""

from __future__ import annotations

import random
from decimal import Decimal
from typing import Any

from tidewire.client.records import Answer, Delivery, Member
from tidewire.demo.pace import FullSpeed
from tidewire.demo.story import SEED, Event, Family, Story, ask

TABLE = "transfer"
DDL = """
CREATE TABLE transfer (
  id BIGINT PRIMARY KEY,
  payer INTEGER,
  payee INTEGER,
  amount INTEGER              -- in cents
) WITH ('topic'='demo.transfer', 'format'='json');
CREATE VIEW entry AS
  SELECT payee AS account, amount FROM transfer
  UNION ALL
  SELECT payer AS account, -amount AS amount FROM transfer;
CREATE VIEW balance AS
  SELECT account, SUM(amount) AS balance, COUNT(*) AS entries FROM entry GROUP BY account;
CREATE VIEW total AS
  SELECT COALESCE(SUM(balance), 0) AS total, SUM(entries) AS entries FROM balance
"""
ACCOUNTS = 200
_PUT_RIGHT, _CALLED_BACK = 0.05, 0.02
"""Shares of the events."""
_DEAREST = 100_000
_MOST_BEHIND = 5_000
_TOTAL = "the total"
"""How subscriptions of the total are called."""


def bank_story(transfers: int, subscriptions: int, kills: int) -> Story:
    """Return `transfers` publications, what is asked of them, and how often something is killed. Cost: 5 us each."""
    events = transfer_events(transfers)
    pace = FullSpeed(transfers, min(_MOST_BEHIND, transfers // (kills + 1) + 1))
    about = f"{transfers:,} transfers between {ACCOUNTS} accounts"
    asked = questions(subscriptions)
    return Story("transfers between accounts", about, DDL, events, asked, pace, claim=OnlyZero(), kills=kills)


def transfer_events(count: int) -> list[Event]:
    """Return transfers, and some that are put right or called back, in order."""
    choose = random.Random(SEED)
    events: list[Event] = []
    standing: list[int] = []
    for number in range(count):
        fate = choose.random()
        if standing and fate < _CALLED_BACK:
            id, row = _taken(standing, choose), None
        else:
            id = choose.choice(standing) if standing and fate < _CALLED_BACK + _PUT_RIGHT else number
            row = _transfer(id, choose)
        if id == number:
            standing.append(id)
        events.append(Event(number, TABLE, {"id": id}, row))
    return events


def _taken(standing: list[int], choose: random.Random) -> int:
    """Take one out, whichever, in O(1)."""
    place = choose.randrange(len(standing))
    standing[place], standing[-1] = standing[-1], standing[place]
    return standing.pop()


def _transfer(id: int, choose: random.Random) -> dict[str, Any]:
    payer, payee = choose.randrange(ACCOUNTS), choose.randrange(ACCOUNTS)
    return {"id": id, "payer": payer, "payee": payee, "amount": choose.randrange(1, _DEAREST)}


class OnlyZero:
    """Nobody is told of another total than 0: neither by a view's row nor by a sum asked of the balances.

    No entries, no sum: NULL is no total.
    """

    def __init__(self) -> None:
        self.times = 0
        self.others: list[tuple[Delivery, Member]] = []

    def told(self, delivery: Delivery) -> None:
        """Note the totals of a delivery, those that went as well as those that came."""
        if _TOTAL not in delivery.id:
            return
        rows = [*(delivery.removed or []), *(delivery.added or [])]
        for total in [row[0] for row in rows if isinstance(row, tuple | list)] + _sums(delivery):
            self.times += 1
            if Decimal(str(total)) != 0:
                self.others.append((delivery, total))

    def rows(self) -> list[tuple[str, Any]]:
        """Return how many totals were told, and how many of them were others."""
        return [("totals told", f"{self.times:,}"), ("other than 0", f"{len(self.others):,}")]

    @property
    def holds(self) -> bool:
        """Whether 0 was told, and nothing else."""
        return self.times > 0 and not self.others


def _sums(delivery: Delivery) -> list[Member]:
    answers: list[Answer] = [delivery.old, delivery.new]
    return [answer[0] for answer in answers if isinstance(answer, list) and answer[0] is not None]


def questions(count: int) -> dict[str, str]:
    """Return `count` subscriptions by id: in turn one of each family of `FAMILIES`."""
    return ask(FAMILIES, count)


def _total(choose: random.Random) -> tuple[str, str]:
    """The total and how many entries there are: so each transfer is told, with the total that it leaves."""
    return _TOTAL, "SELECT total, entries FROM total"


def _account(choose: random.Random) -> tuple[str, str]:
    account = choose.randrange(ACCOUNTS)
    return f"account {account}", f"SELECT balance, entries FROM balance WHERE account = {account}"


def _poorest(choose: random.Random) -> tuple[str, str]:
    low, high = _some_accounts(choose)
    return f"lowest of {low}-{high}", f"SELECT MIN(balance) FROM balance WHERE account BETWEEN {low} AND {high}"


def _total_of_balances(choose: random.Random) -> tuple[str, str]:
    """The same total, added up where the question is asked and not by a view."""
    return f"{_TOTAL} of all balances", "SELECT SUM(balance), SUM(entries) FROM balance"


def _richest(choose: random.Random) -> tuple[str, str]:
    low, high = _some_accounts(choose)
    where = f"account BETWEEN {low} AND {high}"
    sql = f"SELECT account, balance FROM balance WHERE {where} ORDER BY balance DESC, account LIMIT 3"
    return f"3 richest of {low}-{high}", sql


def _indebted(choose: random.Random) -> tuple[str, str]:
    least = choose.randrange(100_000, 1_000_000, 10_000)
    return f"owing over {least}", f"SELECT account, balance FROM balance WHERE balance < -{least}"


def _some_accounts(choose: random.Random) -> tuple[int, int]:
    low = choose.randrange(ACCOUNTS - 10)
    return low, low + choose.randrange(2, 10)


FAMILIES: tuple[Family, ...] = (_total, _account, _poorest, _total_of_balances, _richest, _indebted)
"""What is asked."""
