"""A prepared template: its constants, the holes `?` between them, and the SQL that it says with its parameters.

What is shown to a subscriber, in acknowledgements and snapshots, is a statement that asks the same: compiled as SQL it
gives the region that template and parameters gave. So in a hole stands

    NULL                     without the signs before it: SQL knows no -NULL
    a string, a boolean      only where no minus stands before the hole
    any                      between blanks where it would else become one word with what is before or behind
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlglot.tokenizer_core import Token, TokenType

from catalog.query.operand import Operand
from catalog.query.parameter import Literal, ParameterRefused, literal_of, written
from catalog.query.plan import Plan
from catalog.sql.notify import Options
from catalog.sql.statement_text import StatementText
from catalog.types.column_type import ColumnType, Kind
from catalog.types.literal import LiteralKind

_A = {LiteralKind.DIGITS: "a string", LiteralKind.BOOLEAN: "a boolean"}


@dataclass(frozen=True, slots=True)
class Hole:
    """Where a parameter stands: constant number `operand`, compared with a column of `type`.

    before: the text since the last hole.  bare: the same with blanks for the signs of this constant.  behind: the next
    character.  plain: whether any value may stand there as it is.
    """

    operand: int
    type: ColumnType
    before: str
    bare: str
    behind: str
    plain: bool = field(init=False)

    def __post_init__(self) -> None:
        touched = self.before[-1] == "-" or _is_word(self.before[-1]) or _is_word(self.behind)
        object.__setattr__(self, "plain", not self.signed and not touched)

    @property
    def signed(self) -> bool:
        """Whether a minus stands before it."""
        return self.before != self.bare

    def fitted(self, value: str, is_null: bool) -> list[str]:
        """Return the text before, and a value, parted by blanks from what it would else become one word with."""
        before = self.bare if is_null else self.before
        apart = " " if _are_one(before[-1], value[0]) else ""
        return [before, apart, value, " " if _are_one(value[-1], self.behind) else ""]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A template; `operands` are all of its constants, `tail` is the text behind the last hole."""

    text: StatementText
    plan: Plan
    operands: tuple[Operand, ...]
    holes: tuple[Hole, ...]
    tail: str
    options: Options

    @classmethod
    def of(
        cls, text: StatementText, plan: Plan, operands: Sequence[Operand], types: Sequence[ColumnType], options: Options
    ) -> Prepared:
        """Find the holes; `types` are those of the columns that the operands are compared with."""
        holes, done = [], 0
        for i, (operand, type_) in enumerate(zip(operands, types, strict=True)):
            if operand.kind is None and operand.span is not None:
                start, end = operand.span
                before, signs = text.sql[done:start], _signs_before(text.tokens, start)
                bare = "".join([" " if done + k in signs else character for k, character in enumerate(before)])
                holes.append(Hole(i, type_, before, bare, text.sql[end : end + 1]))
                done = end
        return cls(text, plan, tuple(operands), tuple(holes), text.sql[done:], options)

    def bound(self, parameters: Sequence[object]) -> list[Literal]:
        """Return all constants, with the parameters in their places. Cost: 0.5 us each.

        Raises the text's error: `malformed` for a wrong number of parameters, or one that is no scalar;
        `type_mismatch` for one that has no sign behind a minus.
        """
        if len(parameters) != len(self.holes):
            what = f"the template has {len(self.holes)} `?`, and {len(parameters)} values were given"
            raise self.text.refusal("malformed", what, hint="Give one value for each `?`, in the same order.")
        literals: list[Literal] = [(operand.kind or LiteralKind.NULL, operand.text) for operand in self.operands]
        for hole, parameter in zip(self.holes, parameters, strict=True):
            try:
                literal = literals[hole.operand] = literal_of(parameter)
            except ParameterRefused as e:
                raise self.text.refusal("malformed", str(e), self.operands[hole.operand].span) from None
            if not hole.plain and hole.signed and not _may_be_signed(literal[0], hole.type):
                what = f"a minus stands before a parameter that is {_A[literal[0]]}"
                hint = "Only numbers have a sign: leave it out, or give a number."
                raise self.text.refusal("type_mismatch", what, self.operands[hole.operand].span, hint)
        return literals

    def filled(self, literals: Sequence[Literal]) -> str:
        """Return the template with what `bound` gave written as SQL. Cost: 1 us a hole."""
        pieces: list[str] = []
        for hole in self.holes:
            literal = literals[hole.operand]
            value = written(literal, hole.type)
            pieces += (hole.before, value) if hole.plain else hole.fitted(value, literal[0] is LiteralKind.NULL)
        return "".join([*pieces, self.tail])


def _may_be_signed(kind: LiteralKind, type_: ColumnType) -> bool:
    return kind in (LiteralKind.NUMBER, LiteralKind.NULL) or (kind is LiteralKind.DIGITS and type_.kind is Kind.DECIMAL)


def _signs_before(tokens: Sequence[Token], place: int) -> set[int]:
    """Return where the minus signs of the constant at `place` stand."""
    at = next(i for i, token in enumerate(tokens) if token.start >= place)
    signs = set()
    while at and tokens[at - 1].token_type in (TokenType.DASH, TokenType.L_PAREN):
        at -= 1
        if tokens[at].token_type is TokenType.DASH:
            signs.add(tokens[at].start)
    return signs


def _are_one(before: str, behind: str) -> bool:
    """Whether two characters of SQL might be within one token."""
    return before == behind == "-" or (_is_word(before) and _is_word(behind))


def _is_word(character: str) -> bool:
    return character.isalnum() or character in ("_", "'", ".")
