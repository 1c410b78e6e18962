"""The statements of many subscription records in one array of bytes, and what stands beside each in its record.

    {"sql":"..."}, plain ASCII without escapes      its bytes as they are, which no one has to read
    all others                                      read one by one (`overlay/intake/subscription_request.py`)
    {"template":"...","params":[...]}               as the SQL that it says (`Compiler.sql_of`)

Cost: 1 us a plain record, 5 us one that is read, 13 us a template.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from catalog.bulk.cut_statements import CutStatements
from overlay.arena.text_arena import sizes_of
from overlay.intake.subscription_request import Request, read_request
from state.change_batch import I64, Bool

_MOST_TOGETHER = 1_024
"""Bytes of a record that is looked at together with others; where each literal is takes eight times the text."""
_HEADS = (b'{"sql":"', b'{"sql": "')
_LONGEST_HEAD = max(map(len, _HEADS))
_NOTHING = Request()

Attributed = Callable[[Request], Request | None]
"""A request with its attributes within the question, None where that is refused."""
SqlOf = Callable[[str, Sequence[object]], str | None]
"""The SQL that a template says with its parameters, None where it cannot be told."""


def _unknown(template: str, parameters: Sequence[object]) -> None:
    """Know no template."""


def _without(request: Request) -> Request | None:
    """Know no audience."""
    return None if request.attributes is not None else request


@dataclass(frozen=True, slots=True)
class FoundStatements:
    """Statement i is of record records[i].

    options: the policies and forms of delivery that stand beside statements; options[beside[i]] for statement i.
    ttl: the seconds to live that stand beside each, 0 for none.
    """

    statements: CutStatements
    records: I64
    options: list[Request]
    beside: I64
    ttl: I64


def find_statements(
    values: Sequence[bytes], sql_of: SqlOf = _unknown, attributed: Attributed = _without
) -> FoundStatements:
    """Return the statements of records; nothing is known here of those that are not among them.

    A record that is among them says just the statement and what stands beside it. Left out are records that are to be
    refused, and those longer than `_MOST_TOGETHER`.
    """
    sizes = sizes_of(values)
    flat = b"".join(values) + bytes(_LONGEST_HEAD)
    starts = np.cumsum(sizes) - sizes
    begins, plain = _plain(np.frombuffer(flat, np.uint8), starts, sizes)
    which = plain.nonzero()[0]
    read = _Read(sql_of, attributed)
    for i in (~plain & (sizes <= _MOST_TOGETHER)).nonzero()[0].tolist():
        read.add(i, values[i])
    added = sizes_of(read.texts)
    data = np.frombuffer(flat + b"".join(read.texts), np.uint8)
    behind = len(flat) + np.cumsum(added) - added
    first, last = starts[which] + begins[which], (starts + sizes)[which] - 2
    none = np.zeros(len(which), np.int64)
    return FoundStatements(
        CutStatements.of(data, np.concatenate([first, behind]), np.concatenate([last, behind + added])),
        np.concatenate([which, np.array(read.records, np.int64)]),
        list(read.options),
        np.concatenate([none, np.array(read.beside, np.int64)]),
        np.concatenate([none, np.array(read.ttl, np.int64)]),
    )


def _plain(data: np.ndarray, starts: I64, sizes: I64) -> tuple[I64, Bool]:
    """Return where the statement of each record begins, and whether the record is plain `{"sql":"..."}`."""
    heads = data[starts[:, None] + np.arange(_LONGEST_HEAD)]
    begins = np.full(len(sizes), -1, np.int64)
    for head in _HEADS:
        begins[(heads[:, : len(head)] == np.frombuffer(head, np.uint8)).all(axis=1)] = len(head)
    ends = starts + sizes
    closed = (data[ends - 2] == ord('"')) & (data[ends - 1] == ord("}"))
    plain = (begins > 0) & closed & (sizes >= begins + 2) & (sizes <= _MOST_TOGETHER)
    odd = (data < 32) | (data > 126) | (data == ord('"')) | (data == ord("\\"))
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(odd)])
    which = plain.nonzero()[0]
    plain[which] = before[starts[which] + begins[which]] == before[ends[which] - 2]
    return begins, plain


class _Read:
    """Records that are read one by one, as columns."""

    def __init__(self, sql_of: SqlOf, attributed: Attributed) -> None:
        self.texts: list[bytes] = []
        self.records: list[int] = []
        self.beside: list[int] = []
        self.ttl: list[int] = []
        self.options: dict[Request, int] = {_NOTHING: 0}
        self._sql_of = sql_of
        self._attributed = attributed

    def add(self, record: int, value: bytes) -> None:
        """Read a record; none that is refused is added."""
        read = read_request(value)
        request = self._attributed(read) if isinstance(read, Request) else None
        if request is None:
            return
        sql = request.sql
        if request.template is not None and request.params is not None:
            sql = self._sql_of(request.template, request.params)
        if sql is None:
            return
        options = _NOTHING
        if request.notify is not None or request.deliver is not None:
            options = Request(notify=request.notify, deliver=request.deliver)
        self.texts.append(sql.encode())
        self.records.append(record)
        self.beside.append(self.options.setdefault(options, len(self.options)))
        self.ttl.append(request.ttl or 0)
