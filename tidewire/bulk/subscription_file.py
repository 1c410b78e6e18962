"""Many subscriptions in one file, read one after the other: JSON lines, CSV or Parquet.

    .jsonl      {"id": "a", "sql": "SELECT …"}, or with a template {"id": "a", "params": [1, "x"]}; and options
    .csv        id,SQL, or with a template id,parameter,parameter,…; a first line that begins with id is a header
    .parquet    columns id and sql; with a template id and params (a list), or id and a column for each parameter

A cell of a CSV that is a JSON number, true, false or null is just that, an empty one is null, and all others are text;
text that looks like a number is put in single quotes, as in SQL: '007'. A byte order mark, as Excel writes it, is no
part of the first cell or line.
"""

from __future__ import annotations

import csv
import datetime as dt
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from connectors.json.reader import UnreadableJson, read_json, read_number
from state.errors import UserError
from tidewire.client.subscription_record import record_key, record_value
from tidewire.text_input import UnreadableInput, lines_of

_OPTIONS = ("notify", "ttl", "deliver")
_MEMBERS = {"id", "sql", "template", "params", "attributes", *_OPTIONS}
_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
_WORDS = {"": None, "null": None, "true": True, "false": False}
_NO_UTF8 = re.compile(r"[\udc80-\udcff]")
"""What stands for a byte that is no UTF-8 in a text that was decoded all the same."""
_ROWS = 10_000
_SHOWN_CHARACTERS = 80


class Entry(NamedTuple):
    """One subscription of a file, or why its line or row (`number`, from 1) is none (`problem`)."""

    number: int
    key: bytes
    value: bytes
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Defaults:
    """What entries have that do not say it themselves. With a `template`, they are its parameters."""

    template: str | None = None
    notify: str | None = None
    ttl: int | None = None
    deliver: str | None = None


