"""What is said of a subscriber beside its question, such as by its token, written into the statement.

    SELECT id FROM offer WHERE price > 5 NOTIFY LATEST          beside it: age 31, region 'north', name 'Ann'
    SELECT id FROM offer WHERE price > 5 ATTRIBUTES (age = 31, region = 'north') NOTIFY LATEST

Of what is given the statement gets what the audience of its table asks for; a table without an audience gets nothing.
So whoever writes the question cannot say otherwise: an attribute that stands in both is refused, and so is a statement
whose table does not stand plainly behind FROM. What else is wrong with it is for the compiler to say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import Token, TokenType

from catalog.query.parameter import ParameterRefused, literal_of, written
from catalog.schema.catalog import Catalog
from catalog.schema.relation import Relation
from catalog.sql.errors import SubscriptionError, suggestion
from catalog.sql.names import quoted
from catalog.sql.notify import OptionRefused, read_options
from catalog.sql.statement_text import tokens_of
from catalog.types.column_type import ColumnType, Kind

_TEXT = ColumnType(Kind.VARCHAR)


def with_attributes(
    catalog: Catalog, sql: str, given: Mapping[str, object], holes: bool = False
) -> tuple[str, list[object]]:
    """Return the statement with its subscriber's attributes; with `holes` as `?`, and the values that belong there.

    Raises SubscriptionError: `malformed` for an attribute that the statement says, too, for one that is no scalar, and
    where the table is not to be found; `unknown_table`. Cost: that of the tokens, 0.5 us a character.
    """
    tokens = _tokens(sql)
    relation = _relation(catalog, tokens) if tokens else None
    if relation is None or not relation.audience:
        return sql, []
    begin, own = _own(tokens)
    chosen = {name: given[name] for name, _ in relation.audience if name in given}
    twice = next((name for name in own if name in chosen), None)
    if twice is not None:
        what = f"the attribute `{twice}` of the subscriber is known, and the question says it, too"
        raise SubscriptionError("malformed", what, hint=f"Leave `{twice}` out of ATTRIBUTES.")
    if not chosen:
        return sql, []
    pairs = ", ".join([f"{quoted(name)} = {'?' if holes else _literal(name, v)}" for name, v in chosen.items()])
    at = tokens[-1].start if begin else tokens[-1].end + 1
    inserted = f", {pairs}" if begin else f" ATTRIBUTES ({pairs})"
    return sql[:at] + inserted + sql[at:], list(chosen.values()) if holes else []


def _tokens(sql: str) -> list[Token]:
    """Return the tokens of a statement without its options, none where the compiler refuses it for these."""
    try:
        tokens = tokens_of(sql[: read_options(sql).end])
    except (TokenError, OptionRefused):
        return []
    while tokens and tokens[-1].token_type is TokenType.SEMICOLON:
        tokens.pop()
    return tokens


def _relation(catalog: Catalog, tokens: Sequence[Token]) -> Relation:
    """Return the table or view behind the first FROM, which stands in no parentheses."""
    froms = [i for i, token in enumerate(tokens[:-1]) if token.token_type is TokenType.FROM]
    at = froms[0] + 1 if froms else 0
    depth = sum({"(": 1, ")": -1}.get(token.text, 0) for token in tokens[:at])
    if not at or depth or "." in [token.text for token in tokens[at : at + 2]] or tokens[at].text == "(":
        what = "the table is not told by one name behind FROM, and attributes of the subscriber are known"
        raise SubscriptionError("malformed", what, hint="Write SELECT ... FROM table, without parentheses around it.")
    name = _name(tokens[at])
    relation = catalog.named(name)
    if relation is None:
        hint = suggestion(name, catalog.names, "table")
        raise SubscriptionError("unknown_table", f"there is no table `{name}`", hint=hint)
    return relation


def _own(tokens: Sequence[Token]) -> tuple[int, list[str]]:
    """Return where the statement's own ATTRIBUTES stands, 0 where it has none, and the names in it."""
    for i in range(len(tokens) - 2, 0, -1):
        if tokens[i].text.upper() == "ATTRIBUTES" and tokens[i + 1].token_type is TokenType.L_PAREN:
            names = [j for j in range(i + 2, len(tokens)) if tokens[j - 1].text in ("(", ",")]
            return (i, [_name(tokens[j]) for j in names]) if tokens[-1].text == ")" else (0, [])
    return 0, []


def _name(token: Token) -> str:
    return token.text if token.token_type is TokenType.IDENTIFIER else token.text.lower()


def _literal(name: str, value: object) -> str:
    try:
        return written(literal_of(value), _TEXT)
    except ParameterRefused as refused:
        raise SubscriptionError("malformed", f"attribute `{name}`: {refused}", hint="Give one plain value.") from None
