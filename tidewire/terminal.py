"""What commands print: answers on standard output, for people or as JSON objects; remarks on standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
import typer
from rich.console import Console, RenderableType
from rich.table import Table

_WIDEST = 100_000


class Terminal:
    """Where a command prints. With `as_json`, standard output holds JSON objects, one a line, and nothing else."""

    def __init__(self, as_json: bool = False) -> None:
        self.as_json = as_json
        self.console = Console(highlight=False, soft_wrap=True, width=_width())
        self.remarks = Console(stderr=True, highlight=False, soft_wrap=True)

    def answer(self, record: Mapping[str, Any], human: RenderableType | None = None) -> None:
        """Print an answer: `record` as JSON, or `human` (without it, names and values)."""
        if self.as_json:
            typer.echo(msgspec.json.encode(record, enc_hook=str).decode())
        elif human is None:
            for name, value in record.items():
                self.console.print(f"{name}: {value}", markup=False)
        else:
            self.console.print(human, markup=False)

    def say(self, text: str) -> None:
        """Print a remark for a person: progress, a warning. Never part of the answer."""
        self.remarks.print(text, markup=False)


def _width() -> int | None:
    """Return how wide a table may be: a pipe takes lines of any length, so only a screen (None) folds them.

    `COLUMNS` has the say where it is set.
    """
    return None if sys.stdout.isatty() or os.environ.get("COLUMNS") else _WIDEST


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], title: str | None = None) -> Table:
    """Return a table for a person; cells are printed as they are, numbers to the right."""
    cells = [list(row) for row in rows]
    made = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for i, column in enumerate(columns):
        numeric = bool(cells) and all(isinstance(row[i], int | float) for row in cells)
        made.add_column(column, justify="right" if numeric else "left", overflow="fold")
    for row in cells:
        made.add_row(*(_plain(cell) for cell in row))
    return made


def _plain(cell: object) -> RenderableType:
    from rich.text import Text

    return cell if isinstance(cell, Text) else Text("" if cell is None else str(cell))
