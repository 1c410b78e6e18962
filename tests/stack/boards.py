"""Views of trades and of the notes about them, and questions about these views.

noted      of each trade how many notes there are, and the highest mark: a view of the notes
board      trades with what is noted of them: a view of a table and a view, in the cell of both tables
sectors    of each sector what its noted trades come to: on top of `board`
dearest    the first two of each sector and venue: beside the trades
"""

from __future__ import annotations

from typing import Any

from tests.stack.source import Inquiry
from tests.stack.trades import SECTORS

DEAREST = """CREATE VIEW dearest AS SELECT id, sector, venue, price FROM trade
  QUALIFY ROW_NUMBER() OVER (PARTITION BY sector, venue ORDER BY price DESC, id) <= {}"""
BOARDS = f"""
CREATE VIEW noted AS SELECT trade, COUNT(*) AS notes, MAX(mark) AS mark
  FROM note WHERE trade IS NOT NULL GROUP BY trade;
CREATE VIEW board AS SELECT t.id, t.sector, t.risk, t.price, n.notes, n.mark
  FROM trade t JOIN noted n ON t.id = n.trade;
CREATE VIEW sectors AS SELECT sector, COUNT(*) AS trades, SUM(notes) AS notes, MIN(price) AS low
  FROM board GROUP BY sector;
{DEAREST.format(2)}
"""
"""Needs the tables `trade` and `note`."""
ASKED = [
    "SELECT id, price, notes FROM board WHERE sector = '{sector}' AND risk BETWEEN {low} AND {high}",
    "SELECT MIN(price) FROM board WHERE risk BETWEEN {low} AND {high}",
    "SELECT id, mark FROM board WHERE notes > 1 AND risk > {low} NOTIFY LATEST",
    "SELECT id, price FROM board WHERE sector = '{sector}' ORDER BY price, id LIMIT 3",
    "SELECT COUNT(*), SUM(notes) FROM board WHERE mark BETWEEN {low} AND {high}",
    "SELECT trades, notes, low FROM sectors WHERE sector = '{sector}'",
    "SELECT MAX(notes) FROM sectors NOTIFY LATEST",
    "SELECT COUNT(*) FROM noted WHERE mark > {low} NOTIFY LATEST",
    "SELECT trade, notes FROM noted WHERE mark >= {low} AND mark < {high} SNAPSHOT NONE",
]
OF_DEAREST = [
    "SELECT id, price FROM dearest WHERE sector = '{sector}'",
    "SELECT MAX(price) FROM dearest WHERE sector = '{sector}' AND venue = 1",
]
"""These end when `dearest` is dropped."""


class Boards(Inquiry):
    """Questions about the views; the same for the same seed."""

    name = "board"

    def ask(self, part: float = 0.2) -> dict[str, Any]:
        """Return what a record of `subscriptions` says; ranges are this part of all that there is, at most."""
        choose = self._choose
        low = round(choose.uniform(-5, 95), 4)
        high = round(low + choose.uniform(0, 100 * part), 4)
        sql = choose.choice(choose.choice([ASKED, ASKED, ASKED, OF_DEAREST]))
        said = sql.format(low=low, high=high, sector=choose.choice(SECTORS))
        return {"sql": said} | choose.choice([{}, {}, {"deliver": "packed"}])
