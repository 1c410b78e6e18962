import pytest

from catalog.query.unsupported import SUPPORTED
from tests.catalog import refusals


@pytest.mark.parametrize(("sql", "code", "message"), refusals.read("refusals_subscription.txt"))
def test_refused_subscriptions(sql, code, message) -> None:
    error = refusals.refuse_subscription(sql)
    assert error is not None, "accepted"
    assert (error.code, str(error)) == (code, message)
    if code == "unsupported":
        assert error.hint is not None and (error.hint.endswith(SUPPORTED) or "NOTIFY" in sql or "SNAPSHOT" in sql)


def test_every_code_occurs() -> None:
    codes = {code for _, code, _ in refusals.read("refusals_subscription.txt")}
    assert codes == {
        "syntax",
        "unknown_table",
        "unknown_column",
        "unsupported",
        "unsupported_type",
        "type_mismatch",
        "malformed",
    }
