"""Bounds go through views."""

from tests.catalog.viewed import after, declared


def test_a_sum_of_counts_is_a_bigint_and_one_of_bigints_is_not() -> None:
    found = declared("SELECT SUM(n) AS rows, SUM(low) AS lows FROM low").relation.columns
    assert [str(column.type) for column in found] == ["BIGINT", "DECIMAL(18,2)"]
    paid = declared("SELECT SUM(paid) AS paid FROM taken").relation.columns[0].type
    assert (str(paid), paid.whole) == ("DECIMAL(38,0)", True)


def test_through_every_kind_of_stage() -> None:
    catalog = after(
        "CREATE VIEW a AS SELECT flight, paid FROM taken UNION ALL SELECT flight, n FROM seat",
        "CREATE VIEW b AS SELECT s.flight, COALESCE(a.paid, 0) AS paid FROM seat s LEFT JOIN a ON s.flight = a.flight",
        "CREATE VIEW c AS SELECT MAX(paid) AS paid, flight FROM b GROUP BY flight",
        "CREATE VIEW d AS SELECT flight, paid FROM c QUALIFY ROW_NUMBER() OVER (ORDER BY paid, flight) <= 3",
    )
    [column] = declared("SELECT SUM(paid) AS paid FROM d", catalog).relation.columns
    assert column.type.whole