@dataclass(slots=True)
class SubscriptionFile:
    """Iterate over its entries; `share` of them (0 to 1) has been read."""

    path: Path
    defaults: Defaults = field(default_factory=Defaults)
    share: float = 0.0

    def __iter__(self) -> Iterator[Entry]:
        """Yield the entries in order. *Cost*: 3 us each. *Raises* UnreadableInput, UserError for a wrong name."""
        readers = {".jsonl": self._lines, ".json": self._lines, ".csv": self._cells, ".parquet": self._rows}
        reader = readers.get(self.path.suffix.lower())
        if reader is None:
            raise UserError(f"`{self.path}`: expected a file named .jsonl, .csv or .parquet; rename it.")
        try:
            for number, found in reader():
                yield self._entry(number, found)
        except OSError as error:
            reason = error.strerror or str(error)
            raise UnreadableInput(f"`{self.path}` cannot be read: {reason}. Name another file.") from None
        self.share = 1.0

    def _entry(self, number: int, found: Mapping[str, Any] | str) -> Entry:
        if isinstance(found, str):
            return Entry(number, b"", b"", found)
        problem = self._problem(found)
        if problem is not None:
            return Entry(number, b"", b"", problem)
        try:
            return Entry(number, record_key(found["id"]), self._value(found))
        except UserError as error:
            return Entry(number, b"", b"", str(error))

    def _problem(self, found: Mapping[str, Any]) -> str | None:
        """Say why this is no subscription at all; whether its question can be asked is for an edge to say."""
        if not isinstance(found.get("id"), str) or not found["id"]:
            return f"expected a text as `id`, got {_shown(found.get('id'))}"
        unknown = sorted(found.keys() - _MEMBERS)
        if unknown:
            return f"`{unknown[0][:_SHOWN_CHARACTERS]}` means nothing; expected {', '.join(sorted(_MEMBERS))}"
        if ("sql" in found) == ("params" in found):
            return "it has `sql` and `params`" if "sql" in found else "expected `sql`, or `params` and a template"
        if "params" in found and "template" not in found and self.defaults.template is None:
            return "it has `params`, but there is no template; name one with --template"
        if "params" in found and not isinstance(found["params"], list):
            return f"expected a list as `params`, got {_shown(found['params'])}"
        return None

    def _value(self, found: Mapping[str, Any]) -> bytes:
        value = {"sql": found["sql"]} if "sql" in found else {
            "template": found.get("template", self.defaults.template), "params": found["params"]
        }  # fmt: skip
        for name in _OPTIONS:
            option = found.get(name)
            option = getattr(self.defaults, name) if option is None else option
            if option is not None:
                value[name] = option
        if found.get("attributes") is not None:
            value["attributes"] = found["attributes"]
        return record_value(value)

    def _lines(self) -> Iterator[tuple[int, Mapping[str, Any] | str]]:
        size, read = max(self.path.stat().st_size, 1), 0
        with self.path.open("rb") as stream:
            for number, line in enumerate(lines_of(stream), 1):
                read += len(line)
                self.share = read / size
                if line.strip():
                    yield number, _document(line)

    def _cells(self) -> Iterator[tuple[int, Mapping[str, Any] | str]]:
        size = max(self.path.stat().st_size, 1)
        with self.path.open("rb") as stream:
            text = io.TextIOWrapper(stream, "utf-8-sig", "surrogateescape", newline="")
            rows = csv.reader(text, strict=True)
            while True:
                try:
                    row = next(rows, None)
                except csv.Error as error:
                    yield rows.line_num, f"it is no CSV: {error}"
                    continue
                if row is None:
                    return
                self.share = min(stream.tell() / size, 1.0)
                if row and not (rows.line_num == 1 and row[0].strip().lower() == "id"):
                    yield rows.line_num, self._from_cells(row)

    def _from_cells(self, row: Sequence[str]) -> Mapping[str, Any] | str:
        for place, cell in enumerate(row, 1):
            found = _NO_UTF8.search(cell)
            if found is not None:
                return f"cell {place} holds the byte 0x{ord(found[0]) - 0xDC00:02x}, which is no UTF-8; save as UTF-8"
        if self.defaults.template is not None:
            try:
                return {"id": row[0], "params": [_cell(cell) for cell in row[1:]]}
            except UnreadableJson as error:
                return str(error)
        if len(row) != 2:
            return f"expected an id and SQL, got {len(row)} cells; for parameters, name a --template"
        return {"id": row[0], "sql": row[1]}

    def _rows(self) -> Iterator[tuple[int, Mapping[str, Any] | str]]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            with pq.ParquetFile(self.path) as file:
                total, number = max(file.metadata.num_rows, 1), 0
                for batch in file.iter_batches(_ROWS):
                    for row in batch.to_pylist():
                        number += 1
                        self.share = number / total
                        yield number, self._from_row(row)
        except pa.ArrowException as error:
            raise UnreadableInput(f"`{self.path}` is no Parquet file: {error}. Name another file.") from None

    def _from_row(self, row: dict[str, Any]) -> Mapping[str, Any]:
        said = {name: value for name, value in row.items() if name in _MEMBERS and value is not None}
        if self.defaults.template is not None and "params" not in said:
            said["params"] = [value for name, value in row.items() if name not in _MEMBERS]
        elif "params" not in said:
            said |= {name: value for name, value in row.items() if name not in _MEMBERS}
        if isinstance(said.get("params"), list):
            said["params"] = [_plain(value) for value in said["params"]]
        return said


def _document(line: bytes) -> Mapping[str, Any] | str:
    try:
        found = read_json(line)
    except UnreadableJson as error:
        return f"it is no JSON that can be taken: {error}"
    return found if isinstance(found, dict) else "expected a JSON object"


def _cell(cell: str) -> Any:
    if cell in _WORDS:
        return _WORDS[cell]
    if _NUMBER.fullmatch(cell):
        return read_number(cell)
    if len(cell) > 1 and cell[0] == cell[-1] == "'":
        return cell[1:-1].replace("''", "'")
    return cell


def _shown(value: object) -> str:
    return repr(value)[:_SHOWN_CHARACTERS]


def _plain(value: Any) -> Any:
    """Return a value of a Parquet column as JSON has it: times as text."""
    return value.isoformat() if isinstance(value, dt.date | dt.datetime) else value
