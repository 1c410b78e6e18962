"""What a person sees of the demo: a live table on a terminal, plain lines anywhere else."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from tidewire.client.records import Answer, Delivery, Member
from tidewire.demo.watch import Watch, as_rows

_LINE_SECONDS = 5.0


class View(AbstractContextManager["View"]):
    """Call `show` a few times a second; use it with `with`."""

    def __init__(self, console: Console, title: str) -> None:
        self._console = console
        self._title = title
        self._live = Live(console=console, refresh_per_second=4, transient=True) if console.is_terminal else None
        self._next_line = 0.0

    def __enter__(self) -> View:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, clock: str, watch: Watch) -> None:
        """Show what has been seen; `clock` is the time in the data."""
        if self._live is not None:
            self._live.update(_screen(f"{self._title}, {clock}", watch))
        elif time.monotonic() >= self._next_line:
            self._next_line = time.monotonic() + _LINE_SECONDS
            self._console.print(_line(clock, watch), markup=False)


def _line(clock: str, watch: Watch) -> str:
    seen = watch.seen()
    newest = watch.newest_answers()
    told = f"; {_sentence(newest[-1])}" if newest else ""
    return (
        f"{clock}  {seen.published:,} publications ({seen.publications_per_s:,.0f}/s), "
        f"{seen.deliveries:,} deliveries ({seen.deliveries_per_s:,.0f}/s), "
        f"latency {seen.latency_p50:,.0f}/{seen.latency_p99:,.0f} ms{told}"
    )


def _screen(title: str, watch: Watch) -> RenderableType:
    numbers = Table.grid(padding=(0, 2))
    for name, value in as_rows(watch.seen()):
        numbers.add_row(Text(name, style="dim"), str(value))
    answers = Table(box=None, pad_edge=False, header_style="bold")
    for heading, justify in (("subscription", "left"), ("was", "right"), ("is", "right"), ("n", "right")):
        answers.add_column(heading, justify=justify, min_width=6)  # type: ignore[arg-type]
    for delivery in watch.newest_answers():
        answers.add_row(delivery.id, *_was_and_is(delivery), str(delivery.n))
    return Group(Text(f"tidewire: {title}", style="bold"), Text(), numbers, Text(), answers)


def _sentence(delivery: Delivery) -> str:
    was, now = _was_and_is(delivery)
    return f"{delivery.id}: {was} -> {now}"


def _was_and_is(delivery: Delivery) -> tuple[str, str]:
    """Return what went and what came: of rows one, which stands for all."""
    if delivery.added is None:
        return _value(delivery.old), _value(delivery.new)
    return _rows(delivery.removed or []), _rows(delivery.added)


def _rows(rows: list[Member]) -> str:
    if not rows:
        return "-"
    shown = _row(rows[0])
    return shown if len(rows) == 1 else f"{shown} and {len(rows) - 1} more"


def _row(member: Member) -> str:
    """Return a row of a bag, or one of a list with its place, which people count from 1."""
    if not isinstance(member, tuple | list):
        return str(member)
    if isinstance(member[-1], tuple | list):
        place, row = member
        return f"{int(str(place)) + 1}. {_row(row)}"
    return ", ".join(map(str, member))


def _value(value: Answer) -> str:
    """Return a delay, or how many flights there are and their mean delay."""
    if isinstance(value, list):
        count, mean = value
        return f"{count} flights" if mean is None else f"{count} flights, {mean:.1f} min"
    return "none" if value is None else f"{value} min"
