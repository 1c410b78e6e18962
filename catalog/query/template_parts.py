"""Templates put together from parts that are known: what is new in most statements is how conditions are combined.

    SELECT k, a FROM t WHERE a = 5 AND b BETWEEN 1 AND 3 AND c IN ('x', 'y') NOTIFY LATEST

    head     SELECT k, a FROM t
    atoms    a = #     b BETWEEN # AND #     c IN ($, $)          # a number, $ a string
    tail     NOTIFY LATEST                                        left to whoever reads options

A head may join tables, and then an atom's column may say of which it is: q.a = 5.

Twenty columns make millions of templates, and a hundred atoms. Three rules make of a template what the parser would
have made of it; where one does not apply, it is for the parser.

1. *Form*: head and atoms are words and literals in ASCII, without quotes, comments or parentheses but those of IN and
   of functions. So each AND but that of BETWEEN joins two atoms, and nothing in an atom binds weaker than it.
2. *Proof*, once an atom: between two other conditions under AND it is the second of three sides, and the whole is a
   template (`template.py`). One of which the column says its table is read in a join of a table called so, and is for
   heads alone that join one which is.
3. *Proof*, once a head: with one condition behind WHERE it is a statement. The parser goes from left to right, and has
   read the head before it sees what follows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from catalog.query.condition_tree import And, Condition, Or, Tree
from catalog.query.operand import Operand
from catalog.query.output import SUMS
from catalog.query.question import Question, beyond_range, read_question
from catalog.query.recent import Recent
from catalog.query.template import Key, guarded, is_template, split
from catalog.sql.errors import SqlError
from catalog.sql.notify import OPTION_WORDS
from catalog.sql.statement_text import StatementText
from catalog.types.literal import LiteralKind

_MOST_ATOMS = 64
"""Of one template: longer ones are rare, and the parser takes them."""
_NUMBER, _STRING = "\x00", "\x01"
"""What stands in the place of a literal."""
_FILLED = {ord(_NUMBER): "7", ord(_STRING): "'a'"}

_BLANKS = " \t\r\n"
_B, _BS = f"[{_BLANKS}]", f"[{_BLANKS}]*"
_NAME = "[a-z_][a-z0-9_]*"
_CONSTANT = f"(?:(?:-{_BS})?{_NUMBER}|{_STRING}|(?:DATE|TIMESTAMP){_B}+{_STRING}|TRUE|FALSE|NULL)"
_COLUMN = f"(?:{_NAME}\\.)?{_NAME}"
_HALF_FORM = f"{_COLUMN}{_B}+(?:NOT{_B}+)?BETWEEN{_B}+{_CONSTANT}"
_FORMS = (
    f"{_COLUMN}{_BS}(?:=|<>|!=|<=|>=|<|>|&&|@>|<@){_BS}{_CONSTANT}",
    f"{_HALF_FORM} AND {_CONSTANT}",
    f"{_COLUMN}{_B}+(?:NOT{_B}+)?IN{_BS}\\({_BS}{_CONSTANT}(?:{_BS},{_BS}{_CONSTANT})*{_BS}\\)",
    f"{_COLUMN}{_B}+(?:NOT{_B}+)?LIKE{_B}+{_STRING}",
    f"{_COLUMN}{_B}+IS{_B}+(?:NOT{_B}+)?NULL",
)
_TABLE = f"{_NAME}(?:{_B}+{_NAME}){{0,2}}"
_EQUAL = f"{_COLUMN}{_BS}={_BS}{_COLUMN}"
_JOIN = f"{_B}+(?:INNER{_B}+)?JOIN{_B}+{_TABLE}{_B}+ON{_B}+{_EQUAL}(?:{_B}+AND{_B}+{_EQUAL})*"
_OPTION = f"(?:{'|'.join(OPTION_WORDS)})(?![a-z0-9_])"


def _pattern(text: str) -> re.Pattern[str]:
    """Compile a pattern that knows no letters but those of ASCII: else the sign of Kelvin would be a K."""
    return re.compile(text, re.IGNORECASE | re.ASCII)


_WHERE, _AND = _pattern(f"{_B}WHERE{_B}"), _pattern(f"{_B}AND{_B}")
_HEAD = _pattern(f"{_BS}SELECT{_B}[a-z0-9_.,*(){_BLANKS}]+{_B}FROM{_B}+{_TABLE}(?:{_JOIN}){{0,3}}{_BS}")
_ATOM, _HALF = _pattern("|".join(_FORMS)), _pattern(_HALF_FORM)
_QUALIFIER = _pattern(_NAME)
_TAIL, _HAS_OPTION = _pattern(f";|{_B}{_OPTION}"), _pattern(f"(?<![a-z0-9_]){_OPTION}")


@dataclass(frozen=True, slots=True)
class _Atom:
    """A condition; the constants in `tree` are numbered from 0. `of`: the table of a join that it says, or ''."""

    tree: Tree
    operands: tuple[Operand, ...]
    of: str


class _Half:
    """Stands for what is before the AND of a BETWEEN."""


@dataclass(frozen=True, slots=True)
class Assembled:
    """What all statements of a template ask, with any texts for their literals.

    literals: how many are the statement's; those behind are its options'.  end: where it ends within the part behind
    its last literal.
    """

    question: Question
    literals: int
    end: int


class TemplateParts:
    """The heads and atoms that were met, at most `capacity` of each: those used longest ago are forgotten first."""

    def __init__(self, capacity: int) -> None:
        self._heads: Recent[str, Question] = Recent(capacity)
        self._atoms: Recent[str, _Atom | _Half] = Recent(capacity)

    def assembled(self, key: Key) -> Assembled | None:
        """Return what a template asks, None where that is for the parser, who may refuse it.

        Cost: 4 us and 2 us an atom; 1 ms for each part that is new.
        """
        text = _marked(key)
        sides = _WHERE.split(text, 2)
        if len(sides) != 2 or text.count(_NUMBER) + text.count(_STRING) != len(key[1]):
            return None
        head = self._heads.get(sides[0]) or self._new_head(sides[0])
        if head is None:
            return None
        pieces, tail = self._without_tail(_AND.split(sides[1], _MOST_ATOMS + 1))
        atoms = self._atoms_of(pieces)
        if atoms is None or (tail and not guarded(key[0])):
            return None
        return _together(head, atoms, text[: len(text) - len(tail)])

    def _without_tail(self, pieces: list[str]) -> tuple[list[str], str]:
        """Part what stands behind the last of the pieces between ANDs from it."""
        last = pieces[-1]
        if self._atoms.get(last) is not None or (found := _TAIL.search(last)) is None:
            return pieces, ""
        return [*pieces[:-1], last[: found.start()]], last[found.start() :]

    def _atoms_of(self, pieces: Sequence[str]) -> list[_Atom] | None:
        """Return the atom of each piece, or of two where the AND between them is that of a BETWEEN."""
        atoms: list[_Atom] = []
        before = ""
        for piece in pieces:
            text = f"{before} AND {piece.strip(_BLANKS)}" if before else piece
            part = self._atoms.get(text) or self._new_atom(text)
            if part is None or len(atoms) == _MOST_ATOMS:
                return None
            before = ""
            if isinstance(part, _Atom):
                atoms.append(part)
            else:
                before = text
        return None if before else atoms

    def _new_head(self, text: str) -> Question | None:
        """Read a head and remember it; None where it is no such."""
        if not _HEAD.fullmatch(text) or _HAS_OPTION.search(text):
            return None
        question = _proven(f"{text} WHERE x = 1")
        if question is not None:
            self._heads.put(text, question)
        return question

    def _new_atom(self, text: str) -> _Atom | _Half | None:
        """Read a piece and remember it; None where it is neither an atom nor the first half of one."""
        written = text.strip(_BLANKS)
        part: _Atom | _Half | None = None
        if _HALF.fullmatch(written):
            part = _Half()
        elif _ATOM.fullmatch(written) and not _HAS_OPTION.search(written):
            part = _read_atom(written)
        if part is not None:
            self._atoms.put(text, part)
        return part


def _marked(key: Key) -> str:
    """Return a template's text with a mark in the place of each literal."""
    parts, quoted = key
    pieces = [parts[0]]
    for string, part in zip(quoted, parts[1:], strict=True):
        pieces += (_STRING if string else _NUMBER, part)
    return "".join(pieces)


