"""A group: the members that one key of the query holds together, and their state as one binary value.

    members        the names, in order
    head           of a cell alone: what it keeps beside the copies of its tables (cell.py)
    <i>/declared   what member i depends on of its table's declaration (state_fingerprint.py)
    <i>/memory     listeners, seq, counters, deleted rows, repeats
    <i>/...        rows, texts and orderings (tables.py)
    <i>/delta/<k>  what batch k since did to it: a blob of the sections of `ShardState.delta`

The first three are a base. Every member that a batch touches is written as a base without deltas; whoever writes a base
more rarely puts deltas behind it, and is read here all the same.

A member that a batch does not touch is written again as it was read, also from the seed. One that is not stored, or
whose table was created again since, begins with what the seed has of it, else empty. One that the catalog does not name
any more is forgotten. Version 2 of the format, which had one member, named as the group, is still read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy.typing as npt

from catalog.schema.relation import Relation
from shard.state import ShardState
from shard.state_fingerprint import Declared
from state.blob import Section, open_blob, read_blob, version_of, write_blob

_MAGIC = b"tw-shard"
_VERSION = 3
_TABLE_OF_VERSION_2 = b"TWRANGE\x00"
_DELTA_MAGIC = b"tw-delta"
_DELTA_VERSION = 1
_DELTA = "delta/"
_HEAD = "head"
Sections = Mapping[str, Section]


@dataclass(frozen=True, slots=True)
class StoredGroup:
    """A group's state as it was read: the sections of each member, and the head where it has one."""

    members: Mapping[str, Sections] = field(default_factory=dict)
    head: Section | None = None

    @classmethod
    def read(cls, name: str, data: bytes | None) -> StoredGroup:
        """Read what `Group.dump` wrote; no bytes are no members. Raises StateError if it is another group's."""
        if not data:
            return cls()
        if version_of(data) < _VERSION:
            return cls({name: _of_version_2(name, data)})
        sections = read_blob(data, _MAGIC, _VERSION, name)
        names = msgspec.json.decode(bytes(sections.pop("members")), type=list[str])
        head = sections.pop(_HEAD, None)
        members: dict[str, dict[str, Section]] = {shard: {} for shard in names}
        for path, section in sections.items():
            number, _, own = path.partition("/")
            members[names[int(number)]][own] = section
        return cls(members, head)


class Group:
    """The members of a group by name, each opened when it is first asked for.

    Cost: `open` and `dump` are O(bytes of the state), for a member that is not touched one copy.
    """

    def __init__(self, name: str, members: Iterable[ShardState] = ()) -> None:
        self.name = name
        self._open = {member.shard: member for member in members}
        self._tables: dict[str, Relation] = {shard: member.relation for shard, member in self._open.items()}
        self._stored: Mapping[str, Sections] = {}
        self._seeded: Mapping[str, Sections] = {}

    @classmethod
    def open(cls, name: str, tables: Mapping[str, Relation], data: bytes | None, seed: bytes | None = None) -> Group:
        """Return the group with the members that `tables` names; `data` is what `dump` wrote, `seed` of any group.

        Raises StateError if `data` is another group's.
        """
        return cls.of(name, tables, StoredGroup.read(name, data), StoredGroup.read(name, seed))

    @classmethod
    def of(cls, name: str, tables: Mapping[str, Relation], stored: StoredGroup, seeded: StoredGroup) -> Group:
        """Return the group with the members that `tables` names, of states that were read."""
        group = cls(name)
        group._tables = dict(tables)
        group._stored, group._seeded = stored.members, seeded.members
        return group

    def __getitem__(self, shard: str) -> ShardState:
        """Return a member. Raises StateError if what is stored is of another declaration of its table."""
        if shard not in self._open:
            relation = self._tables[shard]
            found = (_member(relation, shard, sections) for sections in self._sources(shard))
            self._open[shard] = next(filter(None, found), None) or ShardState(relation, shard)
        return self._open[shard]

    def add(self, tables: Mapping[str, Relation]) -> None:
        """Let the group have these members, too."""
        self._tables |= tables

    @property
    def size(self) -> int:
        """The bytes that the open members took before the batch."""
        return sum(member.bytes for member in self._open.values())

    def weigh(self) -> None:
        """Tell each open member what the others take."""
        size = self.size
        for member in self._open.values():
            member.beside = size - member.bytes

    def is_open(self, shard: str) -> bool:
        """Whether a member has been asked for."""
        return shard in self._open

    def dump(self, head: bytes | None = None) -> bytes:
        """Return the whole group as bytes, the same for the same history. `head` is a cell's."""
        known = {*self._open, *self._stored, *self._seeded} & self._tables.keys()
        names = sorted(name for name in known if name not in self._open or not self._open[name].blank)
        sections: dict[str, bytes | memoryview | npt.NDArray[Any]] = {"members": msgspec.json.encode(names)}
        if head is not None:
            sections[_HEAD] = head
        for i, shard in enumerate(names):
            own = self._open[shard].base() if shard in self._open else self._as_read(shard)
            sections |= {f"{i}/{name}": section for name, section in own.items()}
        return write_blob(_MAGIC, _VERSION, self.name, sections)

    def _sources(self, shard: str) -> Iterator[Sections]:
        if shard in self._stored:
            yield self._stored[shard]
        if shard in self._seeded:
            yield self._seeded[shard]

    def _as_read(self, shard: str) -> Sections:
        """Return what there is of a member that was not opened; where none of it is of this birth, the newest."""
        sources = list(self._sources(shard))
        declared = Declared.of(self._tables[shard])
        return next((sections for sections in sources if declared.takes_over(bytes(sections["declared"]))), sources[-1])


def _member(relation: Relation, shard: str, sections: Sections) -> ShardState | None:
    numbers = sorted(int(name.removeprefix(_DELTA)) for name in sections if name.startswith(_DELTA))
    base = {name: section for name, section in sections.items() if not name.startswith(_DELTA)}
    deltas = [read_delta(shard, bytes(sections[f"{_DELTA}{number}"])) for number in numbers]
    return ShardState.open(relation, shard, base, deltas)


def write_delta(shard: str, delta: Mapping[str, bytes | memoryview | npt.NDArray[Any]]) -> bytes:
    """Return what `ShardState.delta` returned as bytes."""
    return write_blob(_DELTA_MAGIC, _DELTA_VERSION, shard, delta)


def read_delta(shard: str, data: bytes) -> Sections:
    """Read what `write_delta` wrote. Raises StateError if it is of another member, or damaged."""
    return read_blob(data, _DELTA_MAGIC, _DELTA_VERSION, shard)


def _of_version_2(name: str, data: bytes) -> Sections:
    """Return the sections of today of a state in which the table's were a blob of their own."""
    older = read_blob(data, _MAGIC, 2, name)
    declared, table = open_blob(bytes(older["operator"]), _TABLE_OF_VERSION_2, 2)
    return {"declared": memoryview(declared.encode()), "memory": older["memory"], **table}


def alone(relation: Relation, shard: str, data: bytes | None) -> ShardState:
    """Return the one member of a group that has its name. Raises StateError as `Group.open` does."""
    return Group.open(shard, {shard: relation}, data)[shard]
