from tidewire.verification.input.closing import closing_of, fold_window, is_joined
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


def test_a_view_of_several_is_joined() -> None:
    assert [name for name, view in VIEWS.items() if is_joined(view, VIEWS)] == ["both"]


def test_a_stream_is_dropped_as_one() -> None:
    texts = [b"DROP TABLE s", b"ALTER VIEW REQUIRES STREAM; DROP VIEW v; DROP STREAM s"]
    begin = DDL.split("\n")
    first = "".join(begin[:2])
    records = [Record(0, i, 0, None, text) for i, text in enumerate([first.rstrip(";").encode(), *texts])]
    declared = Declared(records)
    assert "s" in declared.at(1) and "s" not in declared.at(2)
