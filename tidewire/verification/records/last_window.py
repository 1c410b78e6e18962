"""Of which moments rows meet a condition: the least and greatest value that it allows one column, whatever others are.

    hour = TIMESTAMP '2026-03-02 10:00:00' AND symbol = 'A'     that hour
    hour < TIMESTAMP '2026-03-02 10:00:00' OR symbol = 'A'      any

Whether a value can meet it changes only at a constant that the column is compared with, so these and their neighbours
are tried. Of each part of the condition it is computed whether it can be true, and whether it can be false; comparisons
of other columns can be both.
"""

from __future__ import annotations

import datetime as dt
import operator
from collections.abc import Callable, Iterator
from typing import Any

from tidewire.verification.records.question import Unreadable

Node = dict[str, Any]
_EPOCH = dt.datetime(1970, 1, 1)
_BEYOND = 2**70
LAST = (dt.datetime.max - _EPOCH) // dt.timedelta(microseconds=1)
"""The last moment that there is."""
_HOLDS: dict[str, Callable[[int, int], bool]] = {
    "COMPARE_EQUAL": operator.eq,
    "COMPARE_NOTEQUAL": operator.ne,
    "COMPARE_LESSTHAN": operator.lt,
    "COMPARE_LESSTHANOREQUALTO": operator.le,
    "COMPARE_GREATERTHAN": operator.gt,
    "COMPARE_GREATERTHANOREQUALTO": operator.ge,
}
_MIRRORED = {
    "COMPARE_LESSTHAN": "COMPARE_GREATERTHAN",
    "COMPARE_LESSTHANOREQUALTO": "COMPARE_GREATERTHANOREQUALTO",
    "COMPARE_GREATERTHAN": "COMPARE_LESSTHAN",
    "COMPARE_GREATERTHANOREQUALTO": "COMPARE_LESSTHANOREQUALTO",
}


def moments_of(where: Node | None, column: str, params: tuple[Any, ...]) -> tuple[int, int] | None:
    """Return the least and greatest moment, in microseconds since 1970, that `column` may have.

    None if there is no greatest; where there is no least one, it is beyond all moments.

    Raises Unreadable where the condition is none that is known here.
    """
    if where is None:
        return None
    condition = _Condition(column, params)
    try:
        constants = list(condition.constants(where))
        tried = sorted({moment + beside for moment in constants for beside in (-1, 0, 1)} | {-_BEYOND, _BEYOND})
        met = [moment for moment in tried if condition.can(where, moment)[0]]
    except (KeyError, ValueError, TypeError, IndexError) as error:
        raise Unreadable(f"until when rows can come: {error!r}") from None
    return None if not met or met[-1] == _BEYOND or met[-1] == -_BEYOND else (met[0], met[-1])


class _Condition:
    """Reads DuckDB's tree of a condition."""

    def __init__(self, column: str, params: tuple[Any, ...]) -> None:
        self._column = column
        self._params = params

    def constants(self, node: Node) -> Iterator[int]:
        """Yield what the column is compared with."""
        kind = node["class"]
        if kind in ("CONJUNCTION", "OPERATOR") and not self._is_own(node["children"][0]):
            for child in node["children"]:
                yield from self.constants(child)
        elif kind == "OPERATOR":
            yield from (self._moment(child) for child in node["children"][1:])
        elif kind == "COMPARISON":
            for one, other in ((node["left"], node["right"]), (node["right"], node["left"])):
                if self._is_own(one):
                    yield self._moment(other)
        elif kind == "BETWEEN" and self._is_own(node["input"]):
            yield from (self._moment(node["lower"]), self._moment(node["upper"]))

    def can(self, node: Node, moment: int) -> tuple[bool, bool]:
        """Return whether a condition can be true, and whether it can be false, where the column is `moment`."""
        kind, type_ = node["class"], node["type"]
        if kind == "CONJUNCTION":
            several = [self.can(child, moment) for child in node["children"]]
            trues, falses = [one for one, _ in several], [one for _, one in several]
            return (all(trues), any(falses)) if type_ == "CONJUNCTION_AND" else (any(trues), all(falses))
        if kind == "OPERATOR" and type_ == "OPERATOR_NOT":
            true, false = self.can(node["children"][0], moment)
            return false, true
        met = self._met(node, kind, type_, moment)
        return (True, True) if met is None else (met, not met)

    def _met(self, node: Node, kind: str, type_: str, moment: int) -> bool | None:
        """Return whether a comparison of the column holds; None of any other one."""
        if kind == "COMPARISON":
            if self._is_own(node["left"]):
                return _HOLDS[type_](moment, self._moment(node["right"]))
            mirrored = _MIRRORED.get(type_, type_)
            return _HOLDS[mirrored](moment, self._moment(node["left"])) if self._is_own(node["right"]) else None
        if kind == "BETWEEN" and self._is_own(node["input"]):
            return self._moment(node["lower"]) <= moment <= self._moment(node["upper"])
        if kind != "OPERATOR" or not self._is_own(node["children"][0]):
            return None
        if type_ in ("COMPARE_IN", "COMPARE_NOT_IN"):
            among = moment in [self._moment(child) for child in node["children"][1:]]
            return among == (type_ == "COMPARE_IN")
        return {"OPERATOR_IS_NULL": False, "OPERATOR_IS_NOT_NULL": True}[type_]

    def _is_own(self, node: Node) -> bool:
        return bool(node["class"] == "COLUMN_REF" and node["column_names"][-1].lower() == self._column)

    def _moment(self, node: Node) -> int:
        if node["class"] == "CAST":
            return self._moment(node["child"])
        value = self._params[int(node["identifier"]) - 1] if node["class"] == "PARAMETER" else node["literal"]["text"]
        return (dt.datetime.fromisoformat(str(value).strip()) - _EPOCH) // dt.timedelta(microseconds=1)
