"""The types of an Avro schema, every name in it resolved: what a datum of it looks like, byte by byte.

`name` is Avro's word for the type. Records hold their fields once all is parsed, so that they may hold themselves.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class AvroType:
    """A scalar: int, string, enum, ...; its logical type or '', the scale of a decimal, an enum's symbols, a size."""

    name: str
    logical: str = ""
    scale: int = 0
    symbols: tuple[str, ...] = ()
    size: int = 0

    def __str__(self) -> str:
        return f"{self.name} {self.logical}".rstrip()


@dataclass(slots=True, eq=False)
class AvroRecord:
    """A record, or an error, by its full name. `empty`: no datum of it has a byte; not said before its end."""

    full_name: str
    fields: list[tuple[str, AvroNode]] = field(default_factory=list)
    empty: bool = False
    name: str = "record"


@dataclass(frozen=True, slots=True, eq=False)
class AvroBlocks:
    """An `array` or a `map` of items."""

    name: str
    items: AvroNode


@dataclass(frozen=True, slots=True, eq=False)
class AvroUnion:
    """One of several types."""

    branches: tuple[AvroNode, ...]
    name: str = "union"

    def single(self) -> AvroNode | None:
        """Return the only branch that is not null, None if there are several."""
        others = [one for one in self.branches if one.name != "null"]
        return others[0] if len(others) == 1 else None


AvroNode = AvroType | AvroRecord | AvroBlocks | AvroUnion


def scalar_type(node: AvroNode) -> AvroType | None:
    """Return the type of values that are not null; None for a union of several, and what is no scalar."""
    found: AvroNode | None = node
    while isinstance(found, AvroUnion):
        found = found.single()
    return found if isinstance(found, AvroType) else None
