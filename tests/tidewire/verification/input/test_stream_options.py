import pytest

from tidewire.verification.input.column import Column
from tidewire.verification.input.stream_options import NoStream, Stream, stream_of

COLUMNS = [Column("g", "VARCHAR", True), Column("Ts", "TIMESTAMP", True), Column("ts", "TIMESTAMP", True)]


def test_spans_and_the_event_time_are_read() -> None:
    assert stream_of({"event_time": "Ts", "lateness": "10 s"}, COLUMNS) == Stream(1, 10_000_000, 3_600_000_000, None)
    given = {"event_time": "TS", "lateness": "0 ms", "ahead": "5min", "keep": "7 Days", "idle": "1 h"}
    assert stream_of(given, COLUMNS) == Stream(2, 0, 300_000_000, 604_800_000_000)


@pytest.mark.parametrize(
    "options",
    [
        {"lateness": "1 s"},
        {"event_time": "ts"},
        {"event_time": "g", "lateness": "1 s"},
        {"event_time": "ts", "lateness": "1"},
        {"event_time": "ts", "lateness": "1 s", "idle": "soon"},
    ],
)
def test_what_is_no_stream_is_refused(options: dict[str, str]) -> None:
    with pytest.raises(NoStream):
        stream_of(options, COLUMNS)
