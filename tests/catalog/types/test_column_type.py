import pytest

from state.order_code import INT64_MAX, INT64_MIN
from tests.catalog.sample import of


def test_text_is_the_ddl() -> None:
    assert str(of("DECIMAL", 12, 2)) == "DECIMAL(12,2)"
    assert str(of("TIMESTAMP")) == "TIMESTAMP"


@pytest.mark.parametrize(
    ("type_", "coded"),
    [
        (of("BIGINT"), True),
        (of("DECIMAL", 18, 0), True),
        (of("DECIMAL", 19, 0), False),
        (of("VARCHAR"), False),
        (of("BOOLEAN"), True),
    ],
)
def test_coded(type_, coded) -> None:
    assert type_.coded is coded


def test_reach_is_what_the_type_can_hold() -> None:
    assert of("BIGINT").reach == (INT64_MIN, INT64_MAX)
    assert of("SMALLINT").reach == (-32768, 32767)
    assert of("DECIMAL", 18, 4).reach == (-999_999_999_999_999_999, 999_999_999_999_999_999)
    assert of("BOOLEAN").reach == (0, 1)
    assert of("DATE").reach == (-719_162, 2_932_896)
    assert of("TIMESTAMP").reach == (-62_135_596_800_000_000, 253_402_300_799_999_999)
    assert of("DOUBLE").reach[1] == 0x7FEFFFFFFFFFFFFF