def _proven(marked: str) -> Question | None:
    """Let the parser read a statement; None if it refuses it, or reads its literals as anything but constants."""
    sql = marked.translate(_FILLED)
    text = StatementText(sql, SqlError)
    try:
        question = read_question(text)
    except SqlError:
        return None
    return question if is_template(*split(sql), text.statements[0], question) else None


def _read_atom(written: str) -> _Atom | None:
    before, dot, _ = written.partition(".")
    of = before if dot and _QUALIFIER.fullmatch(before) else ""
    tables = f"t AS {of} JOIN t AS {of}_ ON {of}.x = {of}_.x" if of else "t"
    question = _proven(f"SELECT * FROM {tables} WHERE x = 1 AND {written} AND x = 1")
    sides = question.condition.sides if question is not None and isinstance(question.condition, And) else ()
    if question is None or len(sides) != 3:
        return None
    return _Atom(_shifted(sides[1], -1), question.operands[1:-1], of.lower())


def _shifted(tree: Tree, by: int) -> Tree:
    """Return a tree with its constants numbered anew."""
    if isinstance(tree, Condition):
        return Condition(tree.column, tree.operator, tuple([i + by for i in tree.operands]), tree.node)
    sides = tuple([_shifted(side, by) for side in tree.sides])
    return Or(sides, tree.node) if isinstance(tree, Or) else And(sides, tree.node)


def _together(head: Question, atoms: Sequence[_Atom], statement: str) -> Assembled | None:
    """Return a statement of which the parts are known.

    None where its functions do not take its condition, or a condition names a table that it does not join.
    """
    sides: list[Tree] = []
    operands: list[Operand] = []
    for atom in atoms:
        sides.append(_shifted(atom.tree, len(operands)))
        operands += atom.operands
    condition = sides[0] if len(sides) == 1 else And(tuple(sides), sides[0].node)
    if not {item.function for item in head.items} <= set(SUMS) and beyond_range(condition) is not None:
        return None
    if any(atom.of and all(source.called != atom.of for source in head.joined) for atom in atoms):
        return None
    question = Question(
        head.items, head.shown, head.table, condition, tuple(operands), joined=head.joined, equal=head.equal
    )
    fixed = sum([operand.kind in (LiteralKind.BOOLEAN, LiteralKind.NULL) for operand in operands])
    last = max(statement.rfind(_NUMBER), statement.rfind(_STRING))
    return Assembled(question, len(operands) - fixed, len(statement) - last - 1)
