"""Whether a subscription record is taken: compiled, refused, or held back until the catalog has the final say.

A client may apply a catalog and subscribe at once, and its subscription can reach an edge before the news of
the catalog does. A record that names an unknown table or column is therefore *held back*: it is tried again with
every newer catalog, and refused for good only by `VirtualEdge.refuse_held`, when the edge has read all that was
announced before the record came. Records that come before any catalog is announced wait in the same queue.

A join that no cell serves is held back too, until the catalog has the cell, or says why there will be none: whoever
asks for it makes that it comes, and how long that takes no news of a catalog can say.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple
from weakref import WeakValueDictionary

import numpy as np

from catalog.bulk.bulk_compiler import FEW, Alike, compile_all
from catalog.query.compiler import MAX_TEMPLATES, Compiled, Compiler, check_policy
from catalog.query.finality import NEVER
from catalog.query.recent import Recent
from catalog.schema.catalog import Catalog
from catalog.sql.errors import CellMissing, SubscriptionError
from catalog.sql.notify import EVERY_CHANGE, FINAL, RECORDS, read_policy
from overlay.delivery.ack import Refusal
from overlay.intake.attributed_request import attributed
from overlay.intake.found_statements import FoundStatements, find_statements
from overlay.intake.subscription_request import Request, read_request
from overlay.subscriptions.held_records import HeldRecords
from state.change_batch import Bool

_LOG = logging.getLogger("tidewire.edge")
_NONE_FOUND = find_statements([])
_NOT_ALIKE = Refusal("", "")
_COMPILERS: WeakValueDictionary[int, Compiler] = WeakValueDictionary()
"""The compilers in use, by the identity of their catalogs: all virtual edges of a process know the same templates."""
MAY_COME = frozenset({"unknown_table", "unknown_column"})
NO_CELL = "no_cell"
Tables = tuple[str, ...]


class CellWanted(NamedTuple):
    """Nothing is wrong with a record but that no cell serves joins of these tables."""

    tables: Tables


@dataclass(frozen=True, slots=True)
class Judged:
    """What of many records could be compiled together: `alike` has rows of the statements in `found`. `waiting` are to
    be held back, some of them until there is a cell of the tables in `cells`. `left` are all other records, to be
    judged one by one.
    """

    alike: list[Alike]
    found: FoundStatements
    left: list[int]
    waiting: list[int]
    cells: dict[int, Tables]


class Admission:
    """The compiler of the announced catalog, and what it cannot judge yet.

    A template with `?` that names what is unknown is read once: whatever its parameters are, it says the same.
    Where nobody asks for cells that are missing (not `on_demand`), a join without one is as one without a table.
    """

    def __init__(self, on_demand: bool = True) -> None:
        self.catalog = Catalog()
        self._on_demand = on_demand
        self._may_come = MAY_COME if on_demand else MAY_COME | {NO_CELL}
        self.held = HeldRecords()
        self._compiler: Compiler | None = None
        self._unknown: Recent[str, Refusal] = Recent(MAX_TEMPLATES)

    @property
    def announced(self) -> bool:
        """Whether any catalog has been announced."""
        return self._compiler is not None

    def announce(self, catalog: Catalog) -> None:
        """Compile with `catalog` from here on."""
        self.catalog = catalog
        self._compiler = _compiler_of(catalog)
        self._unknown = Recent(MAX_TEMPLATES)

    def judge_all(self, values: Sequence[bytes], final: bool = False) -> Judged:
        """Compile together what can be; none is to wait if `final`.

        Cost: 1.5 us a plain record, 6 us one that is read, 14 us a template, where many have a template in common.
        """
        if len(values) < FEW or self._compiler is None:
            return _one_by_one(values)
        try:
            compiler = self._compiler
            found = find_statements(values, compiler.sql_of, lambda request: _attributed(request, compiler.catalog))
            compiled = compile_all(compiler, found.statements)
            alike = [part for one in compiled for part in _beside(one, found, compiler.catalog)]
        except Exception:  # see _unforeseen: judged one by one, only the one that is to blame is refused
            return _one_by_one(values)
        left = np.ones(len(values), np.bool_)
        for one in alike:
            left[found.records[one.rows]] = False
        few = np.count_nonzero(left) < FEW
        waiting, cells = ([], {}) if final or few else self._waiting(values, found, left)
        left[waiting] = False
        return Judged(alike, found, left.nonzero()[0].tolist(), waiting, cells)

    def judge(self, value: bytes, final: bool = False) -> Compiled | Refusal | CellWanted | None:
        """Compile the value of a record. None: it must be held back; never so if `final` and a catalog is there."""
        try:
            request = read_request(value)
            if isinstance(request, Refusal):
                return request
            if self._compiler is None:
                return None
            refusal = None if request.template is None else self._unknown.get(request.template)
            if refusal is None:
                judged = self._compiled(self._compiler, request)
                if not isinstance(judged, Refusal):
                    return judged
                refusal = judged
        except Exception as error:
            return _unforeseen(error)
        return None if refusal.code in self._may_come and not final else refusal

    def _compiled(self, compiler: Compiler, request: Request) -> Compiled | Refusal | CellWanted:
        try:
            return _compile(compiler, request)
        except SubscriptionError as error:
            if isinstance(error, CellMissing) and self._on_demand and not error.reason:
                return CellWanted(error.tables)
            refusal = Refusal(error.code, error.message, error.hint)
        if refusal.code in self._may_come and request.template is not None:
            self._unknown.put(request.template, refusal)
        return refusal

    def _waiting(
        self, values: Sequence[bytes], found: FoundStatements, left: Bool
    ) -> tuple[list[int], dict[int, Tables]]:
        """Return records, among those that are `left`, of templates whose first one names what may come, and cells.

        The others of its template name the same. If there is something else wrong with one of them, it is told that a
        little later, with the final word on it, or once there is the cell.
        """
        waiting: list[int] = []
        cells: dict[int, Tables] = {}
        for rows in found.statements.by_template(FEW):
            records = found.records[rows]
            records = records[left[records]]
            judged = self.judge(values[int(records[0])]) if len(records) >= FEW else _NOT_ALIKE
            if judged is None or isinstance(judged, CellWanted):
                waiting += records.tolist()
            if isinstance(judged, CellWanted):
                cells |= dict.fromkeys(records.tolist(), judged.tables)
        return waiting, cells


def _one_by_one(values: Sequence[bytes]) -> Judged:
    return Judged([], _NONE_FOUND, list(range(len(values))), [], {})


def _beside(alike: Alike, found: FoundStatements, catalog: Catalog) -> Iterator[Alike]:
    """Part statements by the options that stand beside them; those that may not have theirs are left out."""
    beside, ttl, own = found.beside[alike.rows], found.ttl[alike.rows], alike.ttl
    agree = (ttl == 0) | (own == 0) | (ttl == own)
    for place in np.unique(beside).tolist():
        chosen = (agree & (beside == place)).nonzero()[0]
        try:
            example = _with_options(alike.example, found.options[place], catalog)
        except SubscriptionError:
            continue
        if example.notify.kind == FINAL and alike.final_at is not None:
            chosen = chosen[alike.final_at[chosen] != NEVER]
        yield alike.only(chosen, example, np.maximum(ttl, own)[chosen])


def _compiler_of(catalog: Catalog) -> Compiler:
    compiler = _COMPILERS.get(id(catalog))
    if compiler is None:
        compiler = _COMPILERS[id(catalog)] = Compiler(catalog)
    return compiler


def _unforeseen(error: Exception) -> Refusal:
    """Refuse a record on which reading or compiling fails: a stranger's must not end the edge that all others use.

    The parser makes more kinds of trees than anyone has listed. The tests of the compiler, which do not come by here,
    take such an error for what it is.
    """
    _LOG.error("a subscription's record could not be judged", exc_info=error)
    hint = "This is a fault of tidewire's; please report the statement."
    said = f"the statement cannot be read: {type(error).__name__}: {error}"[:300]
    return Refusal("internal", said.encode(errors="replace").decode(), hint)


def _attributed(request: Request, catalog: Catalog) -> Request | None:
    try:
        return attributed(request, catalog)
    except SubscriptionError:
        return None


def _compile(compiler: Compiler, asked: Request) -> Compiled:
    request = attributed(asked, compiler.catalog)
    if request.sql is not None:
        compiled = compiler.compile(request.sql)
    else:
        assert request.template is not None and request.params is not None
        compiled = compiler.compile_template(request.template, request.params)
    if request.notify is None and request.ttl is None and request.deliver is None:
        return compiled
    return _with_options(compiled, request, compiler.catalog)


def _with_options(compiled: Compiled, request: Request, catalog: Catalog) -> Compiled:
    """Return `compiled` with what stands beside the SQL."""
    notify = None if request.notify is None else read_policy(request.notify)
    if notify is not None:
        if compiled.notify not in (EVERY_CHANGE, notify):
            raise _said_twice("NOTIFY", compiled.notify.text, notify.text)
        check_policy(compiled, notify, catalog.named(compiled.region.shape.relation))
    if request.ttl is not None and compiled.ttl not in (None, request.ttl):
        raise _said_twice("TTL", compiled.ttl, request.ttl)
    deliver = request.deliver or compiled.deliver
    if compiled.deliver not in (RECORDS, deliver):
        raise _said_twice("DELIVER", compiled.deliver, deliver)
    return replace(compiled, notify=notify or compiled.notify, ttl=request.ttl or compiled.ttl, deliver=deliver)


def _said_twice(name: str, first: object, second: object) -> SubscriptionError:
    what = f"the SQL says {name} {first}, and the record {second}"
    return SubscriptionError("malformed", what, hint="Say it in one of the two.")
