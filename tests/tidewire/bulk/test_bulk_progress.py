"""What a person is told of a registration in bulk: counts that add up, the first troubles, and how many more."""

from __future__ import annotations

import io
from dataclasses import dataclass, replace
from typing import cast

import pytest
from rich.console import Console

from tidewire.bulk.bulk_progress import BulkProgress, lines_of, summary
from tidewire.bulk.bulk_subscription import Tally, Trouble
from tidewire.bulk.subscription_file import SubscriptionFile
from tidewire.terminal import Terminal

ALL = Tally(sent=12_000, earlier=5, bad=2, live=9_000, refused=3, ended=1, waiting=7, seconds=2.34)


@pytest.mark.parametrize(
    ("tally", "waited", "line"),
    [
        (Tally(sent=1_234, seconds=0.06), False, "1,234 sent, in 0.1 s"),
        (Tally(), True, "0 sent, 0 live, 0 refused, in 0.0 s"),
        (replace(ALL, bad=0), False, "12,000 sent, 5 of them by an earlier run, in 2.3 s"),
        (
            ALL,
            True,
            "12,000 sent, 5 of them by an earlier run, 9,000 live, 3 refused, 1 ended, 7 not answered yet, "
            "2 left out, since they are no subscriptions, in 2.3 s",
        ),
    ],
)
def test_what_there_is_none_of_is_not_said(tally: Tally, waited: bool, line: str) -> None:
    """Without waiting nothing is known of answers."""
    assert lines_of(tally, waited).splitlines()[0] == line


def troubles(count: int, kept: int) -> Tally:
    tally = Tally(refused=count)
    for i in range(min(count, kept)):
        tally.trouble(Trouble(f"s{i}", "syntax", "no"))
    return tally


@pytest.mark.parametrize(
    ("count", "kept", "shown", "more"),
    [(1, 100, 1, None), (10, 100, 10, None), (11, 100, 10, "1"), (5_000, 100, 10, "4,990"), (0, 100, 0, None)],
)
def test_the_first_troubles_are_shown_and_others_counted(count: int, kept: int, shown: int, more: str | None) -> None:
    lines = lines_of(troubles(count, kept), True).splitlines()[1:]
    assert lines[:shown] == [f"  s{i}: syntax: no" for i in range(shown)]
    assert lines[shown:] == ([f"  … and {more} more; --json shows the first 100"] if more else [])


def test_an_entry_that_is_none_is_named_by_its_number() -> None:
    tally = Tally(bad=1, troubles=[Trouble("", "unreadable", "it is none", number=7)])
    assert lines_of(tally, True).splitlines()[1] == "  entry 7: unreadable: it is none"


def test_as_json_everything_is_said() -> None:
    record = summary(ALL, False, True)
    assert (record["done"], record["waited"]) == (False, True)
    assert {name: record[name] for name in ("sent", "earlier", "bad", "live", "refused", "ended", "waiting")} == {
        "sent": 12_000, "earlier": 5, "bad": 2, "live": 9_000, "refused": 3, "ended": 1, "waiting": 7,
    }  # fmt: skip
    assert summary(troubles(1, 100), True, True)["troubles"] == [{"id": "s0", "code": "syntax", "message": "no"}]


@dataclass
class Half:
    """A file of which so much has been read."""

    share: float


def drawn(as_json: bool, share: float, tally: Tally) -> str:
    terminal = Terminal(as_json)
    terminal.remarks = Console(file=io.StringIO(), force_terminal=True, width=100, color_system=None)
    progress = BulkProgress(terminal, cast(SubscriptionFile, Half(share)))
    with progress:
        progress(tally)
    return cast(io.StringIO, terminal.remarks.file).getvalue()


def test_a_bar_is_of_what_is_sent_then_of_what_is_answered() -> None:
    sent = drawn(False, 0.25, ALL)
    assert "sending" in sent and "25%" in sent and "12,000 sent" in sent
    waiting = drawn(False, 1.0, replace(ALL, live=5, refused=1, ended=0, waiting=6))
    assert "waiting" in waiting and "50%" in waiting and "5 live" in waiting
    assert "100%" not in drawn(False, 1.0, Tally())


def test_as_json_there_is_no_bar() -> None:
    assert drawn(True, 0.5, ALL) == ""
