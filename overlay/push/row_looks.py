"""Current answers with the rows of bags in them, which an edge does not keep: they are looked up at the shard.

A look takes as long as a batch, so those who want the same rows share it. What it sees must be at least as new as what
its reader was told by the time he asks, or something between the two would be missed; so who asks while one is under
way waits for the next one, and all who wait for that share it:

    asks   A  B     C
    looks  [--A--][--B C--]

Where a bag has more rows than an answer may have, and where its subscription wants no snapshot, the answer says
`"snapshot": "none"` and has no rows: its reader is told what changes.

For the event loop only.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeGuard

import msgspec

from connectors.http.answer import Answer, Elsewhere, Found, NotNow, Unknown
from connectors.http.gateway import Looked, NoBag, RowsProtocol, TooManyRows

MOST_LOOKS = 16
"""At a time; more wait here, where they cost nothing."""

_Said = Looked | TooManyRows | NoBag | Elsewhere | Unknown | NotNow


@dataclass(slots=True)
class _Shared:
    """A look, and the answer that it has made, which is one object for all."""

    task: asyncio.Task[_Said]
    answer: Answer | None = None


class RowLooks:
    """Those of one edge; a `RowsProtocol` itself. `rows`: who looks rows up; None while nobody does."""

    def __init__(self, most: int = MOST_LOOKS) -> None:
        self.rows: RowsProtocol | None = None
        self._gate = asyncio.Semaphore(most)
        self._running: dict[str, _Shared] = {}
        self._next: dict[str, _Shared] = {}

    async def look(self, identifier: str) -> _Said:
        """Return the rows of a bag, at least as new as what was told before the call. Raises what a look raises."""
        if self.rows is None:
            return NotNow("the edge is starting")
        return await asyncio.shield(self._begun_from_now_on(self.rows, identifier).task)

    async def filled(self, names: Sequence[str], answers: Sequence[Answer]) -> Sequence[Answer]:
        """Return `answers` (of `names`) with the rows that they lack. Raises what a look raises."""
        lacking = {name: answer for name, answer in zip(names, answers, strict=True) if lacks_rows(answer)}
        if not lacking or self.rows is None:
            return answers
        looks = {name: self._begun_from_now_on(self.rows, name) for name in lacking}
        await asyncio.gather(*(asyncio.shield(look.task) for look in looks.values()))
        filled: dict[str, Answer] = {}
        for name, look in looks.items():
            filled[name] = look.answer = look.answer or _with_rows(lacking[name], look.task.result())
        return [filled.get(name, answer) for name, answer in zip(names, answers, strict=True)]

    def _begun_from_now_on(self, rows: RowsProtocol, name: str) -> _Shared:
        waiting = self._next.get(name)
        if waiting is not None:
            return waiting
        before = self._running.get(name)
        look = _Shared(asyncio.create_task(self._look(rows, name, before)))
        (self._running if before is None else self._next)[name] = look
        return look

    async def _look(self, rows: RowsProtocol, name: str, before: _Shared | None) -> _Said:
        if before is not None:
            await asyncio.wait({before.task})
            self._running[name] = self._next.pop(name)
        mine = self._running[name]
        try:
            async with self._gate:
                return await rows.look(name)
        finally:
            if self._running[name] is mine:
                del self._running[name]


def lacks_rows(answer: Answer | None) -> TypeGuard[Found]:
    """Whether an answer is that of a live bag, and its rows are wanted."""
    if not isinstance(answer, Found):
        return False
    body = answer.body
    return body.get("form") == "bag" and body.get("status") == "live" and not ("answer" in body or "snapshot" in body)


def _with_rows(answer: Found, looked: _Said) -> Answer:
    match looked:
        case Looked():
            return Found(_body(answer.body, looked))
        case TooManyRows():
            return Found({**answer.body, "snapshot": "none"})
        case NoBag():
            return answer
    return looked


def _body(body: Mapping[str, object], looked: Looked) -> dict[str, object]:
    rows = msgspec.Raw(f"[{','.join(looked.rows)}]".encode())
    said = {"version": looked.version, "n": looked.n, "rows": len(looked.rows), "at": looked.at, "sql": looked.sql}
    key = {"key": list(looked.key)} if looked.key else {}
    return {**body, **said, **key, "answer": rows}
