"""What a person sees of the demo: a live table on a terminal, plain lines anywhere else."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from tidewire.client.records import Delivery, Member
from tidewire.demo.story import Story
from tidewire.demo.watch import Watch, as_rows

_LINE_SECONDS = 5.0


class View(AbstractContextManager["View"]):
    """Call `show` a few times a second; use it with `with`."""

    def __init__(self, console: Console, story: Story) -> None:
        self._console = console
        self._story = story
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
        """Show what has been seen; `clock` says how far the story is."""
        if self._live is not None:
            self._live.update(self._screen(clock, watch))
        elif time.monotonic() >= self._next_line:
            self._next_line = time.monotonic() + _LINE_SECONDS
            self._console.print(self._line(clock, watch), markup=False)

    def _line(self, clock: str, watch: Watch) -> str:
        seen = watch.seen()
        killed = f"{seen.kills} kills, " if seen.kills else ""
        claimed = "".join(f"{name} {value}, " for name, value in self._story.claim.rows())
        newest = watch.newest_answers()
        told = "; {}: {} -> {}".format(_named(newest[-1]), *self._was_and_is(newest[-1])) if newest else ""
        streams = "".join(f"\n  {sentence}" for sentence in seen.streams)
        return (
            f"{clock}  {seen.published:,} publications ({seen.publications_per_s:,.0f}/s), {killed}"
            f"{seen.deliveries:,} deliveries ({seen.deliveries_per_s:,.0f}/s), {claimed}"
            f"latency {seen.latency_p50:,.0f}/{seen.latency_p99:,.0f} ms{told}{streams}"
        )

    def _screen(self, clock: str, watch: Watch) -> RenderableType:
        numbers = Table.grid(padding=(0, 2))
        for name, value in [*as_rows(watch.seen()), *self._story.claim.rows()]:
            numbers.add_row(Text(name, style="dim"), str(value))
        answers = Table(box=None, pad_edge=False, header_style="bold")
        for heading, justify in (("subscription", "left"), ("was", "right"), ("is", "right"), ("n", "right")):
            answers.add_column(heading, justify=justify, min_width=6)  # type: ignore[arg-type]
        for delivery in watch.newest_answers():
            answers.add_row(_named(delivery), *self._was_and_is(delivery), str(delivery.n))
        title = Text(f"tidewire: {self._story.title}, {clock}", style="bold")
        return Group(title, Text(), numbers, Text(), answers)

    def _was_and_is(self, delivery: Delivery) -> tuple[str, str]:
        """Return what went and what came: of rows one, which stands for all."""
        if delivery.added is None:
            return self._story.written(delivery.old), self._story.written(delivery.new)
        return _rows(delivery.removed or []), _rows(delivery.added)


def _named(delivery: Delivery) -> str:
    return f"{delivery.id}, final" if delivery.kind == "final" else delivery.id


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
