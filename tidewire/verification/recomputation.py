"""From a life to the running answer of its question: which input it is about, and what that makes of it.

A question is about one table or view, or about the cell of those that it joins. Which declaration of them was meant is
told by the catalog of the batch behind the anchor: what was dropped and made again is another one. A view is of the
records of its table, or of the cell of its tables.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace

from tidewire.verification.compare.finality import Finality
from tidewire.verification.compare.recomputed import Recomputed
from tidewire.verification.input.cell_ordering import CellSequence, cell_sequence
from tidewire.verification.input.closing import closing_of, held_of
from tidewire.verification.input.declared import Declared, Table
from tidewire.verification.input.declared_cells import Cell
from tidewire.verification.input.declared_views import View, Views
from tidewire.verification.input.ordering import Sequence, TakenRecords
from tidewire.verification.input.rows import Rows
from tidewire.verification.input.stream_walk import together
from tidewire.verification.recompute.answers import Answers, answers_to
from tidewire.verification.recompute.history import (
    History,
    build,
    build_cell,
    build_view,
    connect,
    load_view,
    schema_of,
    versions_in,
)
from tidewire.verification.recompute.joined_answers import joined_answers
from tidewire.verification.recompute.range_bounds import beside_ranges
from tidewire.verification.recompute.stream_windows import kept_rows
from tidewire.verification.recompute.version import Version
from tidewire.verification.recompute.view_versions import versions_of
from tidewire.verification.records.batches import Batches, Position
from tidewire.verification.records.join_question import ALL, JoinQuestion, Named, NoSuchName, Place
from tidewire.verification.records.last_window import LAST, moments_of
from tidewire.verification.records.lifetimes import Life, Lives
from tidewire.verification.records.question import Item, Query, Question, Unreadable, parse
from tidewire.verification.records.width import width_of

TableKey = tuple[int, str, int]
"""(epoch, lower-case name of a table or view or name of a cell, born)"""


class Recomputation:
    """Answers of lives. A history is built once an epoch, when it is first asked for.

    `subjects` says of each life that was asked for which table, view or cell it was about, by (id, version).
    """

    def __init__(
        self, taken: dict[TableKey, Sequence], batches: Batches, declared: Declared, rows: Rows, lives: Lives
    ) -> None:
        self.subjects: dict[tuple[str, int], tuple[str, int]] = {}
        self._taken = taken
        self._batches = batches
        self._declared = declared
        self._rows = rows
        self._histories: dict[TableKey, History] = {}
        self._cells: dict[TableKey, CellSequence] = {}
        self._cell_histories: dict[TableKey, dict[str, History]] = {}
        self._relations: dict[TableKey, dict[str, list[Version]]] = {}
        self._versions: dict[tuple[int, tuple[str, int], str, int], list[Version]] = {}
        self._answers: dict[tuple[TableKey, Query, tuple[Item, ...] | tuple[Place, ...]], Answers] = {}
        self._database = connect()
        self._names = declared.names()
        self._questions: dict[Query, Question | JoinQuestion | Unreadable] = {}
        self._measures: dict[str | tuple[str, ...], set[str]] = defaultdict(set)
        self._starred: set[str | tuple[str, ...]] = set()
        self._uses: dict[Query, int] = defaultdict(int)
        for life in lives.lives:
            self._note(life)

    def __call__(self, life: Life, at: Position) -> Recomputed:
        """Return the answers of `life` in the epoch of `at`. Raises Unreadable."""
        question = self._question(life)
        if isinstance(question, JoinQuestion):
            return self._joined(life, question, at)
        view = self._declared.views_at(self._batches.catalog_at(at)).get(question.table)
        key = self._key(question.table, at) if view is None else (at.epoch, question.table, view.born)
        self.subjects[life.id, life.version] = key[1:]
        sequence = self._taken[key] if view is None else self._sequence_of_view(view, at)
        if sequence.limit is not None or (view is not None and not self._knows_windows(view, at)):
            return Recomputed(sequence, None, question.policy, key[1:])
        assert life.query is not None
        if question.starred:
            columns = (
                self._all_columns(life, question, self._taken[key].table)
                if view is None
                else [column.name.lower() for column in view.columns]
            )
            question = question.over(columns)
        answers = self._answers.get((key, life.query, question.items))
        if answers is None:
            answers = self._answer(question, key) if view is None else self._answer_of_view(question, view, at)
        if self._uses[life.query] > 1:
            self._answers[key, life.query, question.items] = answers
        finality = None if view is None else self._finality(question, view, at, sequence)
        return Recomputed(sequence, answers, question.policy, key[1:], finality)

    def ttls(self, lives: Lives) -> dict[tuple[str, int], int]:
        """Return the times to live of those that were told something, by (id, version)."""
        found: dict[tuple[str, int], int] = {}
        for life in lives.lives:
            question = self._questions.get(life.query) if life.query is not None else None
            if isinstance(question, Question | JoinQuestion) and question.policy.ttl is not None and life.delivered:
                found[life.id, life.version] = question.policy.ttl
        return found

    def _answer(self, question: Question, key: TableKey) -> Answers:
        table = self._taken[key].table
        return _answered(question, table, self._history(key, self._measures_of(question, table)))

    def _measures_of(self, question: Question, subject: Table | View) -> set[str]:
        """Return the columns of a table or view that questions measure. Raises Unreadable if it lacks one."""
        columns = set(_names(subject))
        measures = columns if question.table in self._starred else self._measures[question.table] & columns
        if not question.measures <= measures:
            raise Unreadable(f"`{subject.name}` has no column `{min(question.measures - measures)}`")
        return measures

    def _history(self, key: TableKey, measures: set[str]) -> History:
        if key not in self._histories:
            self._histories[key] = build(self._database, self._taken[key], self._rows, measures)
        return self._histories[key]

    def _all_columns(self, life: Life, question: Question, table: Table) -> list[str]:
        """Return the columns that a `*` of `life` stands for: those there were when it was taken.

        Columns are only ever appended, so it is enough to know how many: as its ack or its first row shows. That there
        were so many at some time is judged, not when.
        """
        stars = sum(item.column == ALL for item in question.items)
        width = ((width_of(life) or 0) - len(question.items)) // stars + 1
        widths = [
            len(one.columns) for one in self._declared.every() if (one.name, one.born) == (table.name, table.born)
        ]
        return [c.name.lower() for c in table.columns][: width if width in widths else None]

    def _note(self, life: Life) -> None:
        if life.query is None or not (life.delivered or life.live_at or life.is_refused_as_gone):
            return
        self._uses[life.query] += 1
        if life.query in self._questions:
            return
        try:
            question = parse(self._database, life.query, self._names)
            if isinstance(question, JoinQuestion):
                self._measures[question.tables] |= question.mentioned()
                self._starred |= {question.tables} if question.starred else set()
            else:
                self._measures[question.table] |= question.measures
                self._starred |= {question.table} if question.starred else set()
            self._questions[life.query] = question
        except Unreadable as reason:
            self._questions[life.query] = reason

    def _question(self, life: Life) -> Question | JoinQuestion:
        if life.query is None:
            raise Unreadable("nothing that is left says what it asked")
        found = self._questions[life.query]
        if isinstance(found, Unreadable):
            raise found
        return found

    def _key(self, table: str, at: Position) -> TableKey:
        """Return the table that was meant: as declared in the batch after the anchor, which took the registration."""
        declared = self._declared.at(self._batches.catalog_at(at)).get(table)
        if declared is None:
            raise Unreadable(f"no table `{table}` was declared at epoch {at.epoch}, batch {at.batch}")
        key = (at.epoch, table, declared.born)
        if key not in self._taken:
            raise Unreadable(f"no batch of epoch {at.epoch} is known in which table `{table}` was declared")
        return key

    # -- views ----------------------------------------------------------------------------------------------------

    def _sequence_of_view(self, view: View, at: Position) -> Sequence | CellSequence:
        """Return the records of all tables that the view reads."""
        if len(view.tables) == 1:
            return self._taken[self._key(view.tables[0], at)]
        return self._sequence_of(self._cell(view.tables, at), at)

    def _answer_of_view(self, question: Question, view: View, at: Position) -> Answers:
        key = at.epoch, view.name.lower(), view.born
        measures = self._measures_of(question, view)
        if key not in self._histories:
            sequence = self._sequence_of_view(view, at)
            versions = self._versions_of(view, sequence, self._declared.views_at(self._batches.catalog_at(at)))
            schema = schema_of(at.epoch, key[1:])
            self._histories[key] = build_view(self._database, schema, view.name, view.columns, versions, measures)
        return _answered(question, view, self._histories[key])

    def written(self, view: View, at: Position) -> tuple[TakenRecords, list[Version] | None]:
        """Return what a view that is there in the batch after `at` is made of, and all versions of its rows.

        The versions are None where they cannot be known. Raises Unreadable.
        """
        sequence = self._sequence_of_view(view, at)
        if sequence.limit is not None or not self._knows_windows(view, at):
            return sequence, None
        return sequence, self._versions_of(view, sequence, self._declared.views_at(self._batches.catalog_at(at)))

    def _versions_of(self, view: View, sequence: Sequence | CellSequence, views: Views) -> list[Version]:
        """Return the versions of a view's rows, by the seqs of all of its tables."""
        place = sequence.epoch, sequence.subject, view.name.lower(), view.born
        if place not in self._versions:
            read = {name: self._versions_of(views[name], sequence, views) for name in view.reads if name in views}
            rows = self._rows_of(sequence)
            folded = {
                name: self._kept(rows[name], view, name, sequence)
                for name in view.reads
                if name in self._streams(sequence)
            }
            rows = {**rows, **folded}
            self._versions[place] = versions_of(view.selects, {**rows, **read})
        return self._versions[place]

    def _rows_of(self, sequence: Sequence | CellSequence) -> dict[str, list[Version]]:
        """Return the versions of the rows of the tables of a sequence."""
        key = sequence.epoch, *sequence.subject
        if key not in self._relations:
            if isinstance(sequence, CellSequence):
                histories = self._histories_of(sequence)
                tables = {name: its.table for name, its in sequence.tables.items()}
            else:
                name, columns = key[1], set(_names(sequence.table))
                measures = columns if name in self._starred else self._measures[name] & columns
                histories, tables = {name: self._history(key, measures)}, {name: sequence.table}
            self._relations[key] = {name: versions_in(histories[name], table) for name, table in tables.items()}
        return self._relations[key]

    # -- streams --------------------------------------------------------------------------------------------------

    def _finality(self, question: Question, view: View, at: Position, sequence: TakenRecords) -> Finality | None:
        """Return when an answer about a view of a stream is final, None where it is about none or that is not known."""
        streams = [self._rows.stream(own) for own in self._streams(sequence).values()]
        if not streams:
            return None
        catalog = self._batches.catalog_at(at)
        views, tables = self._declared.views_at(catalog), self._declared.at(catalog)
        marks, exact = together(streams), all(one.exact for one in streams)
        never, closing = Finality(None, marks, exact), closing_of(view, views, tables)
        if closing is None or (len(streams) > 1 and held_of(view, views, tables) is not None):
            return never
        (place, size), held = closing, held_of(view, views, tables)
        where = json.loads(question.tree)["statements"][0]["node"]["where_clause"]
        moments = moments_of(where, view.columns[place].name.lower(), question.params)
        if moments is None:
            return never
        first, last = (moment - moment % size for moment in moments)
        when, gone = last + size, None if held is None else first + held
        if when > LAST or (held is not None and held < size) or (gone is not None and gone < when):
            return never
        return Finality(when, marks, exact, gone)

    def _knows_windows(self, view: View, at: Position) -> bool:
        """Whether it is known from which window on a view takes the rows of its stream, and how they went."""
        views = self._declared.views_at(self._batches.catalog_at(at))
        below = [views[name] for name in view.reads if name in views]
        if below:
            return all(self._knows_windows(one, at) for one in below)
        sequence = self._sequence_of_view(view, at)
        if not isinstance(sequence, Sequence) or sequence.table.stream is None:
            return True
        keeps, exact = sequence.table.stream.keep is None, self._rows.stream(sequence).exact
        return self._batches.floor(at.epoch) < 0 and (keeps or exact)

    def _streams(self, sequence: TakenRecords) -> dict[str, Sequence]:
        """Return the streams of a sequence by lower-case name, each as its own shard took it."""
        found = sequence.tables if isinstance(sequence, CellSequence) else {}
        if isinstance(sequence, Sequence):
            found = {sequence.subject[0]: sequence}
        streams = {name: its for name, its in found.items() if its.table.stream is not None}
        return {name: self._taken[sequence.epoch, name, its.table.born] for name, its in streams.items()}

    def _kept(self, rows: list[Version], view: View, stream: str, sequence: Sequence | CellSequence) -> list[Version]:
        """Return the rows of a stream that a view takes, as long as their window is kept."""
        batches = self._batches.epochs[sequence.epoch]
        there = (
            i
            for i, batch in enumerate(batches)
            if (its := self._declared.views_at(batch.catalog).get(view.name.lower())) and its.born == view.born
        )
        first = next(there)
        before = batches[first - 1].at.batch if first else None
        own = self._streams(sequence)[stream]
        marks = self._rows.stream(own).marks
        if isinstance(sequence, CellSequence):
            seqs = sequence.seqs[stream]
            marks = [replace(mark, counted=mark.counted and seqs[mark.counted - 1]) for mark in marks]
        return kept_rows(rows, view, own, marks, before, 0 if before is None else sequence.end_of(before))

    # -- joins ----------------------------------------------------------------------------------------------------

    def _joined(self, life: Life, question: JoinQuestion, at: Position) -> Recomputed:
        every = self._declared.views_at(self._batches.catalog_at(at))
        views = {name: every[name] for name in question.tables if name in every}
        read = {table for view in views.values() for table in view.tables}
        cell = self._cell(tuple(sorted(read | {*question.tables} - views.keys())), at)
        subject = self._going((cell.name, cell.born), views)
        self.subjects[life.id, life.version] = subject
        sequence = self._sequence_of(cell, at)
        if sequence.limit is not None:
            return Recomputed(sequence, None, question.policy, subject)
        assert life.query is not None
        named = self._named(life, question, sequence, views)
        born = (cell.born, *(view.born for _, view in sorted(views.items())))
        place = ((at.epoch, f"{cell.name} {born}", cell.born), life.query, named.shown)
        answers = self._answers.get(place)
        if answers is None:
            tables = {name: its.table for name, its in sequence.tables.items()} | views
            of_sources = [tables[source.table] for source in question.sources]
            histories = {
                **self._histories_of(sequence),
                **self._histories_of_views(question.tables, views, sequence, every),
            }
            answers = joined_answers(question, named, of_sources, histories)
            if self._uses[life.query] > 1:
                self._answers[place] = answers
        return Recomputed(sequence, answers, question.policy, subject)

    def _going(self, cell: tuple[str, int], views: Views) -> tuple[str, int]:
        """Return what a question of a cell and views ends with, of those that are no more; else the cell."""
        standing = self._declared.newest_subjects()
        subjects = [cell, *((name, view.born) for name, view in views.items())]
        return next((subject for subject in subjects if subject not in standing), cell)

    def _histories_of_views(
        self, joined: tuple[str, ...], views: Views, sequence: CellSequence, every: Views
    ) -> dict[str, History]:
        """Return the histories of the views of a join, which stand beside those of its tables."""
        database = next(iter(self._histories_of(sequence).values())).database
        found = {}
        for name, view in views.items():
            key = sequence.epoch, f"{sequence.subject} {name}", view.born
            if key not in self._histories:
                columns, named = set(_names(view)), [tables for tables in self._joins() if name in tables]
                starred = any(tables in self._starred for tables in named)
                measures = columns if starred else columns & {m for tables in named for m in self._measures[tables]}
                versions, called = self._versions_of(view, sequence, every), f"{view.name} {view.born}"
                self._histories[key] = load_view(database, called, view.columns, versions, measures)
            found[name] = self._histories[key]
        return found

    def _joins(self) -> list[tuple[str, ...]]:
        """Return what is joined by some question, by the names of each."""
        return [named for named in self._measures if isinstance(named, tuple)]

    def _cell(self, tables: tuple[str, ...], at: Position) -> Cell:
        cell = self._declared.cells_at(self._batches.catalog_at(at)).get(tables)
        if cell is None:
            raise Unreadable(f"no join of {', '.join(tables)} was declared at epoch {at.epoch}, batch {at.batch}")
        return cell

    def _sequence_of(self, cell: Cell, at: Position) -> CellSequence:
        """Return the records of the tables that the cell had in the batch after the anchor."""
        key = at.epoch, cell.name, cell.born
        if key not in self._cells:
            tables = {name: self._taken[self._key(name, at)] for name in cell.tables}
            first = next(
                batch.at.batch
                for batch in self._batches.epochs[at.epoch]
                if self._declared.cells_at(batch.catalog).get(cell.tables) == cell
            )
            self._cells[key] = cell_sequence(cell, tables, first)
        return self._cells[key]

    def _histories_of(self, sequence: CellSequence) -> dict[str, History]:
        key = sequence.epoch, *sequence.subject
        if key not in self._cell_histories:
            joins = [named for named in self._joins() if {*named} & {*sequence.cell.tables}]
            measures = {measure for named in joins for measure in self._measures[named]}
            if any(named in self._starred for named in joins):
                every = (its.table for its in sequence.tables.values())
                measures |= {column.name.lower() for table in every for column in beside_ranges(table.columns)}
            self._cell_histories[key] = build_cell(self._database, sequence, self._rows, measures)
        return self._cell_histories[key]

    def _named(self, life: Life, question: JoinQuestion, sequence: CellSequence, views: Views) -> Named:
        """Return the question with its names found, among the columns that there were when it was taken.

        Tables only get more columns, so how many a `*` shows says which there were (`_all_columns`); without one, any
        declaration that has the names has the same ones.
        """
        born = {name: its.table.born for name, its in sequence.tables.items()}
        ways = self._declared.together([(name, born[name]) for name in question.tables if name not in views])
        width, why = width_of(life) if question.starred else None, ""
        found: Named | None = None
        for tables in ways:
            try:
                known = {table.name.lower(): table.columns for table in tables}
                known |= {name: view.columns for name, view in views.items()}
                of_sources = [[column.name.lower() for column in known[one.table]] for one in question.sources]
                found = question.named(of_sources)
            except NoSuchName as error:
                why = str(error)
                continue
            if width in (None, len(found.shown)) and (width or not question.starred):
                return found
        if found is None:
            raise Unreadable(why)
        return found


def _answered(question: Question, subject: Table | View, history: History) -> Answers:
    types = {column.name.lower(): column.type for column in beside_ranges(subject.columns)}
    question = replace(question, audience=subject.audience)
    return answers_to(question, history, types, [name.lower() for name in subject.key])


def _names(subject: Table | View) -> list[str]:
    return [column.name.lower() for column in beside_ranges(subject.columns)]
