"""Every range over small domains, as a subscriber each, holding what messages told it."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np

from catalog.query.channel import Channel, channel_of
from catalog.query.shape import BEYOND_KEYS, LOWEST_KEY, Output, Region, Shape, group_key
from catalog.schema.relation import Column, Relation
from catalog.types.column_type import ColumnType, Kind
from catalog.types.order_key import after, order_key
from operators.answer import Extremum, Members, Part, Tally
from operators.operator import Messages
from shard.tables import Table
from state.blob import read_blob, write_blob
from state.change_batch import ChangeBatch
from state.order_code import INT64_MAX, INT64_MIN, code_of_double
from tests.oracle.naive_range_questions import KEEP, Bound, Held, NaiveRangeQuestions

BIGINT, VARCHAR, WIDE = ColumnType(Kind.BIGINT), ColumnType(Kind.VARCHAR), ColumnType(Kind.DECIMAL, 20, 2)
RELATION = Relation(
    "t",
    (
        Column("id", BIGINT, False),
        Column("e", VARCHAR),
        Column("f", BIGINT),
        Column("x", BIGINT),
        Column("y", BIGINT),
        Column("s", VARCHAR),
        Column("w", WIDE),
        Column("d", ColumnType(Kind.DOUBLE)),
    ),
    ("id",),
    "t",
)
TEXTS = ["", "a", "a\0", "b", "é"]
WIDES = ["-12.00", "-1.50", "0.00", "0.50", "123456789012345678.25"]
DOUBLES = [code_of_double(value) for value in (-0.0, 0.1, -1e308, 5e-324, 0.2)]
GROUPS: Mapping[str, Sequence[int | str]] = {
    "e": ["a", "b", "nowhere"],
    "f": [0, 1],
    "s": ["a", "é"],
    "w": ["0.50"],
    "x": [1],
    "y": [1],
}
Change = tuple[int, dict[str, int | str | None] | None]
Range = tuple[Bound, Bound]


def channel(kind: str, column: str | None, equal: tuple[str, ...] = (), range_: str | None = "x") -> Channel:
    return channel_of("t", kind, column, equal, range_)


def batch_of(changes: Sequence[Change], relation: Relation = RELATION) -> ChangeBatch:
    """Lay changes out as a decoder does."""
    names = [column.name for column in relation.columns]
    m, c = len(changes), len(names)
    codes, valid, kept = np.zeros((c, m), np.int64), np.zeros((c, m), np.bool_), np.zeros((c, m), np.bool_)
    texts: dict[int, list[str | None]] = {i: [None] * m for i, col in enumerate(relation.columns) if not col.type.coded}
    for i, (pk, row) in enumerate(changes):
        for column, name in enumerate(names):
            value = pk if name == "id" else (row or {}).get(name)
            kept[column, i] = value == KEEP
            if value is None or value == KEEP or row is None:
                continue
            valid[column, i] = True
            if isinstance(value, str):
                texts[column][i] = value
            else:
                codes[column, i] = value
    live = np.array([row is not None for _, row in changes], np.bool_)
    partition, offset = np.array([pk % 3 for pk, _ in changes], np.int32), np.arange(m, dtype=np.int64)
    keys = [b"%d" % pk for pk, _ in changes]
    return ChangeBatch(keys, live, codes, valid, texts, partition, offset, kept if kept.any() else None)


def ranges_of(column: str | None, numbers: Sequence[int]) -> list[Range]:
    """Return all ranges over a range attribute: its numbers, or its texts and their neighbours."""
    if column is None:
        return [(INT64_MIN, INT64_MAX)]
    if RELATION.column(column).type.coded:
        return list(itertools.product(numbers, numbers))
    keys = [order_key(RELATION.column(column).type, text) for text in (TEXTS if column == "s" else WIDES)]
    bounds = [LOWEST_KEY, *keys, *map(after, keys[:3]), BEYOND_KEYS]
    return list(itertools.product(bounds, bounds))


def held_of(part: Part) -> Held:
    """Return what a subscriber has whose snapshot is `part`."""
    match part:
        case Extremum(value):
            return value
        case Members(values):
            assert len(set(values)) == len(values)
            return frozenset(values)
        case Tally():
            return part.count, part.total


class Watched:
    """Subscribers of every range in every group, by channel."""

    def __init__(self, twin: NaiveRangeQuestions, numbers: Sequence[int]) -> None:
        self.twin = twin
        self.numbers = numbers
        self.held: dict[tuple[Channel, bytes], dict[Range, Held]] = {}

    def subscribe(self, operator: Table, wanted: Channel) -> None:
        """Take snapshots of every range of a channel, as part of shapes of one output and of two."""
        function = {"rows": "count", "values": "sum"}.get(wanted.kind, wanted.kind)
        outputs = (Output(function, wanted.column),)
        for group in map(group_key, itertools.product(*(GROUPS[name] for name in wanted.equal))):
            ranges = ranges_of(wanted.range, self.numbers)
            shape = Shape("t", outputs, wanted.equal, wanted.range)
            regions = [Region(shape, group, lo, hi) for lo, hi in ranges]
            answers = operator.snapshot(regions)
            truth = self.twin.answers(wanted, group, ranges)
            mine = self.held[wanted, group] = {}
            if wanted.kind == "distinct":
                _check_counted(operator, wanted, regions, truth)
            for i, (region, true) in enumerate(zip(regions, truth, strict=True)):
                plain: Held = int(answers.new[i]) if answers.has_new[i] else None
                held = held_of(answers.parts[i][0]) if i in answers.parts else plain
                assert held == true, region
                mine[ranges[i]] = held

    def unsubscribe(self, gone: Channel) -> None:
        self.held = {key: held for key, held in self.held.items() if key[0] != gone}

    def hear(self, messages: Messages, which: Sequence[int], strict: bool = True) -> None:
        """Take the messages of one change. Strict: each subscriber hears at most once, and never what it knows."""
        heard: set[object] = set()
        for i in which:
            said, group = messages.channels[messages.channel[i]], messages.groups[messages.group[i]]
            for range_, held in self.held.get((said, group), {}).items():
                if self.hits(messages, i, said, *range_):
                    once = (said, group, range_, int(messages.rows[i]) if said.kind == "distinct" else 0)
                    assert once not in heard, f"not single: {once}"
                    heard.add(once)
                    told = self.told(messages, i, said, held)
                    assert told != held or not strict, f"not silent: {once} holds {held}"
                    self.held[said, group][range_] = told

    def hits(self, messages: Messages, i: int, said: Channel, lo: Bound, hi: Bound) -> bool:
        box = [int(bound[i]) for bound in (messages.lo_min, messages.lo_max, messages.hi_min, messages.hi_max)]
        if not self.twin.is_text(said.range):
            return bool(box[0] <= lo <= box[1] and box[2] <= hi <= box[3])  # type: ignore[operator]
        assert said.range is not None
        keys = [None if place < 0 else self.twin.sorted_by(said.range, messages.texts[place]) for place in box]
        above = (keys[0] is None or lo > keys[0]) and (keys[2] is None or hi > keys[2])  # type: ignore[operator]
        return above and (keys[1] is None or lo <= keys[1]) and (keys[3] is None or hi <= keys[3])  # type: ignore[operator]

    def told(self, messages: Messages, i: int, said: Channel, held: Held) -> Held:
        """Return what a subscriber holds after message i."""
        rows, text = int(messages.rows[i]), said.kind != "rows" and self.twin.is_text(said.column)
        old, new = (
            (messages.texts[code] if text else int(code)) if there else None
            for code, there in (
                (messages.old[i], messages.has_old[i]),
                (messages.new[i], messages.has_new[i]),
            )
        )
        if said.kind in ("min", "max"):
            assert rows == 0
            return new
        if isinstance(held, frozenset):
            assert rows in (1, -1)
            assert ((new if rows > 0 else old) in held) == (rows < 0), "not silent"
            return held | {new} if rows > 0 else held - {old}
        assert isinstance(held, tuple)
        if said.kind == "rows":
            assert old is new is None
            return held[0] + rows, 0
        assert (old is None, new is None) == (rows == 1, rows == -1)
        assert rows or old != new
        if not rows and old != new:
            assert self.twin.unit(said.column or "", old) != self.twin.unit(said.column or "", new)
        change = self.twin.unit(said.column or "", new) - self.twin.unit(said.column or "", old)
        return held[0] + rows, held[1] + change

    def verify(self, groups: set[tuple[Channel, bytes]] | None = None) -> None:
        for (said, group), mine in self.held.items():
            if groups is None or (said, group) in groups:
                truth = self.twin.answers(said, group, list(mine))
                assert list(mine.values()) == truth, f"not exact: {said} {group!r}"


def _check_counted(operator: Table, wanted: Channel, regions: Sequence[Region], truth: Sequence[Held]) -> None:
    """Compare snapshots of COUNT(DISTINCT c) with what there is: values, and how many of them are not NULL."""
    shape = Shape("t", (Output("count_distinct", wanted.column),), wanted.equal, wanted.range)
    counted = operator.snapshot([Region(shape, region.group, region.lo, region.hi) for region in regions])
    for i, values in enumerate(truth):
        assert isinstance(values, frozenset)
        assert held_of(counted.parts[i][0]) == (len(values), len(values - {None})), regions[i]


def dumped(table: Table) -> bytes:
    """Return a table as bytes."""
    return write_blob(b"TWTABLE\x00", 1, "", table.sections())


def reopened(relation: Relation, stored: bytes) -> Table:
    """Return the table that `dumped` made bytes of, under a declaration of today."""
    return Table.from_sections(relation, read_blob(stored, b"TWTABLE\x00", 1, ""))


def play(operator: Table, watched: Watched, changes: Sequence[Change]) -> None:
    """Apply one batch, and check every range after each of its changes."""
    twin = watched.twin
    messages = operator.apply(batch_of(changes)).messages
    causes = messages.cause.tolist()
    assert causes == sorted(causes)
    for i, (pk, row) in enumerate(changes):
        before = dict(twin.rows)
        twin.change(b"%d" % pk, None if row is None else {"id": pk, **row})
        which = [k for k, cause in enumerate(causes) if cause == i]
        assert not which or before != twin.rows, "a change to the same row said something"
        watched.hear(messages, which)
        if before != twin.rows:
            watched.verify()
    operator.check()
    assert operator.rows == len(twin.rows)
