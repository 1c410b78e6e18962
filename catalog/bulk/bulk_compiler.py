"""Many statements compiled together, as columns: what a template's statements differ in are numbers and few groups.

    statements ──► by template ──► by equality literals ──► group        one by one, for each that differs
                                ├► range literals       ──► lo, hi       all at once, where they are numbers
                                └► literals of a filter ──► terms        likewise: where all are numbers, at once

Gives what `query/compiler.py` gives for each statement alone, or leaves it to that: refusals, statements that are not
simple (`bulk/cut_statements.py`), templates that may not take the shortcut or have few statements, ranges of texts.

Options behind a statement (`sql/notify.py`) are read once for all that have the same ones: statements of a template
that may take the shortcut hold no comments, so with the same literals behind a place they have the same text behind it.
Cost: 1 us a statement, 0.2 ms a template, 5 us for each combination of equality literals; filters 3 us,
and 10 us those that compare more than numbers or have an OR.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from catalog.bulk.cut_statements import CutStatements
from catalog.bulk.statement_kernels import AT_LEAST, AT_MOST, DOUBLE, EQUAL, EXACT, LESS, MORE, REAL, ranges
from catalog.query.best_plan import BestPlan
from catalog.query.best_shape import BestShape
from catalog.query.compiler import MAX_CHARACTERS, Compiled, Compiler, Shortcut
from catalog.query.filter_plan import FilterPlan, Ranges
from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import box_of_intervals, encode_terms
from catalog.query.finality import NEVER, Windows, windows_between, windows_of_group, windows_of_terms
from catalog.query.range_plan import ColumnTests, RangePlan
from catalog.query.shape import NO_GROUP, Region
from catalog.query.template import split
from catalog.sql.errors import SubscriptionError
from catalog.sql.notify import FINAL, OptionRefused, read_options
from catalog.types.column_type import ColumnType, Kind
from catalog.types.literal import ConstantRefused, LiteralKind
from state.change_batch import I64, Bool
from state.order_code import INT64_MAX, INT64_MIN

FEW = 8
"""A template with fewer statements is left alone: one by one they cost less."""

_CODES = {"=": EQUAL, "<": LESS, "<=": AT_MOST, ">": MORE, ">=": AT_LEAST}
_KINDS = {
    Kind.SMALLINT: EXACT, Kind.INTEGER: EXACT, Kind.BIGINT: EXACT, Kind.DECIMAL: EXACT, Kind.REAL: REAL,
    Kind.DOUBLE: DOUBLE,
}  # fmt: skip
_POWERS = 10 ** np.arange(19, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Alike:
    """Accepted statements of one template, in order.

    example: one of them: all have its shape, columns, cost, notify and deliver.  parts: as in its `pieces`.
    rows: their numbers.  literals: how many literals lie between the parts.  ttl: seconds to live, 0 without end.
    Statement rows[i] has the region (groups[group[i]], lo[i], hi[i], empty[i], terms[term[i]]).
    final_at: when each becomes final, NEVER where it does not; None where none of them ever does.
    """

    example: Compiled
    parts: tuple[str, ...]
    rows: I64
    literals: int
    groups: list[bytes]
    group: I64
    lo: I64
    hi: I64
    empty: Bool
    ttl: I64
    terms: list[bytes]
    term: I64
    final_at: I64 | None = None

    def only(self, chosen: I64, example: Compiled, ttl: I64) -> Alike:
        """Return the statements rows[chosen], with what `example` and `ttl` say instead."""
        columns = {name: getattr(self, name)[chosen] for name in ("rows", "group", "lo", "hi", "empty", "term")}
        final = None if self.final_at is None else self.final_at[chosen]
        return replace(self, example=example, ttl=ttl, final_at=final, **columns)


def compile_all(compiler: Compiler, statements: CutStatements) -> list[Alike]:
    """Return what can be compiled together; each statement is in one of them at most."""
    sizes = statements.ends - statements.starts
    made: list[Alike] = []
    for rows in statements.by_template(FEW):
        rows = rows[sizes[rows] <= MAX_CHARACTERS]
        if len(rows) >= FEW:
            made += _of_template(compiler, statements, rows)
    return made


def _of_template(compiler: Compiler, statements: CutStatements, rows: I64) -> Iterator[Alike]:
    """Compile statements of one template, apart by the literals within their options."""
    text = statements.text(int(rows[0]))
    try:
        before = len(split(text[: read_options(text).end])[1])
    except OptionRefused:
        return
    within = np.arange(before, int(statements.counts[rows[0]]))
    for mine in statements.by_literals(rows, within) if len(within) else [rows]:
        yield from _with_options(compiler, statements, mine)


def _with_options(compiler: Compiler, statements: CutStatements, rows: I64) -> Iterator[Alike]:
    """Compile statements of one template with the same options, apart by their limits."""
    found = _example(compiler, statements, rows)
    if found is None:
        return
    _, shortcut = found
    limit = shortcut.literal(len(shortcut.kinds) - 1) if isinstance(shortcut.plan, BestPlan) else -1
    for mine in statements.by_literals(rows, np.array([limit])) if limit >= 0 else [rows]:
        alike = _alike(compiler, statements, mine)
        if alike is not None:
            yield alike


def _example(compiler: Compiler, statements: CutStatements, rows: I64) -> tuple[Compiled, Shortcut] | None:
    """Compile the first of statements; None if it is refused, or its template may not take the shortcut."""
    text = statements.text(int(rows[0]))
    try:
        example = compiler.compile(text)
    except SubscriptionError:
        return None
    shortcut = compiler.shortcut(split(text)[0])
    return None if shortcut is None else (example, shortcut)


def _alike(compiler: Compiler, statements: CutStatements, rows: I64) -> Alike | None:
    """Compile statements of one template with the same options, and the same limit where there is one."""
    found = _example(compiler, statements, rows)
    if found is None:
        return None
    example, shortcut = found
    plan = shortcut.plan.places if isinstance(shortcut.plan, BestPlan) else shortcut.plan
    if isinstance(plan, RangePlan) and plan.range is not None and not plan.range.type.coded:
        return None
    key, literals = split(statements.text(int(rows[0])))
    (parts, literals), _ = shortcut.pieces(key, literals)
    regions = _Regions(statements, shortcut, rows, len(literals))
    if isinstance(plan, FilterPlan):
        regions.fill_filters(plan)
    else:
        regions.fill(plan)
    if isinstance(example.region.shape, BestShape) and example.region.shape.limit == 0:
        regions.empty[:] = True
    final = _final_at(compiler, example, regions)
    if final is not None and example.notify.kind == FINAL:
        regions.group[final == NEVER] = -1
    taken = (regions.group >= 0).nonzero()[0]
    return Alike(
        example,
        parts,
        rows[taken],
        len(literals),
        regions.groups,
        regions.group[taken],
        regions.bounds[taken, 0],
        regions.bounds[taken, 1],
        regions.empty[taken],
        np.full(len(taken), example.ttl or 0, np.int64),
        regions.terms,
        regions.term[taken],
        None if final is None else final[taken],
    )


def _final_at(compiler: Compiler, example: Compiled, regions: _Regions) -> I64 | None:
    """Return when each statement's answer becomes final, NEVER where it does not, as `query/finality.py` has it.

    None where no answer about the relation ever does.
    """
    shape = example.region.shape
    view = compiler.catalog.views.get(shape.relation)
    closing = None if view is None else view.relation.closing
    if closing is None:
        return None
    if isinstance(shape, FilterShape):
        found = [windows_of_terms(closing, shape, terms) if terms else None for terms in regions.terms]
        final = _ends(found)[regions.term]
    elif closing.column in shape.equal:
        found = [windows_of_group(closing, shape, group) for group in regions.groups]
        final = _ends([*found, None])[regions.group]  # the last is for those that are left alone
    elif shape.range == closing.column:
        bounds, number = np.unique(regions.bounds, axis=0, return_inverse=True)
        final = _ends([windows_between(closing, *each) for each in bounds.tolist()])[number]
    else:
        final = np.full(len(regions.group), NEVER, np.int64)
    final[regions.empty] = NEVER
    return final


def _ends(found: Sequence[Windows | None]) -> I64:
    return np.array([NEVER if windows is None else windows[1] for windows in found], np.int64)


class _Regions:
    """The regions of statements of one template, as columns; `group` is -1 where a statement is left alone."""

    def __init__(self, statements: CutStatements, shortcut: Shortcut, rows: I64, literals: int) -> None:
        self.groups: list[bytes] = []
        self.group: I64 = np.full(len(rows), -1, np.int64)
        self.bounds: I64 = np.empty((len(rows), 2), np.int64)
        self.empty: Bool = np.zeros(len(rows), np.bool_)
        self.terms: list[bytes] = [b""]
        self.term: I64 = np.zeros(len(rows), np.int64)
        self._statements = statements
        self._shortcut = shortcut
        self._rows = rows
        self._literals = literals

    def fill_filters(self, plan: FilterPlan) -> None:
        """Find the regions of filters: in numbers where numbers alone are compared, all of them, else one by one."""
        self.bounds[:] = INT64_MIN, INT64_MAX
        ranges = self._of_numbers(plan)
        left = self._in_numbers(ranges) if ranges else np.arange(len(self._rows))
        groups = {group: i for i, group in enumerate(self.groups)}
        terms = {text: i for i, text in enumerate(self.terms)}
        for place, row in zip(left.tolist(), self._rows[left].tolist(), strict=True):
            region = self._region(row)
            if region is not None:
                self.group[place] = groups.setdefault(region.group, len(groups))
                self.term[place] = terms.setdefault(region.terms, len(terms))
                self.empty[place] = region.empty
        self.groups, self.terms = list(groups), list(terms)

    def _of_numbers(self, plan: FilterPlan) -> Ranges | None:
        """Return the plan's ranges where the kernel `ranges` can read all of their constants."""
        for one in (one for _, sets in plan.ranges or () for one in sets):
            kinds = [self._shortcut.kinds[i] for i, _ in one.operands]
            if one.type.kind not in _KINDS or any(kind is not LiteralKind.NUMBER for kind in kinds):
                return None
        return plan.ranges

    def _in_numbers(self, of_columns: Ranges) -> I64:
        """Write the terms of rows whose constants `ranges` can read; return the places of all others."""
        columns = dict(of_columns)
        shape, places = (len(self._rows), len(columns)), sorted(columns)
        low, high, far = np.empty(shape, np.int64), np.empty(shape, np.int64), np.zeros(shape[0], np.bool_)
        for j, place in enumerate(places):
            type_ = columns[place][0].type
            bounds, too_far = self._bounds(type_, [(o.operator, i, m) for o in columns[place] for i, m in o.operands])
            far |= too_far
            least, greatest = type_.reach
            low[:, j], high[:, j] = np.maximum(bounds[:, 0], least), np.minimum(bounds[:, 1], greatest)
        taken = (~far).nonzero()[0]
        self.empty[taken] = (low > high)[taken].any(axis=1)
        self.group[taken], self.groups = 0, [NO_GROUP]
        terms = {encode_terms([]): 0}
        for row, empty, lows, highs in zip(
            taken.tolist(), self.empty[taken].tolist(), low[taken].tolist(), high[taken].tolist(), strict=True
        ):
            if not empty:
                self.term[row] = terms.setdefault(box_of_intervals(zip(places, lows, highs, strict=True)), len(terms))
        self.terms = list(terms)
        return far.nonzero()[0]

    def fill(self, plan: RangePlan) -> None:
        """Find all regions: in numbers where the range has nothing else, else one for each combination of literals."""
        attribute, shortcut = plan.range, self._shortcut
        if attribute is None:
            self._each(np.arange(self._literals))
            return
        kind = _KINDS.get(attribute.type.kind)
        constants = [i for _, i, _ in attribute.tests]
        if kind is None or any(shortcut.kinds[i] is not LiteralKind.NUMBER for i in constants):
            self._each(np.arange(self._literals))
            return
        self._groups(plan)
        self._ranges(attribute)

    def _each(self, which: I64) -> None:
        """Find the region of each combination of the literals number `which`, which are all there are."""
        for places in self._parts(which):
            region = self._region(int(self._rows[places[0]]))
            if region is not None:
                self.group[places] = self._number(region.group)
                self.bounds[places] = region.lo, region.hi
                self.empty[places] = region.empty

    def _groups(self, plan: RangePlan) -> None:
        """Find the group of each combination of equality literals."""
        shortcut = self._shortcut
        which = sorted({shortcut.literal(i) for tests in plan.equal for _, i, _ in tests.tests} - {-1})
        for places in self._parts(np.array(which, np.int64)):
            literals = self._statements.literals(int(self._rows[places[0]]))[: self._literals]
            try:
                group = plan.group(shortcut.kinds, shortcut.texts(literals))
            except ConstantRefused:
                continue
            self.group[places] = self._number(group or NO_GROUP)
            self.empty[places] = group is None

    def _ranges(self, attribute: ColumnTests) -> None:
        """Find lower and upper bounds from numbers; those that are too long for it one by one."""
        self.bounds, far = self._bounds(attribute.type, attribute.tests)
        low, high = self.bounds[:, 0], self.bounds[:, 1]
        least, greatest = attribute.reach
        self.empty |= (low > high) | (low > greatest) | (high < least)
        for place in (far & (self.group >= 0)).nonzero()[0].tolist():
            region = self._region(int(self._rows[place]))
            if region is None:
                self.group[place] = -1
            else:
                self.bounds[place], self.empty[place] = (region.lo, region.hi), region.empty

    def _bounds(self, type_: ColumnType, tests: Sequence[tuple[str, int, bool]]) -> tuple[I64, Bool]:
        """Return which codes pass all tests, of each row, and where a number is too long for `ranges` to say so."""
        one, kind, literal = self._statements, _KINDS[type_.kind], self._shortcut.literal
        coded = np.array([(_CODES[operator], literal(i), int(minus)) for operator, i, minus in tests], np.int64)
        bounds, far = np.empty((len(self._rows), 2), np.int64), np.zeros(len(self._rows), np.bool_)
        scale = type_.scale if kind == EXACT else 0
        ranges(one.data, one.spans, one.first, self._rows, coded, kind, scale, _POWERS, bounds, far)
        return bounds, far

    def _parts(self, which: I64) -> list[I64]:
        """Return the places of the rows that have the same literals number `which`."""
        if not len(which):
            return [np.arange(len(self._rows))]
        return [np.searchsorted(self._rows, part) for part in self._statements.by_literals(self._rows, which)]

    def _region(self, row: int) -> Region | None:
        """Compile one statement; None if it is to be refused."""
        try:
            return self._shortcut.region(self._statements.literals(row)[: self._literals])
        except ConstantRefused:
            return None

    def _number(self, group: bytes) -> int:
        self.groups.append(group)
        return len(self.groups) - 1


def warm() -> None:
    """Compile the kernels or load them from numba's cache. Cost: seconds where no cache is, else 0.2 s."""
    data = np.frombuffer(b"a=1 b='x'" * 2, np.uint8)
    statements = CutStatements.of(data, np.array([0, 9]), np.array([9, 18]))
    (rows,) = statements.by_template()
    statements.by_literals(rows, np.arange(2))
    far, bounds = np.zeros(2, np.bool_), np.empty((2, 2), np.int64)
    tests = np.zeros((1, 3), np.int64)
    ranges(data, statements.spans, statements.first, rows, tests, EXACT, 0, _POWERS, bounds, far)
