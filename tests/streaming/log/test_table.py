from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from connectors.log.mark import LogMark
from streaming.log.table import LogMovedError, LogTable, LogTableError

pytestmark = pytest.mark.spark


def test_a_commit_whose_number_is_taken_is_not_written_and_not_passed_over(spark: SparkSession, tmp_path: Path) -> None:
    table = LogTable(spark, str(tmp_path / "publications"))
    table.ensure(168)
    table.ensure(240)
    assert table.newest() is None
    one, other = (LogMark(home="h", writer=name, number=0, time="") for name in ("one", "other"))
    table.append(rows_of(spark), one)
    with pytest.raises(LogMovedError):
        table.append(rows_of(spark), other)
    assert table.newest() == one
    assert spark.read.format("delta").load(table.uri).count() == 1


def test_where_the_log_ends_is_found_without_its_commits(spark: SparkSession, tmp_path: Path) -> None:
    """As after weeks without a publication, when the table has cleaned its log."""
    table = LogTable(spark, str(tmp_path / "publications"))
    table.ensure(168)
    for number in range(2):
        table.append(rows_of(spark, 7 + number), LogMark(home="h", writer="w", number=number, time=""))
    spark.sql(f"ALTER TABLE delta.`{table.uri}` SET TBLPROPERTIES ('delta.checkpointInterval' = '1')")
    *old, _newest = sorted((tmp_path / "publications" / "_delta_log").glob("*.json"))
    for path in old:
        path.unlink()
    found = LogTable(spark, table.uri).newest()
    assert found is not None
    assert (found.number, found.end, found.ids) == (1, {"stock": {"0": 9}}, {"stock": "id"})


def test_a_table_of_somebody_else_is_left_alone(spark: SparkSession, tmp_path: Path) -> None:
    spark.range(3).write.format("delta").save(str(tmp_path / "theirs"))
    with pytest.raises(LogTableError, match=r"not a log of publications: expected .* got id\."):
        LogTable(spark, str(tmp_path / "theirs")).ensure(168)


def rows_of(spark: SparkSession, offset: int = 0) -> DataFrame:
    columns = "'stock' topic, 0 partition, {} offset, cast(null as binary) key, cast(null as binary) value"
    return spark.sql(f"SELECT {columns.format(f'{offset}L')}, current_timestamp() timestamp, 'id' topic_id")
