"""Sums under any WHERE follow the images of rows, as those over ranges follow messages."""

from __future__ import annotations

import pytest

from operators.answer import Part, Tally
from tests.overlay.filter_bench import FilterBench, stock

WHERE = " FROM stock WHERE price <> 1 AND symbol <> 'x'"


def followed(sql: str, parts: tuple[Part, ...], *, swept: bool = False) -> list[tuple]:
    bench = FilterBench()
    bench.ask(0, "a", sql)
    bench.take()
    bench.snapshot(0, {0: None}, parts={0: parts})
    bench.end(0)
    bench.take()
    bench.images(1, (None, stock("a", 600)), (stock("a", 600), stock("a", 250)), (stock("b", 100), stock("b", 200)),
                 (stock("c", 300), stock("c", None)), (stock("x", 1), stock("x", 9)), swept=swept)  # fmt: skip
    bench.end(1)
    assert bench.edge.counters.unwanted == 1
    lines = bench.told()
    bench.again()
    return [(line["n"], line["old"], line["new"], line["at"].get("offset"), line.get("changes")) for line in lines]


@pytest.mark.parametrize(
    ("sql", "parts", "wanted"),
    [
        ("SELECT COUNT(*)", (Tally.of(1, 0),), [(2, 1, 2, 100, None), (3, 2, 3, 102, None), (4, 3, 2, 103, None)]),
        ("SELECT SUM(price)", (Tally.of(1, 300),), [
            (2, "3.00", "9.00", 100, None), (3, "9.00", "5.50", 101, None), (4, "5.50", "7.50", 102, None),
            (5, "7.50", "4.50", 103, None),
        ]),
        ("SELECT COUNT(*), AVG(price)", (Tally.of(1, 0), Tally.of(1, 300)), [
            (2, [1, 3.0], [2, 4.5], 100, None), (3, [2, 4.5], [2, 2.75], 101, None),
            (4, [2, 2.75], [3, 2.5], 102, None), (5, [3, 2.5], [2, 2.25], 103, None),
        ]),
    ],
)  # fmt: skip
def test_every_change_is_told(sql: str, parts: tuple[Part, ...], wanted: list[tuple]) -> None:
    assert followed(sql + WHERE, parts) == wanted


def test_other_policies() -> None:
    count, total = (Tally.of(1, 0),), (Tally.of(1, 300),)
    assert followed(f"SELECT COUNT(*){WHERE} NOTIFY LATEST", count) == [(2, 1, 2, 103, 3)]
    assert followed(f"SELECT COUNT(*){WHERE} NOTIFY MIN CHANGE 2", count) == [(2, 1, 3, 102, 2)]
    assert followed(f"SELECT SUM(price){WHERE} NOTIFY LATEST", total) == [(2, "3.00", "4.50", 103, 4)]
    assert followed(f"SELECT SUM(price){WHERE} NOTIFY MIN CHANGE 5", total) == [(2, "3.00", "9.00", 100, None)]


def test_a_record_that_changes_many_rows_is_one_change() -> None:
    assert followed(f"SELECT COUNT(*){WHERE}", (Tally.of(1, 0),), swept=True) == [(2, 1, 2, 100, None)]
    assert followed(f"SELECT SUM(price){WHERE}", (Tally.of(1, 300),), swept=True) == [(2, "3.00", "4.50", 100, None)]


def test_a_count_of_values_leaves_null_out() -> None:
    bench = FilterBench()
    bench.ask(0, "a", "SELECT COUNT(price) FROM stock WHERE symbol <> 'x'")
    bench.take()
    bench.snapshot(0, {0: None}, parts={0: (Tally.of(0, 0),)})
    bench.end(0)
    bench.take()
    bench.images(
        1, (None, stock("a")), (stock("a"), stock("a", 1)), (stock("a", 1), stock("a", 2)), (stock("a", 2), None)
    )
    bench.end(1)
    assert [(line["new"], line["at"]["offset"]) for line in bench.told()] == [(1, 101), (0, 103)]
