"""What is told of bags fits into records in every form; what each form tells is tested where bags follow changes."""

from __future__ import annotations

import msgspec
import pytest

from overlay.delivery.packed_deliveries import PACKED_KEY, lines_of
from state.byte_runs import RECORD_BYTES
from tests.overlay.filter_bench import FilterBench, stock

ABOVE = "SELECT symbol, price FROM stock WHERE price > 5"


@pytest.mark.parametrize("form", ["", " DELIVER PACKED", " DELIVER PUSH"])
def test_what_is_too_long_for_a_record_is_cut_in_every_form(form: str) -> None:
    bench = FilterBench()
    bench.start(ABOVE + form)
    bench.take()
    names = [f"{i:02}".ljust(30_000, "x") for i in range(60)]
    comes = [(None, stock(name, 600)) for name in names]
    bench.images(1, *comes, (None, stock("a", 600)), swept=True, last_alone=True)
    bench.end(1)
    records = [one for one in bench.take().get("deliveries", []) + bench.edge.pushed if one.key != b"@progress"]
    assert max(len(record.value or b"") for record in records) < 1.01 * RECORD_BYTES
    lines = [
        msgspec.json.decode(line)
        for record in records
        for line in (
            [one for _, one in lines_of(record.value or b"", {b"a"})] if record.key == PACKED_KEY else [record.value]
        )
        if line
    ]
    assert [(line["n"], line.get("part")) for line in lines] == [(2, 0), (2, 1), (2, 2), (3, None)]
    assert [row for line in lines[:3] for row in line["added"]] == [[name, "6.00"] for name in names]
