"""What is said of functions holds for what there is of them."""

import msgspec

from catalog.query.output import COUNTS, FUNCTIONS, SUMS, Output


def test_kinds_of_functions_are_functions() -> None:
    assert {*COUNTS, *SUMS} < set(FUNCTIONS) and len(set(FUNCTIONS)) == len(FUNCTIONS)


def test_an_output_stays_as_it_is_written() -> None:
    assert msgspec.json.encode([Output("count", None), Output("sum", "price")]) == b'[["count",null],["sum","price"]]'
