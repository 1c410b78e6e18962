"""What a person sees of a long registration: a bar while it goes on, and a summary at its end."""

from __future__ import annotations

from types import TracebackType
from typing import Any

import msgspec
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from tidewire.bulk.bulk_subscription import Tally
from tidewire.bulk.subscription_file import SubscriptionFile
from tidewire.terminal import Terminal

_SHOWN = 10


class BulkProgress:
    """A bar on standard error: first of what is sent, then of what is answered. Nothing of it with --json."""

    def __init__(self, terminal: Terminal, file: SubscriptionFile) -> None:
        columns = (
            TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TextColumn("{task.fields[count]}"),
            TimeElapsedColumn(),
        )  # fmt: skip
        self._bar = Progress(*columns, console=terminal.remarks, disable=terminal.as_json)
        self._file = file
        self._task = self._bar.add_task("sending", total=1.0, count="")

    def __enter__(self) -> BulkProgress:
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._bar.stop()

    def __call__(self, tally: Tally) -> None:
        """Show how far it is."""
        answered = tally.live + tally.refused + tally.ended
        if self._file.share < 1.0:
            self._bar.update(self._task, completed=self._file.share, count=f"{tally.sent:,} sent")
            return
        share = answered / max(answered + tally.waiting, 1)
        self._bar.update(self._task, description="waiting", completed=share, count=f"{tally.live:,} live")


def summary(tally: Tally, all_answered: bool, waited: bool) -> dict[str, Any]:
    """Return the answer of the command as a JSON object."""
    record: dict[str, Any] = msgspec.to_builtins(tally)
    return {"done": all_answered, "waited": waited, **record}


def lines_of(tally: Tally, waited: bool) -> str:
    """Return the answer for a person."""
    parts = [f"{tally.sent:,} sent"]
    parts += [f"{tally.earlier:,} of them by an earlier run"] if tally.earlier else []
    if waited:
        parts += [f"{tally.live:,} live", f"{tally.refused:,} refused"]
        parts += [f"{tally.ended:,} ended"] if tally.ended else []
        parts += [f"{tally.waiting:,} not answered yet"] if tally.waiting else []
    parts += [f"{tally.bad:,} left out, since they are no subscriptions"] if tally.bad else []
    lines = [f"{', '.join(parts)}, in {tally.seconds:.1f} s"]
    for one in tally.troubles[:_SHOWN]:
        where = f"entry {one.number}" if one.number is not None else one.id
        lines.append(f"  {where}: {one.code}: {one.message}")
    hidden = tally.bad + tally.refused + tally.ended - min(len(tally.troubles), _SHOWN)
    return "\n".join([*lines, *([f"  … and {hidden:,} more; --json shows the first 100"] if hidden > 0 else [])])
