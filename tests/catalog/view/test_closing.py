import pytest

from catalog.schema.stream import HOUR as AN_HOUR
from catalog.schema.stream import WINDOWS, Closing
from tests.catalog.streamed import CATALOG, STREAM, after, declared

HOUR = "DATE_TRUNC('hour', ts)"
KEEP = 7 * WINDOWS["day"]
"""Of the stream `trade`."""


def test_it_is_carried_from_the_fold_on() -> None:
    stages = CATALOG.views["hourly"].stages
    assert [stage.relation.closing for stage in stages] == [
        None,
        Closing(HOUR, "hour", KEEP + AN_HOUR),
        Closing("hour", "hour", KEEP + AN_HOUR),
    ]
    assert CATALOG.views["daily"].relation.closing == Closing("day", "day", KEEP + AN_HOUR)
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
    found = declared(query).relation.closing
    assert (found and Closing(found.column, found.unit)) == closing


def test_a_view_of_a_view_sees_all_windows_of_its_stages() -> None:
    both = f"SELECT {HOUR} AS h, DATE_TRUNC('day', ts) AS d, n FROM trade GROUP BY {HOUR}, DATE_TRUNC('day', ts), n"
    made = after(f"CREATE VIEW both AS {both}; CREATE VIEW days AS SELECT d, COUNT(*) AS c FROM both GROUP BY d")
    assert made.views["days"].relation.closing == Closing("d", "day", KEEP + AN_HOUR)


@pytest.mark.parametrize(("keep", "held"), [("22 h", None), ("23 h", 24), ("24 h", 25), ("1 h", None)])
def test_days_are_final_where_their_first_hours_are_there_still(keep: str, held: int | None) -> None:
    ddl = STREAM.replace("7 days", keep).replace("trade", "t")
    made = after(
        f"{ddl}; CREATE VIEW h AS SELECT {HOUR} AS hour, COUNT(*) AS n FROM t GROUP BY {HOUR};"
        "CREATE VIEW d AS SELECT DATE_TRUNC('day', hour) AS day, SUM(n) AS n FROM h GROUP BY DATE_TRUNC('day', hour);"
        "CREATE VIEW b AS SELECT hour FROM h UNION ALL SELECT day FROM d;"
        "CREATE VIEW o AS SELECT DATE_TRUNC('day', ts) AS day, COUNT(*) AS n FROM t GROUP BY DATE_TRUNC('day', ts);"
        "CREATE VIEW u AS SELECT day FROM o UNION ALL SELECT day FROM d"
    )
    hours = int(keep.split()[0])
    closings = {name: made.views[name].relation.closing for name in "hdbou"}
    assert closings["h"] == Closing("hour", "hour", (hours + 1) * AN_HOUR)
    assert closings["o"] == Closing("day", "day", (hours + 24) * AN_HOUR)
    assert closings["d"] == (None if held is None else Closing("day", "day", held * AN_HOUR))
    assert closings["b"] == (None if held is None else Closing("hour", "day", held * AN_HOUR))
    assert closings["u"] == (None if held is None else Closing("day", "day", held * AN_HOUR))


def test_a_fold_of_no_window_keeps_its_rows_and_so_does_what_makes_windows_of_it() -> None:
    made = declared("SELECT DATE_TRUNC('hour', ts) AS h, n FROM trade GROUP BY ts, n")
    assert made.relation.closing == Closing("h", "hour")


@pytest.mark.parametrize(("keeps", "closes"), [(("", ""), True), ((", 'keep'='7 days'", ""), False), (("",), True)])
def test_several_streams_close_together_where_none_lets_rows_go(keeps: tuple[str, ...], closes: bool) -> None:
    streams = "".join(
        f"CREATE STREAM s{i} (g VARCHAR, ts TIMESTAMP) WITH ('event_time'='ts', 'lateness'='1 s'{keep});"
        f"CREATE VIEW v{i} AS SELECT g, {HOUR} AS hour FROM s{i} GROUP BY g, {HOUR};"
        for i, keep in enumerate(keeps)
    )
    other = len(keeps) - 1
    made = after(
        f"{streams} CREATE TABLE t (g VARCHAR PRIMARY KEY, hour TIMESTAMP);"
        f"CREATE VIEW u AS SELECT g, hour FROM v0 UNION ALL SELECT g, hour FROM v{other};"
        f"CREATE VIEW j AS SELECT a.hour, b.g FROM v0 a JOIN v{other} b ON a.hour = b.hour;"
        "CREATE VIEW h AS SELECT hour, COUNT(*) AS n FROM u GROUP BY hour;"
        "CREATE VIEW named AS SELECT a.hour, a.g FROM v0 a JOIN t ON a.g = t.g AND a.hour = t.hour;"
        "CREATE VIEW mixed AS SELECT hour, g FROM v0 UNION ALL SELECT hour, g FROM t"
    )
    found = {name: made.views[name].relation.closing for name in ("u", "j", "h", "named", "mixed")}
    hour = Closing("hour", "hour") if closes else None
    assert found == {"u": hour, "j": hour, "h": hour, "named": None, "mixed": None}
