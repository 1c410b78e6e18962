import pytest

from catalog.schema.stream import Closing
from tests.catalog.streamed import CATALOG, after, declared

HOUR = "DATE_TRUNC('hour', ts)"


def test_it_is_carried_from_the_fold_on() -> None:
    stages = CATALOG.views["hourly"].stages
    assert [stage.relation.closing for stage in stages] == [None, Closing(HOUR, "hour"), Closing("hour", "hour")]
    assert CATALOG.views["daily"].relation.closing == Closing("day", "day")
    assert CATALOG.views["symbols"].relation.closing is None
    assert CATALOG.relations["trade"].closing is None and CATALOG.relations["company"].closing is None


@pytest.mark.parametrize(
    ("query", "closing"),
    [
        (f"SELECT {HOUR} AS h, n FROM trade GROUP BY {HOUR}, n HAVING n > 3", Closing("h", "hour")),
        (f"SELECT {HOUR} AS h, DATE_TRUNC('day', ts) AS d FROM trade GROUP BY {HOUR}, DATE_TRUNC('day', ts)",
         Closing("h", "hour")),
        (f"SELECT DATE_TRUNC('day', {HOUR}) AS d FROM trade GROUP BY DATE_TRUNC('day', {HOUR})", Closing("d", "day")),
        ("SELECT DATE_TRUNC('minute', DATE_TRUNC('day', ts)) AS d FROM trade "
         "GROUP BY DATE_TRUNC('minute', DATE_TRUNC('day', ts))", Closing("d", "day")),
        ("SELECT DATE_TRUNC('hour', ts) AS h, n FROM trade GROUP BY ts, n", Closing("h", "hour")),
        ("SELECT ts, n FROM trade GROUP BY ts, n", None),
        (f"SELECT n FROM trade GROUP BY {HOUR}, n", None),
        ("SELECT hour, symbol FROM hourly WHERE high > 3", Closing("hour", "hour")),
        ("SELECT DATE_TRUNC('day', hour) AS d, symbol FROM hourly", Closing("d", "day")),
        ("SELECT symbol, MAX(hour) AS h FROM hourly GROUP BY symbol", None),
        ("SELECT hour, COUNT(*) AS n FROM hourly GROUP BY hour", Closing("hour", "hour")),
        ("SELECT hour, symbol FROM hourly "
         "QUALIFY ROW_NUMBER() OVER (PARTITION BY hour ORDER BY high, symbol) <= 2", Closing("hour", "hour")),
        ("SELECT hour, symbol FROM hourly "
         "QUALIFY ROW_NUMBER() OVER (PARTITION BY symbol ORDER BY high, hour) <= 2", None),
        ("SELECT h.hour, h.symbol FROM hourly h JOIN hourly i ON h.hour = i.hour", Closing("hour", "hour")),
        ("SELECT i.hour, h.symbol FROM hourly h JOIN hourly i ON h.hour = i.hour", Closing("hour", "hour")),
        ("SELECT i.hour, h.symbol FROM hourly h LEFT JOIN hourly i ON h.hour = i.hour", None),
        ("SELECT h.hour, d.n FROM hourly h LEFT JOIN daily d ON h.hour = d.day", Closing("hour", "day")),
        ("SELECT h.hour, i.n FROM hourly h JOIN hourly i ON h.symbol = i.symbol", None),
        ("SELECT hour, symbol FROM hourly UNION ALL SELECT day, 'all' AS symbol FROM daily", Closing("hour", "day")),
        ("SELECT hour, n FROM hourly UNION ALL SELECT TIMESTAMP '2026-03-02 10:00:00' AS hour, n FROM symbols", None),
        ("SELECT COALESCE(hour, hour) AS h FROM hourly", None),
    ],
)  # fmt: skip
def test_of_a_query(query: str, closing: Closing | None) -> None:
    assert declared(query).relation.closing == closing


def test_a_view_of_a_view_sees_all_windows_of_its_stages() -> None:
    both = f"SELECT {HOUR} AS h, DATE_TRUNC('day', ts) AS d, n FROM trade GROUP BY {HOUR}, DATE_TRUNC('day', ts), n"
    made = after(f"CREATE VIEW both AS {both}; CREATE VIEW days AS SELECT d, COUNT(*) AS c FROM both GROUP BY d")
    assert made.views["days"].relation.closing == Closing("d", "day")
