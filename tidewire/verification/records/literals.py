"""Constants beside columns, made exact: DuckDB would round some of them before it compares.

A subscription compares a column with the number that was written, whatever its size and number of digits; DuckDB
compares BIGINT with 9007199254740992e0 as doubles, DECIMAL(6,2) with '1.005' as 1.01, and cannot compare DECIMAL(18,4)
with 1e-30 at all. So, in DuckDB's own syntax tree, parameters are put in place of their marks, and then

    column                  constant
    integers, DECIMAL       cut behind the digit after the column's last one; if something was cut, half a unit
                            stands for it: it lies between the same two values of the column
    DECIMAL(19 and more)    its key, a text (`wide`), beside the column's key
    DOUBLE, REAL            the nearest value of the column's type; infinite beyond its range
    DATE, with a time       a TIMESTAMP

Everything else stays as DuckDB reads it. A sign before a constant becomes part of it. `x IN (1, 2.5)` becomes
`x = 1 OR x = 2.5`, which SQL defines it by: DuckDB would cast all members to one type.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import ROUND_FLOOR, Decimal
from typing import Any

from tidewire.verification.records.rounding import EXACT, nearest_real, number_of
from tidewire.verification.records.wide_decimals import key_column, key_of, wide_digits

_EXACT = re.compile(r"(SMALLINT|INTEGER|BIGINT)|DECIMAL\(\d+,(\d+)\)")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d.*")
_SIDES = ("left", "right", "input", "lower", "upper")
_LARGEST_COMPARED = 36


def make_exact(node: Any, types: dict[str, str], params: Sequence[Any]) -> Any:
    """Return the condition `node` with exact constants; `types` are DuckDB's, by lower-case column name."""
    if isinstance(node, list):
        return [make_exact(child, types, params) for child in node]
    if not isinstance(node, dict):
        return node
    if node.get("class") == "PARAMETER":
        return _constant(params[int(node["identifier"]) - 1])
    made = {name: make_exact(child, types, params) for name, child in node.items()}
    if made.get("class") == "FUNCTION" and made.get("function_name") in ("+", "-"):
        return _signed(made)
    if made.get("class") in ("COMPARISON", "BETWEEN"):
        return _compared(made, types)
    if made.get("type") == "COMPARE_IN" and made["children"][0]["class"] == "COLUMN_REF":
        column, *members = made["children"]
        return _several("CONJUNCTION_OR", [_compared(_equal(column, member), types) for member in members])
    return made


def _equal(column: dict[str, Any], constant: Any) -> dict[str, Any]:
    return {"class": "COMPARISON", "type": "COMPARE_EQUAL", **_NOWHERE, "left": column, "right": constant}


def all_of(conditions: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the condition that all of these are met; there is one."""
    return _several("CONJUNCTION_AND", conditions)


def _several(type: str, conditions: list[dict[str, Any]]) -> dict[str, Any]:
    if len(conditions) == 1:
        return conditions[0]
    return {"class": "CONJUNCTION", "type": type, **_NOWHERE, "children": conditions}


def _compared(node: dict[str, Any], types: dict[str, str]) -> dict[str, Any]:
    sides = [node[name] for name in _SIDES if name in node]
    columns = [side["column_names"][-1].lower() for side in sides if side.get("class") == "COLUMN_REF"]
    if len(columns) != 1:
        return node
    type = types.get(columns[0], "")
    wide = wide_digits(type)
    if wide is not None:
        return {name: _by_key(child, *wide) if name in _SIDES else child for name, child in node.items()}
    return {name: _beside(type, child) if name in _SIDES else child for name, child in node.items()}


def _by_key(side: Any, precision: int, scale: int) -> Any:
    """Return the key of a DECIMAL column, or of a number beside it."""
    if side.get("class") == "COLUMN_REF":
        *qualifier, name = side["column_names"]
        return side | {"column_names": [*qualifier, key_column(name)]}
    text = side["literal"].get("text", "") if isinstance(side.get("literal"), dict) else ""
    return _string(key_of(number_of(text), precision, scale)) if _NUMBER.fullmatch(text) else side


def _beside(type: str, side: Any) -> Any:
    if side.get("class") != "CONSTANT" or not isinstance(side.get("literal"), dict):
        return side
    text = side["literal"].get("text", "")
    exact = _EXACT.fullmatch(type)
    if side["literal"]["kind"] == "STRING":
        if type == "DATE" and _TIME.fullmatch(text):
            return _cast(side, "TIMESTAMP")
        if not (exact and exact[2]):
            return side
    if not _NUMBER.fullmatch(text):
        return side
    if exact:
        return _number(_between_same_values(text, int(exact[2] or 0)))
    if type == "DOUBLE":
        return _cast(_string(_float(float(text))), "DOUBLE")
    if type == "FLOAT":
        return _cast(_string(_float(nearest_real(text))), "FLOAT")
    return side


def _between_same_values(text: str, scale: int) -> str:
    """Return a number of at most `scale` + 2 decimals that compares with all values of the scale as `text` does."""
    number = number_of(text)
    if number and number.adjusted() >= _LARGEST_COMPARED - scale - 2:
        return f"{'-' if number < 0 else ''}1e{_LARGEST_COMPARED}"
    cut = number.quantize(Decimal(1).scaleb(-(scale + 1)), rounding=ROUND_FLOOR, context=EXACT)
    if cut != number:
        cut = EXACT.add(cut, Decimal(5).scaleb(-(scale + 2)))
    return format(cut, "f")


def _float(value: float) -> str:
    return repr(value).replace("inf", "infinity")


def _signed(node: dict[str, Any]) -> dict[str, Any]:
    """Return the constant that one with a sign is; NULL has none, and a plus changes nothing."""
    [argument, *others] = node["arguments"]
    inner: dict[str, Any] = argument["expression"]
    literal = inner.get("literal")
    if others or inner.get("class") not in ("CONSTANT", "CAST"):
        return node
    if node["function_name"] == "+" or (isinstance(literal, dict) and literal["kind"] == "NULL_LITERAL"):
        return inner
    if not isinstance(literal, dict) or not _NUMBER.fullmatch(literal.get("text", "")):
        return node
    text: str = literal["text"]
    return _number(text[1:] if text.startswith("-") else f"-{text}")


def _constant(value: Any) -> dict[str, Any]:
    """Return a constant of a JSON value; numbers come as Decimal or int, so that none was rounded."""
    if value is None:
        return _literal({"kind": "NULL_LITERAL", "text": ""})
    if isinstance(value, bool):
        return _literal({"kind": "BOOLEAN", "text": "true" if value else "false"})
    return _string(value) if isinstance(value, str) else _number(str(value))


def _number(text: str) -> dict[str, Any]:
    return _literal({"kind": "INTEGER" if text.lstrip("-").isdigit() and len(text) < 18 else "NUMERIC", "text": text})


def _string(text: str) -> dict[str, Any]:
    return _literal({"kind": "STRING", "text": text})


def _literal(literal: dict[str, Any]) -> dict[str, Any]:
    return {"class": "CONSTANT", "type": "VALUE_CONSTANT", **_NOWHERE, "literal": literal}


def _cast(child: dict[str, Any], type: str) -> dict[str, Any]:
    named = {
        "class": "TYPE",
        "type": "TYPE",
        **_NOWHERE,
        "catalog": "",
        "schema": "",
        "type_name": type,
        "children": [],
    }
    return {"class": "CAST", "type": "OPERATOR_CAST", **_NOWHERE, "child": child, "try_cast": False, "type_expr": named}


_NOWHERE: dict[str, Any] = {"alias": "", "query_location": 0, "query_location_length": 0}
