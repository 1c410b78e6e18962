from tidewire.verification.input.closing import closing_of, fold_window, held_of
from tidewire.verification.input.declared import Declared
from tidewire.verification.records.journal import Record

HOUR, DAY = 3_600_000_000, 86_400_000_000
DDL = """CREATE STREAM s (g VARCHAR, x INTEGER, ts TIMESTAMP) WITH ('event_time'='ts', 'lateness'='1 s');
CREATE VIEW v AS SELECT MIN(x) AS low, DATE_TRUNC('hour', ts) AS hour, g FROM s GROUP BY g, DATE_TRUNC('hour', ts);
CREATE VIEW days AS SELECT DATE_TRUNC('day', hour) AS day, COUNT(*) AS n FROM v GROUP BY DATE_TRUNC('day', hour);
CREATE VIEW hidden AS SELECT g, low FROM v;
CREATE VIEW top AS SELECT g, hour, low FROM v QUALIFY ROW_NUMBER() OVER (PARTITION BY hour ORDER BY low, g) <= 1;
CREATE VIEW best AS SELECT g, hour FROM v QUALIFY ROW_NUMBER() OVER (PARTITION BY g ORDER BY low, hour) <= 1;
CREATE VIEW whole AS SELECT g, COUNT(*) AS n FROM s GROUP BY g;
CREATE VIEW both AS SELECT g FROM v UNION ALL SELECT g FROM whole"""
DECLARED = Declared([Record(0, 0, 0, None, DDL.encode())])
TABLES, VIEWS = DECLARED.at(0), DECLARED.views_at(0)


def test_which_column_closes_rows() -> None:
    found = {name: closing_of(view, VIEWS, TABLES) for name, view in VIEWS.items() if name != "both"}
    assert found == {"v": (1, HOUR), "days": (0, DAY), "hidden": None, "top": (1, HOUR), "best": None, "whole": None}


def test_by_which_window_a_stream_is_grouped() -> None:
    found = fold_window(VIEWS["v"], TABLES)
    assert found is not None and found[1] == HOUR and fold_window(VIEWS["whole"], TABLES) is None


SEVERAL = """CREATE TABLE t (g VARCHAR PRIMARY KEY);
CREATE STREAM r (g VARCHAR, ts TIMESTAMP) WITH ('event_time'='ts', 'lateness'='1 s', 'keep'='2 h');
CREATE VIEW of_r AS SELECT DATE_TRUNC('hour', ts) AS hour, g FROM r GROUP BY g, DATE_TRUNC('hour', ts);
CREATE VIEW united AS SELECT g, hour FROM v UNION ALL SELECT g, hour FROM of_r;
CREATE VIEW longer AS SELECT hour AS at FROM v UNION ALL SELECT day FROM days;
CREATE VIEW apart AS SELECT hour AS one, g, hour AS other FROM v
  UNION ALL SELECT TIMESTAMP '2026-03-02 00:00:00' AS one, g, hour AS other FROM v;
CREATE VIEW paired AS SELECT r.g, v.low, r.hour FROM v JOIN of_r r ON v.hour = r.hour;
CREATE VIEW beside AS SELECT r.g, r.hour FROM v LEFT JOIN of_r r ON v.hour = r.hour;
CREATE VIEW named AS SELECT v.g, v.hour FROM v JOIN t ON v.g = t.g"""


def test_rows_of_several_close_where_all_of_them_do() -> None:
    declared = Declared([Record(0, 0, 0, None, DDL.encode()), Record(0, 1, 0, None, SEVERAL.encode())])
    tables, views = declared.at(1), declared.views_at(1)
    found = {name: closing_of(views[name], views, tables) for name in views if name not in VIEWS}
    assert found == {
        "of_r": (0, HOUR), "united": (1, HOUR), "longer": (0, DAY), "apart": (2, HOUR), "paired": (2, HOUR),
        "beside": None, "named": None,
    }  # fmt: skip
    held = {name: held_of(views[name], views, tables) for name in ("of_r", "united", "paired", "v", "named")}
    assert held == {"of_r": 3 * HOUR, "united": 3 * HOUR, "paired": 3 * HOUR, "v": None, "named": None}


def test_a_stream_is_dropped_as_one() -> None:
    texts = [b"DROP TABLE s", b"ALTER VIEW REQUIRES STREAM; DROP VIEW v; DROP STREAM s"]
    begin = DDL.split("\n")
    first = "".join(begin[:2])
    records = [Record(0, i, 0, None, text) for i, text in enumerate([first.rstrip(";").encode(), *texts])]
    declared = Declared(records)
    assert "s" in declared.at(1) and "s" not in declared.at(2)
