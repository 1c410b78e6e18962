import pytest
import sqlglot

from catalog.types.literal import LiteralKind
from catalog.types.typed_literal import typed_literal


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        ("DATE '2024-02-29'", LiteralKind.DATE),
        ("TIMESTAMP '2024-02-29 12:00:00'", LiteralKind.TIMESTAMP),
        ("TIMESTAMP(3) '2024-02-29 12:00:00'", None),
        ("'2024-02-29'", None),
        ("INTEGER '5'", None),
        ("CAST(a AS DATE)", None),
        ("TRY_CAST('2024-02-29' AS DATE)", None),
        ("5", None),
    ],
)
def test_only_dates_and_timestamps_say_their_type(written: str, kind: LiteralKind | None) -> None:
    assert typed_literal(sqlglot.parse_one(written)) is kind
