import pytest

from catalog.types.time_span import LONGEST, read_span, span_text


@pytest.mark.parametrize(
    ("text", "microseconds"),
    [
        ("0 s", 0),
        ("10 s", 10_000_000),
        ("250ms", 250_000),
        ("1 Minute", 60_000_000),
        ("5 min", 300_000_000),
        (" 1 h ", 3_600_000_000),
        ("7 days", 604_800_000_000),
        ("36500 d", LONGEST),
    ],
)
def test_a_span(text: str, microseconds: int) -> None:
    assert read_span(text) == microseconds
    assert read_span(span_text(microseconds)) == microseconds


@pytest.mark.parametrize(
    "text", ["", "10", "s", "-1 s", "1.5 s", "1 week", "1 s 2 ms", "36501 days", "9999999999 s", "²s"]
)
def test_no_span(text: str) -> None:
    assert read_span(text) is None
