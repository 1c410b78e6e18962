"""JSON texts of projected rows: an array of a row's values, in the order of a SELECT list.

    types     VARCHAR   DECIMAL(8,2)   BOOLEAN
    codes     0 1 0     1025 950 1     1 0 0        places in `texts` where the type has no order codes
    known     1 1 0     1    1   1     1 1 0
    texts     a b
    rows      ["a","10.25",true]   ["b","9.50",false]   [null,"0.01",null]

A column is written as a whole, and each text that stands in several rows once. Whoever tells many subscriptions of the
same rows asks once for each SELECT list.

Cost: 0.1 us a value that is an integer, a text, or was seen lately; up to 2.5 us others (a new TIMESTAMP, a DOUBLE).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import msgspec
import numpy as np

from catalog.types.column_type import ColumnType
from overlay.delivery.delivery import NULL, ValueTexts
from state.change_batch import I64, Bool

_ENCODER = msgspec.json.Encoder()


class RowColumn(NamedTuple):
    """A column of some rows: order codes, or places in `texts`; only where `known` is not False does either count."""

    codes: I64
    known: Bool
    texts: Sequence[str] | None = None


class RowTexts:
    """Writes the rows of one SELECT list; `types` are those of its columns."""

    __slots__ = ("_coded", "_of_code", "_whole")

    def __init__(self, types: Sequence[ColumnType]) -> None:
        self._coded = [type_.coded for type_ in types]
        self._whole = [type_.whole for type_ in types]
        self._of_code = [ValueTexts(type_) for type_ in types]

    @property
    def width(self) -> int:
        """How many columns a row has."""
        return len(self._coded)

    def texts(self, columns: Sequence[RowColumn]) -> list[str]:
        """Return the text of each row. `columns`: one for each of the types, all of one length."""
        return _joined([self._column(place, column) for place, column in enumerate(columns)])

    def of_values(self, rows: Sequence[Sequence[int | str | None]]) -> list[str]:
        """Return the same of rows as a shard answers with: order codes, texts, and None for NULL."""
        return _joined([self._values(place, column) for place, column in enumerate(turned(rows))])

    def _column(self, place: int, column: RowColumn) -> list[str]:
        if self._coded[place]:
            return self._of_code[place].texts(column.codes, column.known)
        used = np.where(column.known, column.codes, -1)
        distinct, places = np.unique(used, return_inverse=True)
        texts = column.texts or ()
        made = self._uncoded(place, [texts[one] for one in distinct.tolist() if one >= 0])
        made = [NULL, *made] if len(distinct) and distinct[0] < 0 else made
        return [made[one] for one in places.tolist()]

    def _values(self, place: int, values: Sequence[int | str | None]) -> list[str]:
        known = [value for value in values if value is not None]
        if self._coded[place]:
            made = self._of_code[place].texts(np.array(known, np.int64), np.ones(len(known), np.bool_))
        else:
            made = self._uncoded(place, known)
        if len(known) == len(values):
            return made
        following = iter(made)
        return [NULL if value is None else next(following) for value in values]

    def _uncoded(self, place: int, texts: Sequence[int | str]) -> list[str]:
        """Return values of a type without order codes as JSON: integers that no BIGINT holds are as they are."""
        return list(map(str, texts)) if self._whole[place] else _json_texts(texts)


def turned(rows: Sequence[Sequence[int | str | None]]) -> list[list[int | str | None]]:
    """Return the columns of rows, which are equally long. Cost: 10 ns a value, and no object for a row."""
    flat = list(chain.from_iterable(rows))
    width = len(rows[0]) if rows else 0
    return [flat[place::width] for place in range(width)]


def _json_texts(texts: Sequence[int | str]) -> list[str]:
    """Return texts as JSON. No JSON text has a line end in it."""
    return _ENCODER.encode_lines(texts).decode().split("\n")[:-1]


def _joined(columns: Sequence[Sequence[str]]) -> list[str]:
    return [f"[{row}]" for row in map(",".join, zip(*columns, strict=True))]
