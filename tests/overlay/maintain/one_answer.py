"""One answer that is kept by itself, what follows it through a batch, and what was said of it."""

from __future__ import annotations

import msgspec

from catalog.query.shape import Output, Shape
from catalog.schema.relation import Column, Relation
from catalog.types.column_type import ColumnType, Kind
from overlay.answers.answer import Answer
from overlay.answers.answer_table import AnswerTable
from overlay.answers.conflation import Threshold
from overlay.answers.shape_table import ShapeTable
from overlay.maintain.maintainers import Maintainer, maintainer_of
from overlay.maintain.notifier import Notifier
from overlay.maintain.part_change import PartChange

BIGINT = ColumnType(Kind.BIGINT)
TABLE = Relation("t", (Column("v", BIGINT),), ("v",), "t")


class OneAnswer:
    """An answer of slot 7."""

    def __init__(self, function: str, answer: Answer) -> None:
        self.output = Output(function, None if function == "count" else "v")
        shape = Shape("t", (self.output,), (), None)
        self.layout = ShapeTable().enter(shape, TABLE, [None if function == "count" else BIGINT]).plan
        self.lines: list[dict] = []
        self.answers = AnswerTable()
        self.stored = self.answers.start(7, answer)
        self.notifier = Notifier(lambda _, line: self.lines.append(msgspec.json.decode(line)), b"a", '{"id":"a"', 1)

    def follow(self, latest: bool = False, threshold: Threshold | None = None) -> Maintainer:
        return maintainer_of(7, self.stored, self.layout, self.notifier, latest, threshold)

    def hit(self, row: int, rows: int | None, value: int | None = None, units: int = 0) -> PartChange:
        return PartChange(str(row), self.layout.channels[0], rows, value, units)

    def told(self, *names: str) -> list[tuple]:
        return [tuple(line.get(name) for name in names) for line in self.lines]
