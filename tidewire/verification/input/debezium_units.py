"""How the DDL says that a connector writes times and decimals, by the documented rules, written a second time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

UNITS = {
    "timestamp": {"micros", "millis", "nanos", "zoned"},
    "date": {"days", "iso"},
    "decimal": {"base64", "string", "number"},
}
PLACEHOLDER = "__debezium_unavailable_value"
_LONGEST_PLACEHOLDER = 200


class NoUnit(Exception):
    """Options that do not fit the columns."""


def kind_of(type: str) -> str:
    """Return the word by which an option names a type."""
    return type.partition("(")[0].lower()


def units_of(columns: Iterable[tuple[str, str]], options: Mapping[str, str]) -> dict[str, str]:
    """Return unit by column name, of `columns` as (name, type). Raises NoUnit where the table may not be declared."""
    rest = {name for name in options if name not in UNITS}
    found: dict[str, str] = {}
    for name, type in columns:
        kind, own = kind_of(type), f"column.{name.lower()}"
        unit = options.get(own) if own in options else options.get(kind)
        if kind not in UNITS:
            continue
        rest.discard(own)
        if unit is not None and unit.lower() in UNITS[kind]:
            found[name] = unit.lower()
        elif unit is not None or options.get("schema", "").lower() != "inline":
            raise NoUnit(f"{name} {type}: {unit}")
    _check(rest, options)
    return found


def _check(rest: set[str], options: Mapping[str, str]) -> None:
    if not rest <= {"schema", "placeholder"} or options.get("schema", "inline").lower() != "inline":
        raise NoUnit(str(rest))
    if not 1 <= len(options.get("placeholder", PLACEHOLDER)) <= _LONGEST_PLACEHOLDER:
        raise NoUnit("placeholder")
    for kind in UNITS:
        if options.get(kind, "").lower() not in UNITS[kind] | {""}:
            raise NoUnit(kind)
