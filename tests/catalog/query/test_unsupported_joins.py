"""What is said against joins that are none: the golden file."""

import pytest

from tests.catalog import refusals


@pytest.mark.parametrize(("sql", "code", "message"), refusals.read("refusals_join.txt"))
def test_golden(sql, code, message) -> None:
    error = refusals.refuse_join(sql)
    assert error is not None
    assert (error.code, str(error)) == (code, message)
    assert error.hint
