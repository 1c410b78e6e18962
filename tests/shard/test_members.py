"""Two tables in one group answer as two groups do: every record is the same, and what each remembers.

Rows, deletes, truncates and changes of key with equal times in several partitions; registrations and withdrawals;
tables dropped, created again and altered; batches run again from other pieces, and new epochs that cut them otherwise.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from catalog.ddl.statements import apply_ddl
from catalog.query.shape import Output, Region, Shape, group_key
from catalog.schema.catalog import Catalog
from connectors.record import OutRecord, RawRecords
from connectors.topics import Topics
from operators.control import Withdraw, encode_control
from operators.packed import Header, pack_registrations
from shard.group import Group
from shard.group_spec import GroupSpec
from shard.pipeline import GroupResult, process_group
from tests.effort import deep_examples

TOPICS = Topics()
EDGES = 3
MEMBERS = {"t": "t/0", "u": "u/0"}
DDL = {
    "t": "CREATE TABLE t (id INTEGER PRIMARY KEY, x INTEGER, s VARCHAR)",
    "u": "CREATE TABLE u (id INTEGER PRIMARY KEY, x INTEGER, s VARCHAR) WITH ('format'='debezium-json')",
}
SAME = '"__debezium_unavailable_value"'
tables = st.sampled_from(["t", "u"])
ids, small = st.integers(0, 2), st.integers(0, 2)
texts = st.sampled_from(['"a"', '"b"', '"ab"', "null", SAME])
SHAPES = [
    (("min", "x"), (), "x"),
    (("distinct", "s"), (), "x"),
    (("count", None), ("s",), "x"),
    (("max", "s"), (), "x"),
]
shapes = st.sampled_from(SHAPES)
Place = tuple[str, int]


class Members(RuleBasedStateMachine):
    """`alone` has the states of t/0 and u/0 as groups of their own, `pair` that of the group of both."""

    def __init__(self) -> None:
        super().__init__()
        self.logs: dict[Place, list[tuple[bytes | None, bytes | None, int]]] = {}
        self.catalog = Catalog()
        self.version = 0
        for name in MEMBERS:
            self.create(name)
        self.epoch = 0
        self.forget()

    def forget(self) -> None:
        self.read: dict[Place, int] = {}
        self.alone: dict[str, bytes | None] = {}
        self.pair: bytes | None = None
        self.batch = -1

    def append(self, topic: str, partition: int, key: bytes | None, value: bytes | None, stamp: int) -> None:
        self.logs.setdefault((topic, partition), []).append((key, value, stamp))

    @rule(table=tables, partition=st.integers(0, 1), id=ids, x=small, s=texts, stamp=small)
    def put(self, table: str, partition: int, id: int, x: int, s: str, stamp: int) -> None:
        row = f'{{"id":{id},"x":{x},"s":{s}}}'
        event = f'{{"op":"u","after":{row},"source":{{"lsn":{stamp}}}}}' if table == "u" else row
        self.append(table, partition, b'{"id":%d}' % id, event.encode(), stamp)

    @rule(table=tables, partition=st.integers(0, 1), id=ids, stamp=small)
    def delete(self, table: str, partition: int, id: int, stamp: int) -> None:
        event = b'{"op":"d","source":{"lsn":%d}}' % stamp if table == "u" else None
        self.append(table, partition, b'{"id":%d}' % id, event, stamp)

    @rule(stamp=small, id=ids, other=ids)
    def move(self, stamp: int, id: int, other: int) -> None:
        event = f'{{"op":"u","before":{{"id":{id}}},"after":{{"id":{other},"x":1,"s":{SAME}}},"source":{{"lsn":1}}}}'
        self.append("u", 0, None, event.encode(), stamp)

    @rule(partition=st.integers(0, 1), stamp=small)
    def truncate(self, partition: int, stamp: int) -> None:
        self.append("u", partition, None, b'{"op":"t"}', stamp)

    @rule(table=tables, ve=st.integers(0, EDGES - 1), shape=shapes, lo=small, hi=small)
    def register(self, table: str, ve: int, shape: Any, lo: int, hi: int) -> None:
        (function, column), equal, range_ = shape
        made = Shape(table, (Output(function, column),), equal, range_)
        region = Region(made, group_key(("a",) if equal else ()), lo, hi, empty=lo > hi)
        header = Header("register", self.epoch, MEMBERS[table], ve=ve, catalog=self.version)
        for value in pack_registrations(header, [len(self.logs)], [region]):
            self.append(TOPICS.registrations, ve, MEMBERS[table].encode(), value, 0)

    @rule(table=tables, ve=st.integers(0, EDGES - 1), shape=shapes)
    def withdraw(self, table: str, ve: int, shape: Any) -> None:
        (function, column), equal, range_ = shape
        channels = Shape(table, (Output(function, column),), equal, range_).channels
        value = encode_control(Withdraw(self.epoch, ve, list(channels)))
        self.append(TOPICS.registrations, ve, MEMBERS[table].encode(), value, 0)

    @rule(table=tables, partition=st.integers(0, EDGES - 1))
    def damage(self, table: str, partition: int) -> None:
        self.append(TOPICS.registrations, partition, MEMBERS[table].encode(), b"\xffbroken", 0)

    def create(self, table: str) -> None:
        self.catalog = apply_ddl(self.catalog, DDL[table], self.version)
        self.version += 1

    @rule(table=tables)
    def drop_or_create(self, table: str) -> None:
        if table not in self.catalog.relations:
            self.create(table)
        else:
            self.catalog = apply_ddl(self.catalog, f"DROP TABLE {table}", self.version)
            self.version += 1

    @rule(table=tables)
    def widen(self, table: str) -> None:
        if table in self.catalog.relations:
            wider = DDL[table].replace("s VARCHAR", "s VARCHAR, more INTEGER")
            self.catalog = apply_ddl(self.catalog, wider, self.version)
            self.version += 1

    @rule()
    def begin_epoch(self) -> None:
        self.epoch += 1
        self.forget()

    @rule(share=st.sampled_from([0.3, 1.0]), seed=st.integers(0, 9))
    def run_batch(self, share: float, seed: int) -> None:
        """Take a share of what is unread, in any pieces; run it again from other pieces, as after a crash."""
        ends = {}
        for place, log in self.logs.items():
            start = self.read.get(place, 0)
            ends[place] = start + round(share * (len(log) - start))
        self.batch += 1
        again = self.both(ends, Random(seed + 1))
        alone, pair = self.both(ends, Random(seed))
        assert again == (alone, pair), "a replay gives the same bytes"
        self.read |= ends
        expected: list[OutRecord] = []
        for name, result in sorted(alone.items()):
            self.alone[name] = result.state
            expected += result.out
        if pair is not None:
            assert pair.out == expected
            self.pair = pair.state
        self.remember_the_same()

    def both(self, ends: dict[Place, int], random: Random) -> tuple[dict[str, GroupResult], GroupResult | None]:
        alone, everything = {}, []
        for table, name in MEMBERS.items():
            taken = [*self.pieces(table, None, ends, random), *self.pieces(TOPICS.registrations, name, ends, random)]
            if taken and table in self.catalog.relations:
                random.shuffle(taken)
                alone[name] = process_group(self.spec(name), self.batch, self.alone.get(name), taken)
                everything += taken
        random.shuffle(everything)
        spec = replace(self.spec("pair/0"), members=tuple(MEMBERS.values()))
        return alone, process_group(spec, self.batch, self.pair, everything) if everything else None

    def spec(self, group: str) -> GroupSpec:
        return GroupSpec(self.epoch, group, self.catalog, TOPICS, EDGES)

    def pieces(self, topic: str, key: str | None, ends: dict[Place, int], random: Random) -> list[RawRecords]:
        found = []
        for (named, partition), end in ends.items():
            log, start = self.logs[named, partition], self.read.get((named, partition), 0)
            places = [i for i in range(start, end) if key is None or log[i][0] == key.encode()]
            if named != topic or not places:
                continue
            cut = random.randint(0, len(places))
            for part in filter(None, (places[:cut], places[cut:])):
                records = [log[i] for i in part]
                found.append(
                    RawRecords(
                        topic, [record[0] for record in records], [record[1] for record in records],
                        np.full(len(part), partition, np.int32), np.array(part, np.int64),
                        np.array([record[2] for record in records], np.int64),
                    )
                )  # fmt: skip
        return found

    def remember_the_same(self) -> None:
        tables = {name: self.catalog.relation_of(name) for name in MEMBERS.values()}
        known = {name: relation for name, relation in tables.items() if relation is not None}
        pair = Group.open("pair/0", known, self.pair)
        for name, relation in known.items():
            one = Group.open(name, {name: relation}, self.alone.get(name))
            one[name].table.check()
            assert pair[name].bytes == one[name].bytes
            assert Group(name, [pair[name]]).dump() == Group(name, [one[name]]).dump()


Members.TestCase.settings = settings(max_examples=deep_examples(80), stateful_step_count=30, deadline=None)
TestMembers = pytest.mark.deep(Members.TestCase)
