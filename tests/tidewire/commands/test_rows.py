import pytest

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from catalog.sql.errors import SubscriptionError
from state.errors import UserError
from tidewire.commands.rows import refuse_streams
from tidewire.history.backtest import tables_of

STREAM = (
    "CREATE STREAM s (g VARCHAR, ts TIMESTAMP) WITH ('topic'='s', 'event_time'='ts', 'lateness'='1 s'); "
    "CREATE VIEW v AS SELECT g, DATE_TRUNC('hour', ts) AS hour, COUNT(*) AS n FROM s GROUP BY g, DATE_TRUNC('hour', ts)"
)
CATALOG = apply_ddl(apply_ddl(Catalog(), STREAM, 0), "CREATE TABLE t (k INTEGER PRIMARY KEY)", 1)


def test_rows_that_nobody_has_are_refused() -> None:
    with pytest.raises(UserError, match="`s` is a stream"):
        refuse_streams(CATALOG, "s")


@pytest.mark.parametrize("name", ["v", "t", "unknown"])
def test_others_are_told(name: str) -> None:
    refuse_streams(CATALOG, name)


def test_no_question_about_a_stream_is_back_tested() -> None:
    with pytest.raises(SubscriptionError, match="stream `s`"):
        tables_of(CATALOG, b'{"sql": "SELECT COUNT(*) FROM v"}')
    assert [table.name for table in tables_of(CATALOG, b'{"sql": "SELECT MIN(k) FROM t"}')] == ["t"]
