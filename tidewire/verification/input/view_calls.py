"""What a node of a view's query computes of its operands: arithmetic, conditions, and functions of moments and ranges.

A constant beside a column is a value of the column's type (`view_constants`); what is computed has the types of
`view_types`.
"""

from __future__ import annotations

from collections.abc import Callable

from tidewire.verification.input.query_tree import Node
from tidewire.verification.input.view_constants import beside, literal, typed
from tidewire.verification.input.view_plan import Call, Expression, Literal
from tidewire.verification.input.view_source import NoView
from tidewire.verification.input.view_types import arithmetic_type, common_type
from tidewire.verification.records.range_values import bounds_of, point
from tidewire.verification.records.ranges import element_of, is_range

COMPARED = {
    "COMPARE_EQUAL": "=", "COMPARE_NOTEQUAL": "<>", "COMPARE_LESSTHAN": "<", "COMPARE_LESSTHANOREQUALTO": "<=",
    "COMPARE_GREATERTHAN": ">", "COMPARE_GREATERTHANOREQUALTO": ">=",
}  # fmt: skip
_UNITS = ("minute", "hour", "day")
_OF_RANGES = {"&&": "&&", "@>": "<@", "<@": "@>"}
"""Operators of ranges, and what each is with its sides exchanged."""


def computed(node: Node, of: Callable[[Node], Expression]) -> Expression:
    """Return what a node computes of its operands, which `of` reads."""
    kind = node["class"]
    if kind == "CONSTANT":
        return literal(node["literal"])
    if kind == "CAST":
        return typed(of(node["child"]), node["type_expr"]["type_name"].upper())
    if kind == "FUNCTION":
        return _function(node["function_name"].lower(), [of(one["expression"]) for one in node["arguments"]])
    if kind == "COMPARISON":
        return _compared(COMPARED[node["type"]], of(node["left"]), of(node["right"]))
    if kind == "BETWEEN":
        value, lower, upper = (of(node[side]) for side in ("input", "lower", "upper"))
        return Call("and", (_compared(">=", value, lower), _compared("<=", value, upper)), "BOOLEAN")
    if kind == "CONJUNCTION":
        name = "and" if node["type"] == "CONJUNCTION_AND" else "or"
        return Call(name, tuple(of(child) for child in node["children"]), "BOOLEAN")
    if kind == "OPERATOR":
        return _operator(node["type"], [of(child) for child in node["children"]])
    raise NoView(kind)


def _operator(kind: str, operands: list[Expression]) -> Expression:
    if kind == "OPERATOR_COALESCE":
        fixed = next((one for one in operands if not isinstance(one, Literal)), operands[0])
        sides = [beside(fixed, one) for one in operands]
        return Call("coalesce", tuple(sides), common_type([one.type for one in sides]))
    if kind in ("OPERATOR_IS_NULL", "OPERATOR_IS_NOT_NULL"):
        null = Call("null", tuple(operands), "BOOLEAN")
        return null if kind == "OPERATOR_IS_NULL" else Call("not", (null,), "BOOLEAN")
    if kind == "OPERATOR_NOT":
        return Call("not", tuple(operands), "BOOLEAN")
    if kind in ("COMPARE_IN", "COMPARE_NOT_IN"):
        value, *members = operands
        among = Call("in", (value, *(beside(value, one) for one in members)), "BOOLEAN")
        return among if kind == "COMPARE_IN" else Call("not", (among,), "BOOLEAN")
    raise NoView(kind)


def _function(name: str, operands: list[Expression]) -> Expression:
    if name in ("+", "-", "*"):
        *first, right = operands
        if not first and isinstance(right, Literal) and name == "-":
            return Literal(None if right.value is None else -right.value, right.type)
        left = first[0] if first else Literal(0, "INTEGER")
        return Call(name, (left, right), arithmetic_type(name, left.type, right.type))
    if name == "date_trunc":
        unit, moment = operands
        word = str(unit.value).lower() if isinstance(unit, Literal) else ""
        if word in _UNITS:
            return Call(f"trunc-{word}", (moment,), "TIMESTAMP")
    if name in _OF_RANGES:
        return _of_ranges(name, *operands)
    if name in ("lower", "upper", "isempty"):
        [of] = operands
        if not is_range(of.type):
            raise NoView(f"{name}() of {of.type}")
        return Call("empty", (of,), "BOOLEAN") if name == "isempty" else Call(name, (of,), element_of(of.type))
    raise NoView(f"{name}()")


def _of_ranges(name: str, left: Expression, right: Expression) -> Call:
    """Read an operator of ranges, of a column and a constant on either side."""
    if isinstance(left, Literal):
        left, right, name = right, left, _OF_RANGES[name]
    if not isinstance(right, Literal) or not is_range(left.type):
        raise NoView(f"{left.type} {name} {right.type}")
    value = right.value
    if value is not None:
        value = bounds_of(left.type, value) if isinstance(value, str) else point(left.type, value)
    return Call(name, (left, Literal(value, left.type)), "BOOLEAN")


def _compared(name: str, left: Expression, right: Expression) -> Call:
    return Call(name, (beside(right, left), beside(left, right)), "BOOLEAN")
