"""From a life to the running answer of its question: which input it is about, and what that makes of it.

A question is about one table, or about the cell of those that it joins. Which declaration of them was meant is told by
the catalog of the batch behind the anchor: a table, or a join, that was dropped and made again is another one.
"""

from __future__ import annotations

from collections import defaultdict

from tidewire.verification.compare.judgement import Recomputed
from tidewire.verification.input.cell_ordering import CellSequence, cell_sequence
from tidewire.verification.input.declared import Declared, Table
from tidewire.verification.input.declared_cells import Cell
from tidewire.verification.input.ordering import Sequence
from tidewire.verification.input.rows import Rows
from tidewire.verification.recompute.answers import Answers, answers_to
from tidewire.verification.recompute.history import History, build, build_cell, connect
from tidewire.verification.recompute.joined_answers import joined_answers
from tidewire.verification.records.batches import Batches, Position
from tidewire.verification.records.join_question import ALL, JoinQuestion, Named, NoSuchName, Place
from tidewire.verification.records.lifetimes import Life, Lives
from tidewire.verification.records.question import Item, Query, Question, Unreadable, parse
from tidewire.verification.records.width import width_of

TableKey = tuple[int, str, int]
"""(epoch, lower-case name of a table or name of a cell, born)"""


class Recomputation:
    """Answers of lives. Each table's history is built once an epoch, when it is first asked for; each cell's likewise.

    `subjects` says of each life that was asked for which table or cell it was about, by (id, version).
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
        key = self._key(question.table, at)
        self.subjects[life.id, life.version] = key[1:]
        sequence = self._taken[key]
        if sequence.limit is not None:
            return Recomputed(sequence, None, question.policy)
        assert life.query is not None
        question = question.over(self._all_columns(life, question, sequence.table)) if question.starred else question
        known = self._answers.get((key, life.query, question.items))
        answers = known or self._answer(question, key)
        if self._uses[life.query] > 1:
            self._answers[key, life.query, question.items] = answers
        return Recomputed(sequence, answers, question.policy)

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
        columns = {column.name.lower() for column in table.columns}
        measures = columns if question.table in self._starred else self._measures[question.table] & columns
        if not question.measures <= measures:
            raise Unreadable(f"table `{table.name}` has no column `{min(question.measures - measures)}`")
        if key not in self._histories:
            self._histories[key] = build(self._database, self._taken[key], self._rows, measures)
        types = {column.name.lower(): column.type for column in table.columns}
        return answers_to(question, self._histories[key], types, [name.lower() for name in table.key])

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
        if life.query is None or not (life.delivered or life.live_at):
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

    # -- joins ----------------------------------------------------------------------------------------------------

    def _joined(self, life: Life, question: JoinQuestion, at: Position) -> Recomputed:
        cell = self._declared.cells_at(self._batches.catalog_at(at)).get(question.tables)
        if cell is None:
            tables = ", ".join(question.tables)
            raise Unreadable(f"no join of {tables} was declared at epoch {at.epoch}, batch {at.batch}")
        self.subjects[life.id, life.version] = cell.name, cell.born
        sequence = self._sequence_of(cell, at)
        if sequence.limit is not None:
            return Recomputed(sequence, None, question.policy)
        assert life.query is not None
        named = self._named(life, question, sequence)
        place = ((at.epoch, cell.name, cell.born), life.query, named.shown)
        answers = self._answers.get(place)
        if answers is None:
            of_sources = [sequence.tables[source.table].table for source in question.sources]
            answers = joined_answers(question, named, of_sources, self._histories_of(question, sequence))
            if self._uses[life.query] > 1:
                self._answers[place] = answers
        return Recomputed(sequence, answers, question.policy)

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

    def _histories_of(self, question: JoinQuestion, sequence: CellSequence) -> dict[str, History]:
        key = sequence.epoch, *sequence.subject
        if key not in self._cell_histories:
            measures = set(self._measures[question.tables])
            if question.tables in self._starred:
                every = (its.table for its in sequence.tables.values())
                measures |= {column.name.lower() for table in every for column in table.columns}
            self._cell_histories[key] = build_cell(self._database, sequence, self._rows, measures)
        return self._cell_histories[key]

    def _named(self, life: Life, question: JoinQuestion, sequence: CellSequence) -> Named:
        """Return the question with its names found, among the columns that there were when it was taken.

        Tables only get more columns, so how many a `*` shows says which there were (`_all_columns`); without one, any
        declaration that has the names has the same ones.
        """
        born = {name: its.table.born for name, its in sequence.tables.items()}
        ways = self._declared.together([(source.table, born[source.table]) for source in question.sources])
        width, why = width_of(life) if question.starred else None, ""
        found: Named | None = None
        for tables in ways:
            try:
                found = question.named([[column.name.lower() for column in table.columns] for table in tables])
            except NoSuchName as error:
                why = str(error)
                continue
            if width in (None, len(found.shown)) and (width or not question.starred):
                return found
        if found is None:
            raise Unreadable(why)
        return found
