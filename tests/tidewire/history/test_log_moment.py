from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from connectors.log.publication_log import PublicationLog
from tests.connectors.small_log import Published, small_log
from tidewire.history.log_moment import BadMoment, cut_before, cut_through, parse_moment


def test_versions_and_moments() -> None:
    assert parse_moment("0") == 0
    assert parse_moment("2026-03-01") == dt.datetime(2026, 3, 1, tzinfo=dt.UTC)
    assert parse_moment("2026-03-01T12:00:01.5+02:00") == dt.datetime(2026, 3, 1, 10, 0, 1, 500000, tzinfo=dt.UTC)


@pytest.mark.parametrize("text", ["", "-1", "yesterday", "9" * 5_000, "2026-13-01", "١"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(BadMoment, match="expected a version of the log, such as 17, or a moment"):
        parse_moment(text)


def test_cuts(tmp_path: Path) -> None:
    log = small_log(tmp_path)
    for number in range(3):
        log.commit([Published("stock", 0, number, None, b"x", number * 1_000_000)])
    opened = PublicationLog(log.uri)
    second = dt.datetime.fromtimestamp(1, dt.UTC)
    assert [cut_through(opened, m)["stock"].ends[0] for m in (0, 1, None, second)] == [1, 2, 3, 2]
    assert [cut_before(opened, m) for m in (0, None)] == [{}, {}]
    assert [cut_before(opened, m)["stock"].ends[0] for m in (1, second)] == [1, 1]
