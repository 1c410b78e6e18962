"""Bags of rows follow their images: what each policy and form tells of rows that come, go and change within."""

from __future__ import annotations

import msgspec
import pytest

from overlay.delivery.packed_deliveries import PACKED_KEY, lines_of
from tests.overlay.filter_bench import FilterBench, stock

ABOVE = "SELECT symbol, price FROM stock WHERE price > 5"
COMES, GOES = (None, stock("a", 600)), (stock("a", 600), None)
ENTERS, LEAVES = (stock("a", 400), stock("a", 600)), (stock("a", 700), stock("a", 100))
WITHIN, SILENT = (stock("a", 600), stock("a", 700)), (stock("a", 600, risk=1), stock("a", 600, risk=2))
SIX, SEVEN = ["a", "6.00"], ["a", "7.00"]


def moves(lines: list[dict]) -> list[tuple]:
    return [
        (line["n"], line["removed"], line["added"], line["at"].get("offset"), line.get("changes")) for line in lines
    ]


@pytest.mark.parametrize(
    ("policy", "wanted"),
    [
        ("", [(2, [], [SIX], 100, None), (3, [SIX], [SEVEN], 101, None), (4, [SEVEN], [], 103, None)]),
        (" NOTIFY TRANSITIONS", [(2, [], [SIX], 100, None), (3, [SEVEN], [], 103, None)]),
        (" NOTIFY ENTER", [(2, [], [SIX], 100, None)]),
        (" NOTIFY LATEST", []),
    ],
)
@pytest.mark.parametrize("form", ["", " DELIVER PACKED", " DELIVER PUSH"])
def test_each_policy_and_form(policy: str, form: str, wanted: list[tuple]) -> None:
    bench = FilterBench()
    bench.start(ABOVE + policy + form)
    bench.take()
    bench.images(1, ENTERS, WITHIN, SILENT, LEAVES)
    bench.end(1)
    records = bench.take().get("deliveries", []) + bench.edge.pushed
    lines = [
        msgspec.json.decode(line)
        for record in records
        for line in (
            [one for _, one in lines_of(record.value or b"", {b"a"})] if record.key == PACKED_KEY else [record.value]
        )
        if line and record.key != b"@progress"
    ]
    assert moves(lines) == wanted
    assert all(("key" in line) == ("TRANSITIONS" in policy or "ENTER" in policy) for line in lines)
    view = bench.edge.find(b"a")
    assert view is not None and (view.n, view.rows) == (len(wanted) + 1, 0)
    bench.again()


def test_latest_tells_what_a_batch_did_with_its_last_row_and_how_often_it_changed() -> None:
    bench = FilterBench()
    bench.start(ABOVE + " NOTIFY LATEST", ("b", 800))
    bench.take()
    bench.images(1, ENTERS, WITHIN, SILENT, chunk=0, of=2)
    bench.images(1, (stock("b", 800), None), first=3, chunk=1, of=2)
    bench.end(1)
    assert moves(bench.told()) == [(2, [["b", "8.00"]], [SEVEN], 103, 3)]


def test_a_record_that_changes_many_rows_is_one_change_however_it_is_cut() -> None:
    for sql in (ABOVE, ABOVE + " NOTIFY LATEST", ABOVE + " DELIVER PACKED", ABOVE + " NOTIFY TRANSITIONS"):
        bench = FilterBench()
        bench.start(sql, ("a", 600), ("b", 700))
        bench.take()
        bench.images(1, GOES, swept=True, chunk=0, of=3)
        bench.images(1, (stock("b", 700), None), (None, stock("c", 600)), swept=True, chunk=1, of=3)
        bench.images(1, COMES, first=1, chunk=2, of=3)
        bench.end(1)
        told = bench.take()["deliveries"]
        lines = [
            msgspec.json.decode(line)
            for record in told
            for line in (
                [x for _, x in lines_of(record.value or b"", {b"a"})] if record.key == PACKED_KEY else [record.value]
            )
            if line and record.key != b"@progress"
        ]
        gone, came = [["a", "6.00"], ["b", "7.00"]], [["c", "6.00"]]
        if "LATEST" in sql:
            assert moves(lines) == [(2, [["b", "7.00"]], came, 101, 2)]
        else:
            assert moves(lines) == [(2, gone, came, 100, None), (3, [], [SIX], 101, None)], sql


def test_a_changed_key_under_transitions_is_one_row_that_goes_and_one_that_comes() -> None:
    bench = FilterBench()
    bench.start(ABOVE + " NOTIFY TRANSITIONS", ("a", 600))
    bench.take()
    bench.images(1, GOES, (None, stock("b", 600)), (stock("c", 100), stock("c", 200)), swept=True)
    bench.end(1)
    assert moves(bench.told()) == [(2, [SIX], [["b", "6.00"]], 100, None)]


def test_equal_rows_of_different_keys_are_counted() -> None:
    bench = FilterBench()
    bench.start("SELECT price FROM stock", (600,), (600,))
    bench.take()
    bench.images(1, (stock("a", 600), None), (None, stock("c", None)))
    bench.end(1)
    assert moves(bench.told()) == [(2, [["6.00"]], [], 100, None), (3, [], [[None]], 101, None)]
    view = bench.edge.find(b"a")
    assert view is not None and view.rows == 2


def test_texts_between_the_same_bounds_change_within() -> None:
    bench = FilterBench()
    bench.start("SELECT symbol FROM stock WHERE symbol < 'm'", ("a",))
    bench.take()
    bench.images(1, (stock("a", 1), stock("b", 1)), (stock("b", 1), stock("z", 1)))
    bench.end(1)
    assert moves(bench.told()) == [(2, [["a"]], [["b"]], 100, None), (3, [["b"]], [], 101, None)]


def test_an_end_lists_nothing() -> None:
    bench = FilterBench()
    bench.start(ABOVE, ("a", 600))
    bench.take()
    bench.edge.subscription(9, b"a", None)
    (line,) = bench.told()[:1]
    assert (line["kind"], line["removed"], line["added"], line["n"]) == ("ended", [], [], 2)
