"""Audiences: whoever asks a table that chooses its subscribers says who it is, and is asked for it.

    'audience'='age:for_age, region:for_region', 'null.range'='everything'

    ... WHERE price > 5 ATTRIBUTES (age = 31, region = 'north')
    ... WHERE price > 5 AND for_age @> 31 AND (for_region = 'north' OR for_region IS NULL)

The second is what is compiled, so a publication whose audience leaves the subscriber out is to shards and edges a row
that does not meet a filter: it is in no answer, no count, no digest and no look, and its comings and goings are told to
nobody whom it leaves out. That holds for filters, and for sums over them. What is answered from more than the rows that
meet a condition (first rows, MIN and MAX over their ranges, DISTINCT, joins) is refused.

An attribute is one value of the kind that its column is of. Of a range column it lies within: a text that looks like a
range is none, or `'empty'`, which every range contains, would open all doors. NULL, to SQL, is within no range and
equals nothing: a subscriber of which an attribute is NULL is told what leaves it open, by NULL in a column.
"""

from __future__ import annotations

from dataclasses import replace

from catalog.query.condition_tree import And, Condition, Or, Tree, conditions_of
from catalog.query.output import SUMS
from catalog.query.question import Attribute, Question
from catalog.query.statement_names import Name
from catalog.schema.relation import Relation
from catalog.sql.errors import SqlError, suggestion
from catalog.sql.names import quoted
from catalog.sql.statement_text import StatementText
from catalog.types.range_operand import WITHIN


def with_audience(relation: Relation, question: Question, text: StatementText) -> Question:
    """Return a question about one table in which the attributes are conditions.

    Raises the text's error: `unsupported`, `malformed`, `unknown_column`. Cost: nothing without an audience.
    """
    if not relation.audience:
        if question.attributes:
            what = f"`{relation.name}` has no audience, and asks for no ATTRIBUTES"
            place = question.attributes[0].name.span
            raise text.refusal("malformed", what, place, "Leave them out; conditions stand behind WHERE.")
        return question
    _check_kind(relation, question, text)
    _check_conditions(relation, question, text)
    given = _given(relation, question, text)
    sides = [_side(relation, given[attribute], column) for attribute, column in relation.audience]
    if question.condition is not None:
        sides.insert(0, question.condition)
    condition = sides[0] if len(sides) == 1 else And(tuple(sides), sides[0].node)
    return replace(question, condition=condition, attributes=())


def refuse_audience(text: StatementText, what: str, relation: Relation, place: object) -> SqlError:
    """Return the refusal of a question that could tell of rows which are not for the subscriber."""
    hint = (
        f"It is asked for rows, SELECT columns FROM {quoted(relation.name)} [WHERE ...] {_example(relation)}, or for "
        "COUNT, SUM and AVG in the place of columns."
    )
    said = f"{what} `{relation.name}`, whose rows have an audience, is not supported"
    return text.refusal("unsupported", said, place, hint)


def _check_kind(relation: Relation, question: Question, text: StatementText) -> None:
    if question.limit is not None:
        place = text.keyword(("ORDER BY",)) or question.table.span
        raise refuse_audience(text, "ORDER BY and LIMIT of", relation, place)
    for item in question.items:
        if item.function not in SUMS:
            said = {"count_distinct": "COUNT(DISTINCT) of"}.get(item.function, f"{item.function.upper()} of")
            word = "DISTINCT" if "distinct" in item.function else item.function.upper()
            raise refuse_audience(text, said, relation, text.keyword((word,)) or question.table.span)


def _check_conditions(relation: Relation, question: Question, text: StatementText) -> None:
    """Refuse conditions of the columns that say for whom a row is: attributes say the same, and all of them."""
    columns = {column: attribute for attribute, column in relation.audience}
    derived = {column.name: column.of for column in relation.columns if column.of}
    for condition in conditions_of(question.condition):
        column = derived.get(condition.column.text, condition.column.text)
        if column in columns:
            what = f"`{column}` says for whom a row of `{relation.name}` is, and a condition of it is not supported"
            hint = f"Leave it out; what you are is said by ATTRIBUTES ({columns[column]} = ...)."
            raise text.refusal("unsupported", what, condition.column.span, hint)


def _given(relation: Relation, question: Question, text: StatementText) -> dict[str, Attribute]:
    """Return the attributes by name: each of the audience once, and no other."""
    names, given = [attribute for attribute, _ in relation.audience], dict[str, Attribute]()
    for attribute in question.attributes:
        name = attribute.name.text
        if name not in names:
            hint = suggestion(name, names, "attribute")
            what = f"the audience of `{relation.name}` asks for no attribute `{name}`"
            raise text.refusal("malformed", what, attribute.name.span, hint)
        if name in given:
            raise text.refusal("malformed", f"attribute `{name}` is given twice", attribute.name.span, "Give it once.")
        given[name] = attribute
    missing = [f"`{name}`" for name in names if name not in given]
    if missing:
        what = f"the audience of `{relation.name}` asks for {' and '.join(missing)} of a subscriber"
        hint = f"Write {_example(relation)} behind the WHERE."
        raise text.refusal("malformed", what, question.table.span, hint)
    return given


def _side(relation: Relation, attribute: Attribute, name: str) -> Tree:
    """Return the condition that a row is for whom has the attribute."""
    column, said = relation.column(name), Name(name, attribute.name.span)
    if column.type.is_range:
        return Condition(said, WITHIN, (attribute.operand,), attribute.node)
    equal = Condition(said, "=", (attribute.operand,), attribute.node)
    if relation.null_range == "nothing" or not column.nullable:
        return equal
    return Or((equal, Condition(said, "null", (), attribute.node)), attribute.node)


def _example(relation: Relation) -> str:
    return f"ATTRIBUTES ({', '.join(f'{attribute} = ...' for attribute, _ in relation.audience)})"
