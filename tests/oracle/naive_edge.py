"""The twin of a virtual edge: told what happened to the data, it says what each subscriber must hear.

It sees no messages: a batch comes as row states before and after each publication, and every live subscription's answer
is recomputed. What it emits are decoded deliveries and acks by id.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import msgspec

from catalog.query.best_shape import BestShape
from catalog.query.filter_shape import FilterShape
from catalog.query.shape import Region
from catalog.schema.catalog import Catalog
from catalog.schema.join import Join, join_of_name, place_of
from catalog.sql.notify import Notify
from operators.reply import Later, Refused, Same
from tests.oracle.naive_answer import Exact, Naive, Rows
from tests.oracle.naive_best import first_of
from tests.oracle.naive_channels import Taken
from tests.oracle.naive_filter import Where, row_json, shown

Bag = dict[str, tuple[Any, ...]]
"""Rows as they are told, by primary key."""
Listed = list[tuple[Any, ...]]
"""First rows in order, each with all columns that tell rows apart."""
Answer = tuple[Exact, ...] | Bag | Listed


@dataclass(frozen=True)
class Wanted:
    """A question as the test writes it. `region` is None where it is refused with `code`, whatever the catalog.

    `where` is the condition of a filter, whose region has no terms here.
    """

    sql: str
    region: Region | None
    code: str = ""
    columns: tuple[str, ...] = ()
    notify: Notify = Notify("every")  # noqa: RUF009
    ttl: int | None = None
    where: Where | None = None
    without_rows: bool = False


@dataclass
class Subscription:
    """`value` is the exact answer, `told` what the subscriber was told last, `changes` how many came since."""

    version: int
    wanted: Wanted
    region: Region
    naive: Naive
    born: int
    value: Answer = ()
    told: Answer | None = None
    changes: int = 0
    caused: dict[str, Any] | None = None
    n: int = 0
    at: tuple[int, int] = (-1, -1)
    synced: bool = False
    expires: int | None = None

    @property
    def is_bag(self) -> bool:
        return isinstance(self.region.shape, FilterShape) and bool(self.region.shape.shown)

    @property
    def is_list(self) -> bool:
        return isinstance(self.region.shape, BestShape)

    @property
    def by_key(self) -> bool:
        return self.wanted.notify.kind in ("transitions", "enter")

    @property
    def json(self) -> Any:
        """The answer as a view shows it; of rows, how many they are."""
        return len(self.value) if self.is_bag else self.shown(self.value)

    def shown(self, answer: Answer | None) -> Any:
        """What is written of an answer, in a form that is compared: rows that one is told of by key are those keys."""
        if answer is None:
            return ()
        if isinstance(answer, list):
            return [list(row[: len(self.region.shape.shown)]) for row in answer]
        if isinstance(answer, dict):
            return set(answer) if self.by_key else Counter(answer.values())
        return self.naive.json(self.region.shape, answer)

    def answer(self, rows: Rows) -> Answer:
        """Return the exact answer, from all rows of the table."""
        shape, where = self.region.shape, self.wanted.where
        if isinstance(shape, BestShape):
            found = first_of(self.naive.relation, self.region, rows.values())
            return [tuple(map(self.naive.stored_json, shape.images, row)) for row in found]
        if where is None or not isinstance(shape, FilterShape):
            return self.naive.answer(self.region, rows)
        met = {key: row for key, row in rows.items() if where.truth(self.naive, row)}
        if not self.is_bag:
            return tuple(self.naive.output(output, list(met.values())) for output in shape.outputs)
        return {key: row_json(self.naive, shape, shown(shape, row)) for key, row in met.items()}


class NaiveEdge:
    def __init__(self) -> None:
        self.heard: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self.acks: dict[str, list[tuple]] = defaultdict(list)
        self.live: dict[str, Subscription] = {}
        self.waiting: dict[str, Subscription] = {}
        self.held: list[tuple[int, str, Wanted]] = []
        self.catalog: Catalog | None = None
        self.epoch = -1
        self.applied: int | None = None
        self.position: tuple[int, int] | None = None
        self.registered = False
        self.over: list[tuple[str, Subscription]] = []
        self.looks: dict[int, str] = {}
        self.seen: dict[int, tuple[Any, ...]] = {}

    def subscribe(self, version: int, name: str, wanted: Wanted) -> None:
        verdict = self._verdict(wanted)
        if verdict is None:
            self.held.append((version, name, wanted))
        elif verdict:
            self.acks[name].append((version, "refused", verdict))
        else:
            self._accept(version, name, wanted)

    def unsubscribe(self, version: int, name: str) -> None:
        if name in self.live:
            self._end(name, self.live.pop(name), "unsubscribed")
        if name in self.waiting:
            self._end(name, self.waiting.pop(name), "unsubscribed")
        for old, _, _ in [held for held in self.held if held[1] == name]:
            self.acks[name].append((old, "ended", "unsubscribed"))
        self.held = [held for held in self.held if held[1] != name]

    def refuse_held(self) -> None:
        if self.catalog is None:
            return
        waiting, self.held = self.held, []
        for version, name, wanted in waiting:
            verdict = self._verdict(wanted, final=True)
            if verdict is None:
                self.held.append((version, name, wanted))
            elif verdict:
                self.acks[name].append((version, "refused", verdict))
            else:
                self._accept(version, name, wanted)

    def announce(self, catalog: Catalog) -> None:
        if self.catalog is not None and catalog.version <= self.catalog.version:
            return
        self.catalog = catalog
        for group in (self.live, self.waiting):
            for name, one in list(group.items()):
                relation = catalog.relation(one.region.shape.relation)
                if relation is None or relation.born != one.born:
                    self._end(name, group.pop(name), _dropped(one.region.shape.relation, catalog))
        waiting, self.held = self.held, []
        for version, name, wanted in waiting:
            newest = max((one[name].version for one in (self.live, self.waiting) if name in one), default=-1)
            if newest < version:
                self.subscribe(version, name, wanted)

    def begin(self, epoch: int) -> None:
        self.epoch, self.applied, self.registered = epoch, None, False
        for one in self.live.values():
            one.synced = False

    def lose(self) -> None:
        """A part of what the engine tells is lost: nobody is followed until the next answer."""
        self.applied = None
        for one in self.live.values():
            one.synced = False

    def apply(self, batch: int, taken: list[Taken]) -> None:
        if self.applied is not None and batch <= self.applied:
            return
        for part in taken:
            for version, _, rows in part.snapshots:
                self._snapshot(version, rows, part.replies.get(version), batch)
        for part in taken:
            for publication, before, after in part.steps:
                at = {"epoch": self.epoch, "batch": batch, "topic": publication.topic or publication.relation}
                at |= {"partition": 0, "offset": publication.offset}
                for name, one in self.live.items():
                    if one.synced and one.region.shape.relation == publication.relation:
                        old, new = (one.answer(rows) for rows in (before, after))
                        assert old == one.value, (name, old, one.value)
                        if old != new:
                            self._moved(name, one, new, at)
        self.applied, self.position = batch, (self.epoch, batch)
        over, self.over = self.over, []
        for name, one in self.live.items():
            if one.synced:
                one.at = self.position
            if one.wanted.notify.kind == "latest":
                if one.caused is not None and one.shown(one.value) != one.shown(one.told):
                    self._hear(name, one, "change", one.caused)
                one.changes, one.caused = 0, None
        for name, _ in over:
            self._end(name, self.live.pop(name), "quota")

    def expire(self, now: int) -> None:
        """End what is over at `now`; a TTL begins with the first progress that is seen."""
        for group in (self.live, self.waiting):
            for name, one in list(group.items()):
                if one.wanted.ttl is not None:
                    one.expires = now + one.wanted.ttl if one.expires is None else one.expires
                    if one.expires <= now:
                        self._end(name, group.pop(name), "expired")

    def _moved(self, name: str, one: Subscription, new: Answer, at: dict[str, Any]) -> None:
        notify, changes = one.wanted.notify, one.shown(new) != one.shown(one.value)
        before, one.value = one.value, new
        if one.by_key:
            if changes and (notify.kind == "transitions" or set(new) - set(before)):
                one.told, one.changes = before, 1
                self._hear(name, one, "change", at)
            return
        if changes:
            one.changes, one.caused = one.changes + 1, at
        same = one.shown(new) == one.shown(one.told)
        if (notify.kind == "every" and changes) or (
            notify.kind == "min_change" and not same and self._far(one, notify)
        ):
            self._hear(name, one, "change", at)

    def _far(self, one: Subscription, notify: Notify) -> bool:
        (output,) = one.region.shape.outputs
        assert one.told is not None
        numbers = []
        for (exact,) in (one.told, one.value):
            if exact is not None and output.function in ("min", "max"):
                exact = one.naive.number(output.column or "", exact)  # type: ignore[arg-type]
            numbers.append(exact)
        told, new = numbers
        if told is None or new is None:
            return told is not new
        least = Fraction(notify.amount) * (abs(told) / 100 if notify.percent else 1)
        return told != new and abs(new - told) >= least

    def _snapshot(self, version: int, rows: Rows, reply: Any, batch: int) -> None:
        at = {"epoch": self.epoch, "batch": batch - 1}
        if isinstance(reply, Later):
            return
        if version in self.looks:
            self._see(version, self.live.get(self.looks[version]), rows, batch - 1)
        for name, one in list(self.waiting.items()):
            if one.version == version and isinstance(reply, Refused):
                del self.waiting[name]
                self.acks[name].append((version, "refused", reply.code))
            elif one.version == version:
                self.live[name] = self.waiting.pop(name)
                one.synced, one.value = True, one.answer(rows)
                self._hear(name, one, "snapshot", at)
                self.acks[name].append((version, "live", (self.epoch, batch - 1)))
        for name, one in list(self.live.items()):
            if one.version == version and not one.synced:
                self._resync(name, one, rows, reply, at)

    def _see(self, number: int, one: Subscription | None, rows: Rows, batch: int) -> None:
        """Note what a look that is answered must show: version and counter, and the rows behind them."""
        if one is not None and one.synced and one.is_bag:
            answer = one.answer(rows)
            assert isinstance(answer, dict)
            self.seen[number] = (one.version, one.n, (self.epoch, batch), _sorted(list(answer.values())))

    def _resync(self, name: str, one: Subscription, rows: Rows, reply: Any, at: dict[str, Any]) -> None:
        """A bag is resynced with what it held when it was followed last, any other answer with what was told last."""
        if isinstance(reply, Refused):
            self.over.append((name, one))
            return
        now, told = one.answer(rows), one.value if one.is_bag else one.told
        if isinstance(reply, Same) and one.shown(now) != one.shown(told):
            return  # the same as was told when it was asked, but not as what was told since
        one.synced, one.value, one.told = True, now, told
        self._hear(name, one, "resync", at)

    def _hear(self, name: str, one: Subscription, kind: str, at: dict[str, Any]) -> None:
        one.n += kind != "resync" or one.shown(one.value) != one.shown(one.told)
        told = {"id": name, "kind": kind, "version": one.version, "n": one.n} | _body(one, kind)
        told["at"] = at
        if kind == "snapshot":
            told["sql"] = one.wanted.sql
        if kind == "change" and one.changes > 1:
            told["changes"] = one.changes
        self.heard[name].append(told)
        one.told, one.changes, one.caused = one.value, 0, None

    def _end(self, name: str, one: Subscription, reason: str) -> None:
        if one.n:
            at = {"epoch": one.at[0], "batch": one.at[1]}
            told = {"id": name, "kind": "ended", "version": one.version, "n": one.n + 1}
            self.heard[name].append(told | _body(one, "ended") | {"at": at, "reason": reason})
        self.acks[name].append((one.version, "ended", reason))

    def _verdict(self, wanted: Wanted, final: bool = False) -> str | None:
        """Return "" (taken), a code (refused), or None (held back)."""
        if self.catalog is None:
            return None
        if wanted.region is None:
            return wanted.code
        name = wanted.region.shape.relation
        if join_of_name(name) is not None:
            return self._verdict_of_join(wanted, final)
        relation = self.catalog.relations.get(name)
        code = "unknown_table"
        if relation is not None:
            code = "" if set(wanted.columns) <= {column.name for column in relation.columns} else "unknown_column"
        return code if final or not code else None

    def _verdict_of_join(self, wanted: Wanted, final: bool) -> str | None:
        """Tables and columns that are not there may come; a cell may come until it is said that none will."""
        assert self.catalog is not None
        code, join = self._unknown(wanted), _join_of(wanted)
        if code:
            return code if final else None
        if join.cell in self.catalog.cells:
            return ""
        return "no_cell" if join.cell in self.catalog.unserved else None

    def _unknown(self, wanted: Wanted) -> str:
        """Return the code of what a join names and the catalog does not know."""
        assert self.catalog is not None
        join, known = _join_of(wanted), self.catalog.relations
        if not all(table in known for table in join.tables):
            return "unknown_table"
        named = [(known[join.tables[position]], column) for position, column in map(place_of, wanted.columns)]
        there = all(column in [one.name for one in relation.columns] for relation, column in named)
        return "" if there else "unknown_column"

    def cells_wanted(self) -> set[tuple[str, ...]]:
        """Return the tables of joins that nothing but a cell is missing for."""
        if self.catalog is None:
            return set()
        joins = [one for *_, one in self.held if one.region is not None and join_of_name(one.region.shape.relation)]
        return {tuple(sorted({*_join_of(one).tables})) for one in joins if not self._unknown(one)}

    def _accept(self, version: int, name: str, wanted: Wanted) -> None:
        self.held = [held for held in self.held if held[1] != name or held[0] > version]
        assert wanted.region is not None and self.catalog is not None
        relation = self.catalog.relation(wanted.region.shape.relation)
        assert relation is not None
        one = Subscription(version, wanted, wanted.region, Naive(relation), relation.born)
        self.waiting[name] = one
        self.acks[name].append((version, "accepted", None))


def _join_of(wanted: Wanted) -> Join:
    join = None if wanted.region is None else join_of_name(wanted.region.shape.relation)
    assert join is not None
    return join


def _dropped(name: str, catalog: Catalog) -> str:
    join = join_of_name(name)
    whole = join is not None and all(table in catalog.relations for table in join.tables)
    return "cell dropped" if whole else "table dropped"


def _body(one: Subscription, kind: str) -> dict[str, Any]:
    """Return what is said of what was told last, and of the answer; at the end it is nothing."""
    if one.is_bag:
        return _bag_body(one, kind)
    if one.is_list:
        return _list_body(one, kind)
    shape, naive = one.region.shape, one.naive
    old, new = (one.value, None) if kind == "ended" else (one.told, one.value)
    assert not isinstance(old, dict | list) and not isinstance(new, dict | list)
    function, column = shape.outputs[0].function, shape.outputs[0].column
    if function == "distinct":
        before, after = (frozenset() if answer is None else answer[0] for answer in (old, new))
        assert isinstance(before, frozenset) and isinstance(after, frozenset)
        return {
            "removed": naive.values_json(column or "", before - after),
            "added": naive.values_json(column or "", after - before),
        }
    return {"old": old and naive.json(shape, old), "new": new and naive.json(shape, new)}


def _bag_body(one: Subscription, kind: str) -> dict[str, Any]:
    """Return what is said of rows. They are told apart by what they show, or by their keys where one goes by these."""
    assert isinstance(one.value, dict) and isinstance(one.region.shape, FilterShape)
    nothing: dict[str, Any] = {"removed": [], "added": []}
    if kind == "ended":
        return nothing
    key = {"key": list(one.region.shape.keys)} if one.by_key else {}
    if kind == "resync" and one.shown(one.told) == one.shown(one.value):
        return {"same": True} | nothing
    old = one.told if kind == "change" and isinstance(one.told, dict) else {}
    if one.by_key:
        removed = [row for name, row in old.items() if name not in one.value]
        added = [row for name, row in one.value.items() if name not in old]
    else:
        removed = list((Counter(old.values()) - Counter(one.value.values())).elements())
        added = list((Counter(one.value.values()) - Counter(old.values())).elements())
    body = {"removed": _sorted(removed), "added": _sorted(added)}
    if kind == "change":
        return key | (body | {"removed": []} if one.wanted.notify.kind == "enter" else body)
    if one.wanted.without_rows:
        said = {"snapshot": "none"} if kind == "snapshot" else {"whole": "look"}
        return {"form": "bag"} | said | key | nothing
    return {"form": "bag"} | ({"whole": True} if kind == "resync" else {}) | key | body


def _list_body(one: Subscription, kind: str) -> dict[str, Any]:
    """Return what is said of first rows; of a change, the list to which it leads."""
    rows = one.shown(one.value)
    placed = [[place, row] for place, row in enumerate(rows)]
    if kind == "ended":
        return {"removed": placed[::-1], "added": []}
    if kind == "change":
        return {"holds": rows}
    if kind == "resync" and rows == one.shown(one.told):
        return {"same": True, "removed": [], "added": []}
    return {"form": "list"} | ({"whole": True} if kind == "resync" else {}) | {"removed": [], "added": placed}


def _sorted(rows: list[tuple[Any, ...]]) -> list[list[Any]]:
    """Return rows as they are told, in the order of their texts."""
    return sorted((list(row) for row in rows), key=lambda row: msgspec.json.encode(row).decode())
