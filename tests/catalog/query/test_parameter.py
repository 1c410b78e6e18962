import math
from decimal import Decimal

import pytest

from catalog.query.parameter import ParameterRefused, literal_of, written
from catalog.types.literal import LiteralKind
from tests.catalog.sample import of


@pytest.mark.parametrize(
    ("parameter", "literal"),
    [
        (None, (LiteralKind.NULL, "NULL")),
        (True, (LiteralKind.BOOLEAN, "TRUE")),
        (False, (LiteralKind.BOOLEAN, "FALSE")),
        (-5, (LiteralKind.NUMBER, "-5")),
        (2**64, (LiteralKind.NUMBER, "18446744073709551616")),
        (0.1, (LiteralKind.NUMBER, "0.1")),
        (1e300, (LiteralKind.NUMBER, "1e+300")),
        (Decimal("1.50"), (LiteralKind.NUMBER, "1.50")),
        ("", (LiteralKind.DIGITS, "")),
    ],
)
def test_literals(parameter, literal) -> None:
    assert literal_of(parameter) == literal


@pytest.mark.parametrize("parameter", [[], {}, math.nan, math.inf, Decimal("NaN"), b"x", "\ud800", 10**5000], ids=type)
def test_what_is_no_scalar_is_refused(parameter) -> None:
    with pytest.raises(ParameterRefused) as caught:
        literal_of(parameter)
    assert caught.value.code == "malformed" and len(str(caught.value)) < 200


def test_written_as_sql() -> None:
    assert written((LiteralKind.DIGITS, "it's"), of("VARCHAR")) == "'it''s'"
    assert written((LiteralKind.DIGITS, "10.25"), of("DECIMAL", 12, 2)) == "10.25"
    assert written((LiteralKind.STRING, "x"), of("VARCHAR")) == "'x'"
    assert written((LiteralKind.NUMBER, "-5"), of("BIGINT")) == "-5"
