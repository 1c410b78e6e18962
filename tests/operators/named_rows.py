"""Who reads what a cell sends and keeps its rows by dictionaries, so as to know those that are only named."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from operators.packed import PackedNamed, PackedRows
from operators.timeline import SentRows
from tests.operators.timelines import column
from tests.oracle.naive_timeline import values_of
from tests.oracle.naive_window import NaiveWindow, Sent


class NaiveReader:
    """What one virtual edge has of a cell, table by table."""

    def __init__(self) -> None:
        self._tables: dict[str, NaiveWindow] = {}
        self._texts: set[tuple[str, str]] = set()

    def read(self, chunks: Iterable[object]) -> Callable[[PackedNamed], SentRows]:
        """Keep the rows of a batch's chunks; return what spells those that are only named."""
        for chunk in chunks:
            if isinstance(chunk, PackedRows):
                self._keep(chunk)
        return self._spelled

    def _keep(self, chunk: PackedRows) -> None:
        rows, header = chunk.rows, chunk.header
        self._texts |= {(rows.table, name) for name, each in rows.columns.items() if each.texts is not None}
        if rows.stamps is None:
            return
        mine = self._window(rows.table, header.window)
        mine.drop(header.batch)
        for i, stamp in enumerate(zip(rows.stamps.batch.tolist(), rows.stamps.number.tolist(), strict=True)):
            if stamp[1] >= 0:
                assert stamp not in mine.rows, "a row is spelled out to who has it"
                mine.keep(0, Sent(stamp, values_of(rows, i)))

    def _spelled(self, chunk: PackedNamed) -> SentRows:
        rows, header = chunk.rows, chunk.header
        mine = self._window(rows.table, header.window)
        mine.drop(header.batch)
        stamps = zip(rows.stamps.batch.tolist(), rows.stamps.number.tolist(), strict=True)
        values = [mine.values(Sent(stamp, None), rows.told) for stamp in stamps]
        assert None not in values, "a row that was never told, or not lately"
        columns = {
            name: column([each[name] for each in values], text=(rows.table, name) in self._texts)  # type: ignore[index]
            for name in rows.told
        }
        return SentRows(rows.table, rows.born, rows.died, rows.keys, columns)

    def _window(self, table: str, window: int) -> NaiveWindow:
        mine = self._tables.setdefault(table, NaiveWindow(window))
        mine.window = window
        return mine
