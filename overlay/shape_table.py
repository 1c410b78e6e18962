"""The shapes that a virtual edge's subscriptions have, each with what its deliveries and registrations need."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from catalog.column_type import ColumnType
from catalog.relation import Catalog, Relation
from catalog.shape import Shape
from overlay.delivery import ValueTexts, json_text


@dataclass(slots=True)
class ShapeEntry:
    """One shape in use. `born` tells its relation from a later one of the same name; `count` its subscriptions."""

    number: int
    shape: Shape
    born: int
    shard: str
    topic: str
    type: ColumnType
    count: int = 0
    key: str = field(init=False)
    texts: ValueTexts = field(init=False)
    topic_text: str = field(init=False)

    def __post_init__(self) -> None:
        self.key = self.shape.key
        self.texts = ValueTexts(self.type)
        self.topic_text = json_text(self.topic)

    def stands(self, catalog: Catalog) -> bool:
        """Whether the relation that the shape was compiled for is still there (it may have new columns)."""
        relation = catalog.relations.get(self.shape.relation)
        return relation is not None and relation.born == self.born


class ShapeTable:
    """Shapes by number and by value. Numbers are small and are used again."""

    def __init__(self) -> None:
        self._by_shape: dict[Shape, ShapeEntry] = {}
        self._by_number: dict[int, ShapeEntry] = {}
        self._texts: dict[ColumnType, ValueTexts] = {}
        self._gaps: list[int] = []

    def __iter__(self) -> Iterator[ShapeEntry]:
        return iter(self._by_number.values())

    def __getitem__(self, number: int) -> ShapeEntry:
        return self._by_number[number]

    def has(self, number: int) -> bool:
        """Whether a shape has this number."""
        return number in self._by_number

    def get(self, shape: Shape) -> ShapeEntry | None:
        """Return the entry of `shape`, or None where no subscription has it."""
        return self._by_shape.get(shape)

    def enter(self, shape: Shape, relation: Relation, type_: ColumnType) -> ShapeEntry:
        """Return the entry of `shape`, made if need be. Cost: O(1), amortised."""
        entry = self._by_shape.get(shape)
        if entry is None:
            entry = ShapeEntry(self._unused(), shape, relation.born, relation.shard, relation.topic, type_)
            self.put(entry)
        return entry

    def put(self, entry: ShapeEntry) -> None:
        """Take in an entry, and let it share its texts with those of the same type."""
        entry.texts = self._texts.setdefault(entry.type, entry.texts)
        self._by_shape[entry.shape] = entry
        self._by_number[entry.number] = entry

    def drop(self, number: int) -> None:
        """Forget a shape; its number may be given again."""
        del self._by_shape[self._by_number.pop(number).shape]
        self._gaps.append(number)

    def _unused(self) -> int:
        while self._gaps:
            number = self._gaps.pop()
            if number not in self._by_number:
                return number
        number = len(self._by_number)
        while number in self._by_number:
            number += 1
        return number
