"""The compiler of subscriptions: SQL, or a template with parameters, becomes a region of a shape.

    text -> tokens and tree -> question (syntax) -> plan (names and types) -> region (constants)
    parts that are known ------^ (`catalog.query.template_parts`)

All but the last depend on the template alone and are done once for it (`catalog.query.template`); a subscription of a
known template costs only the last. Whatever the shortcut cannot accept goes the whole way, so that every refusal
comes from one place and underlines what it is about.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from catalog.query.best_plan import LimitRefused
from catalog.query.filter_plan import FilterPlan
from catalog.query.filter_shape import FilterShape
from catalog.query.finality import check_final, final_at
from catalog.query.operand import Operand
from catalog.query.plan import Plan, compared_types, make_plan
from catalog.query.prepared import Prepared
from catalog.query.question import Question, read_question
from catalog.query.range_plan import is_number_type
from catalog.query.recent import Recent
from catalog.query.shape import COUNTS, AnyShape, Region
from catalog.query.template import Key, Pieces, content, guarded, is_template, split
from catalog.query.template_parts import TemplateParts
from catalog.query.unsupported import SUPPORTED
from catalog.schema.catalog import Catalog
from catalog.schema.cell import cell_name
from catalog.schema.join import is_join
from catalog.schema.relation import Relation
from catalog.sql.errors import CellMissing, SqlError, SubscriptionError
from catalog.sql.names import quoted
from catalog.sql.notify import (
    EVERY_CHANGE,
    FINAL,
    RECORDS,
    ROWS,
    Notify,
    OptionRefused,
    Options,
    read_options,
    read_tail,
)
from catalog.sql.statement_text import StatementText
from catalog.types.column_type import ColumnType, Kind
from catalog.types.literal import ConstantRefused, LiteralKind

MAX_CHARACTERS = 16_384
"""Longest text of one subscription."""
MAX_TEMPLATES = 4096
_LIMIT = ColumnType(Kind.BIGINT)
"""The type of what stands behind LIMIT."""
_PLAIN_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")


@dataclass(frozen=True, slots=True)
class Compiled:
    """An accepted subscription.

    region: where it lives.  columns: types of the columns that are shown, or of the outputs', None for COUNT(*).
    cost: class of cost; `reformulated`: only new answers come to the edge; `row changes`: every row of the range that
    comes, goes or changes does; `table changes`: every change of the table does, once for all who ask for these.
    sql: as the user wrote it, parameters filled in.  notify: when to tell.  ttl: seconds to live, None without end.
    deliver: `records`, `packed` or `push`.  snapshot: `rows`, or `none` where a filter starts without its rows.
    final_at: when the last window that it asks about ends (order code of a TIMESTAMP), behind which the answer stays as
    it is; None where it never does.
    pieces: `sql` cut at its literals, where compiling has done that already.
    """

    region: Region
    columns: tuple[ColumnType | None, ...]
    cost: str
    sql: str
    notify: Notify = EVERY_CHANGE
    ttl: int | None = None
    deliver: str = RECORDS
    pieces: Pieces | None = field(default=None, compare=False, repr=False)
    snapshot: str = ROWS
    final_at: int | None = None


@dataclass(frozen=True, slots=True)
class Shortcut:
    """How all statements of a template are compiled, options behind them included.

    plan; kinds: of its constants; fixed: those that are no literals (TRUE, FALSE, NULL) by number.
    literals: how many literals the statement has; those behind are its options'.  end: where the statement ends
    within the part behind its last literal.
    """

    plan: Plan
    kinds: tuple[LiteralKind, ...]
    fixed: tuple[tuple[int, str], ...]
    literals: int
    end: int

    def pieces(self, key: Key, literals: list[str]) -> tuple[Pieces, str]:
        """Return the pieces of a statement, the last with all that stands behind, and what is not of the statement."""
        parts, own = key[0], self.literals
        if own == len(literals):
            return (parts, literals), parts[own][self.end :]
        pairs = zip(parts[own:], (*literals[own:], ""), strict=True)
        last = "".join([piece for pair in pairs for piece in pair])
        return ((*parts[:own], last), literals[:own]), last[self.end :]

    def region(self, literals: Sequence[str]) -> Region:
        """Return the region for these literals, as written. Raises ConstantRefused."""
        return self.plan.region(self.kinds, self.texts(literals))

    def texts(self, literals: Sequence[str]) -> list[str]:
        """Return the texts of all constants."""
        texts = [content(text) for text in literals]
        for i, text in self.fixed:
            texts.insert(i, text)
        return texts

    def literal(self, constant: int) -> int:
        """Return which literal a constant is, -1 if it is none."""
        before = sum(i < constant for i, _ in self.fixed)
        return -1 if any(i == constant for i, _ in self.fixed) else constant - before


class Compiler:
    """Compiles subscriptions against one version of the catalog.

    Holds at most `max_templates` templates of each form; the least recently used is forgotten first.
    Cost: 0.8 ms for a new template, 0.05 ms for one of known parts (1.4 and 0.08 where tables are joined), 7-12 us for
    a known one (0.4 ms where the shortcut may not be taken).
    """

    def __init__(self, catalog: Catalog, max_templates: int = MAX_TEMPLATES) -> None:
        self.catalog = catalog
        self._shortcuts: Recent[Key, Shortcut | _WholeWay] = Recent(max_templates)
        self._prepared: Recent[str, Prepared] = Recent(max_templates)
        self._parts = TemplateParts(max_templates)
        self._met: Recent[int, None] = Recent(max_templates)

    def compile(self, sql: str) -> Compiled:
        """Compile one SELECT.

        Raises SubscriptionError: `syntax`, `unknown_table`, `unknown_column`, `unsupported`, `unsupported_type`,
        `type_mismatch`, `malformed`; CellMissing, `no_cell`, where nothing is wrong but that no cell serves the join;
        nothing else, whatever the text.
        """
        if len(sql) > MAX_CHARACTERS:
            raise _too_long(sql)
        key, literals = split(sql)
        shortcut = self._shortcuts.get(key) or self._from_parts(key, sql, hash(key) in self._met)
        if not isinstance(shortcut, Shortcut):
            return self._compile_whole(sql, key if shortcut is None else None, literals)
        pieces, behind = shortcut.pieces(key, literals)
        options = read_tail(behind)
        if options is None:
            return self._compile_whole(sql, None, literals)
        try:
            region = shortcut.region(pieces[1])
        except ConstantRefused:
            return self._compile_whole(sql, None, literals)
        return _compiled(self.catalog, shortcut.plan, region, sql, options, pieces)

    def compile_template(self, template: str, parameters: Sequence[object]) -> Compiled:
        """Compile a SELECT in which constants are written `?`; `parameters` are JSON values in the same order.

        Raises SubscriptionError as `compile`; `malformed` for a wrong number of parameters, or one that is no scalar.
        """
        prepared = self._prepared.get(template)
        if prepared is None:
            prepared = self._prepare(template)
            self._prepared.put(template, prepared)
        literals = prepared.bound(parameters)
        try:
            region = prepared.plan.region([kind for kind, _ in literals], [text for _, text in literals])
        except ConstantRefused as e:
            raise _refused(prepared.text, prepared.operands, e) from None
        sql = prepared.filled(literals) + template[prepared.options.end :]
        if len(sql) > MAX_CHARACTERS:
            raise _too_long(sql)
        return _compiled(self.catalog, prepared.plan, region, sql, prepared.options)

    def sql_of(self, template: str, parameters: Sequence[object]) -> str | None:
        """Return the SQL that a template says with its parameters.

        `compile` gives for it what `compile_template` gives, or refuses it. None where the template was not compiled
        lately, a parameter is none, or it is a text that is a number only to a DECIMAL column. Cost: 2 us or more.
        """
        prepared = self._prepared.get(template)
        if prepared is None:
            return None
        try:
            literals = prepared.bound(parameters)
        except SubscriptionError:
            return None
        for hole in prepared.holes:
            kind, text = literals[hole.operand]
            if kind is LiteralKind.DIGITS and hole.type.kind is Kind.DECIMAL and not _PLAIN_NUMBER.fullmatch(text):
                return None
        return prepared.filled(literals) + template[prepared.options.end :]

    def shortcut(self, key: Key) -> Shortcut | None:
        """Return how statements of a template are compiled, where it was seen lately and may take the shortcut."""
        shortcut = self._shortcuts.get(key) or self._from_parts(key, "", True)
        return shortcut if isinstance(shortcut, Shortcut) else None

    def _from_parts(self, key: Key, sql: str, again: bool) -> Shortcut | None:
        """Put a template together from parts that are known; None where it is for the parser.

        It is remembered if it is met `again`: most of those that are put together come once, and each is many objects.
        """
        found = self._parts.assembled(key)
        if found is None:
            return None
        try:
            plan = make_plan(self.catalog, found.question, StatementText(sql, SubscriptionError))
        except SubscriptionError:
            return None
        kinds = tuple([o.kind for o in found.question.operands if o.kind is not None])
        shortcut = Shortcut(plan, kinds, _fixed(found.question), found.literals, found.end)
        if again:
            self._shortcuts.put(key, shortcut)
        else:
            self._met.put(hash(key), None)
        return shortcut

    def _compile_whole(self, sql: str, key: Key | None, literals: list[str]) -> Compiled:
        """Compile by the parser; with `key`, remember whether its template may take the shortcut from now on."""
        options = _options(sql)
        text = StatementText(sql[: options.end], SubscriptionError)
        question = read_question(text)
        plan = make_plan(self.catalog, question, text)
        operands = question.constants
        kinds = tuple(o.kind for o in operands if o.kind is not None)
        try:
            region = plan.region(kinds, [o.text for o in operands])
        except ConstantRefused as e:
            raise _refused(text, operands, e) from None
        if key is not None:
            self._shortcuts.put(key, _shortcut(plan, kinds, question, text, key, literals) or _WholeWay())
        return _compiled(self.catalog, plan, region, sql, options)

    def _prepare(self, template: str) -> Prepared:
        if len(template) > MAX_CHARACTERS:
            raise _too_long(template)
        options = _options(template)
        text = StatementText(template[: options.end], SubscriptionError)
        question = read_question(text, parameters=True)
        plan = make_plan(self.catalog, question, text)
        types = compared_types(self.catalog, question, text)
        if question.limit is not None:
            types.append(_LIMIT)
        return Prepared.of(text, plan, question.constants, types, options)


class _WholeWay:
    """Stands for a template that may not take the shortcut."""


def _shortcut(
    plan: Plan, kinds: tuple[LiteralKind, ...], question: Question, text: StatementText, key: Key, literals: list[str]
) -> Shortcut | None:
    """Return the shortcut of the template `key`, of which `text` is a statement without its options; None if unsafe."""
    (parts, quoted), own = split(text.sql)
    count, end = len(own), len(parts[-1])
    same = key[0][:count] == parts[:-1] and key[0][count][:end] == parts[-1] and literals[:count] == own
    if not (same and guarded(key[0]) and is_template((parts, quoted), own, text.statements[0], question)):
        return None
    return Shortcut(plan, kinds, _fixed(question), count, end)


def _fixed(question: Question) -> tuple[tuple[int, str], ...]:
    """Return the constants that are no literals, by number."""
    kinds = (LiteralKind.BOOLEAN, LiteralKind.NULL)
    return tuple([(i, o.text) for i, o in enumerate(question.constants) if o.kind in kinds])


def check_policy(asked: Compiled, notify: Notify, relation: Relation | None) -> None:
    """Raise SubscriptionError, `unsupported`, where a policy is asked of an answer that it does not fit.

    `relation` is the one that is asked.
    MIN CHANGE and FINAL are for one number, and FINAL for one that becomes final one day. TRANSITIONS and ENTER are for
    rows of a filter that are known by their key: a row that leaves is shown as it left, which is not always as it was
    told. Rows of a join have none that could be shown.
    """
    shape = asked.region.shape
    rows = isinstance(shape, FilterShape) and bool(shape.shown)
    if notify.kind in ("min_change", FINAL) and not _is_number(shape, asked.columns):
        final = notify.kind == FINAL
        word, other = ("FINAL", "EVERY CHANGE, which tells it too") if final else ("MIN CHANGE", "LATEST")
        hint = f"It takes one MIN, MAX, COUNT, SUM or AVG of numbers; for all others there is NOTIFY {other}."
        raise SubscriptionError("unsupported", f"NOTIFY {word} of an answer that is not one number", hint=hint)
    if notify.kind in ("transitions", "enter") and not (rows and isinstance(shape, FilterShape) and shape.keys):
        what, hint = f"NOTIFY {notify.text} of rows without their primary key", _show_key(relation)
        if not rows:
            what = f"NOTIFY {notify.text} of an answer that is not rows of a filter"
            hint = "It takes SELECT of columns, without ORDER BY; for all others there is NOTIFY LATEST."
        elif is_join(shape.relation):
            what, hint = f"NOTIFY {notify.text} of rows of a join", "A join takes NOTIFY EVERY CHANGE or LATEST."
        raise SubscriptionError("unsupported", what, hint=hint)
    if notify.kind == FINAL:
        closing = None if relation is None else relation.closing
        check_final(closing, asked.region, asked.final_at, asked.snapshot == ROWS)


def _show_key(relation: Relation | None) -> str:
    """Return what to do where the SELECT list does not show the key of rows of a table or view."""
    if relation is None or relation.topic:
        return "Add all columns of the primary key to the SELECT list, so that a row that leaves can be told by them."
    if relation.key:
        names = ", ".join(quoted(name) for name in relation.key)
        return f"Rows of view `{relation.name}` are known by {names}: show all of that, to tell by it what leaves."
    return (
        f"View `{relation.name}` does not show the key of its rows, by which what leaves would be told: "
        "a view that shows it takes this, and any takes NOTIFY EVERY CHANGE or LATEST."
    )


def check_snapshot(shape: AnyShape) -> None:
    """Raise SubscriptionError, `unsupported`, where SNAPSHOT NONE is asked of anything but rows of a filter."""
    if not (isinstance(shape, FilterShape) and shape.shown):
        hint = "It takes SELECT of columns, without ORDER BY; all other answers are short."
        raise SubscriptionError("unsupported", "SNAPSHOT NONE of an answer that is not rows of a filter", hint=hint)


def _is_number(shape: AnyShape, columns: Sequence[ColumnType | None]) -> bool:
    if len(shape.outputs) != 1:
        return False
    [output], [type_, *_] = shape.outputs, columns
    return output.function in COUNTS or (type_ is not None and is_number_type(type_) and output.function != "distinct")


def _compiled(
    catalog: Catalog, plan: Plan, region: Region, sql: str, options: Options, pieces: Pieces | None = None
) -> Compiled:
    notify = options.notify or EVERY_CHANGE
    relation = catalog.named(region.shape.relation)
    end = None if relation is None else final_at(relation.closing, region)
    deliver, snapshot = options.deliver or RECORDS, options.snapshot or ROWS
    compiled = Compiled(region, plan.columns, plan.cost, sql, notify, options.ttl, deliver, pieces, snapshot, end)
    if notify is not EVERY_CHANGE:
        check_policy(compiled, notify, relation)
    if options.snapshot is not None:
        check_snapshot(region.shape)
    uncelled = (isinstance(plan, FilterPlan) and plan.uncelled) or catalog.uncelled(region.shape.relation)
    if uncelled:
        raise CellMissing(uncelled, catalog.unserved.get(cell_name(uncelled), ""))
    return compiled


def _options(sql: str) -> Options:
    try:
        return read_options(sql)
    except OptionRefused as error:
        text = StatementText(sql, SubscriptionError)
        raise text.refusal(error.code, str(error), (error.start, error.end), error.hint) from None


def _too_long(sql: str) -> SqlError:
    what = f"the text has {len(sql)} characters; at most {MAX_CHARACTERS} are taken"
    return SubscriptionError("malformed", what, hint="Shorten it.")


def _refused(text: StatementText, operands: Sequence[Operand], refused: ConstantRefused) -> SqlError:
    """Return the refusal of a statement for its constants: for one of them, or for what they are together."""
    hint = f"{refused.hint}\n{SUPPORTED}" if refused.code == "unsupported" else refused.hint
    if refused.operand < 0:
        place = text.keyword(("LIMIT" if isinstance(refused, LimitRefused) else "WHERE",))
        return text.refusal(refused.code, refused.what, place, hint)
    span = operands[refused.operand].span
    return text.refusal(refused.code, f"`{refused.column}` {refused.what}", span, hint)
