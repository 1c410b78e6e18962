"""The options of a CREATE TABLE or CREATE STREAM as they are written: WITH ('topic'='stock', 'format'='json').

    topic      the Kafka topic that feeds it; by default its name
    format     how its records are written; `json` by default
    absent     what a member that a row lacks means

and those of the format (`catalog/schema/format_options.py`). Which others there are, and what they may say, tables and
streams know (`table_options.py`, `stream_options.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.tokenizer_core import Token

from catalog.schema.format_options import OptionFault, known_options, read_format_options
from catalog.schema.relation import Column
from catalog.sql.errors import SqlError, near
from catalog.sql.repair import near_word
from catalog.sql.statement_text import Span, StatementText

_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")


@dataclass(frozen=True, slots=True)
class Option:
    """One option: its name in lower case, its value, and where both stand."""

    name: str
    value: str
    name_span: Span | None
    value_span: Span | None


@dataclass(frozen=True, slots=True)
class FeedOptions:
    """How a table or stream is fed, defaults filled in. `topic_span` is None if the topic was not named.

    `others` are those of its format, as (name, value).
    """

    topic: str
    format: str
    absent: str
    others: tuple[tuple[str, str], ...]
    topic_span: Span | None


@dataclass(frozen=True, slots=True)
class GivenOptions:
    """The options of one statement, by name; `known` are those that are no format's, `place` is what it declares."""

    source: StatementText
    options: dict[str, Option]
    known: Sequence[str]
    place: exp.Expr

    @classmethod
    def of(cls, statement: exp.Create, source: StatementText, known: Sequence[str], place: exp.Expr) -> GivenOptions:
        """Read the WITH (...) of a statement. Raises CatalogError: `conflict`, `syntax`, `unsupported`."""
        properties = statement.args.get("properties")
        given: dict[str, Option] = {}
        for item in properties.expressions if properties is not None else []:
            option = _option(item, statement, source, known)
            if option.name in given:
                what = f"option `{option.name}` is given twice"
                raise source.refusal("conflict", what, option.name_span, "Give it once.")
            given[option.name] = option
        return cls(source, given, known, place)

    def get(self, name: str) -> Option | None:
        """Return an option, None where it is not given."""
        return self.options.get(name)

    def topic(self, default: str) -> tuple[str, Span | None]:
        """Return the topic, and where it is named; `default` if it is not. Raises CatalogError, `malformed`."""
        topic = self.get("topic")
        name = default if topic is None else topic.value
        if not is_topic_name(name):
            what = f"{name[:60]!r} is no name of a Kafka topic (1 to 249 of A-Z a-z 0-9 . _ -)"
            hint = "Name one: WITH ('topic'='...')."
            raise self.source.refusal("malformed", what, self.place if topic is None else topic.value_span, hint)
        return name, None if topic is None else topic.value_span

    def one_of(self, name: str, known: Sequence[str]) -> str:
        """Return an option's value; the first known one if it is not given. Raises CatalogError, `unsupported`."""
        option = self.get(name)
        if option is None:
            return known[0]
        value = option.value.lower()
        if value not in known:
            what = f"{option.name} {option.value[:60]!r} is not known"
            meant = near_word(value, tuple(known))
            hint = (f"Did you mean {meant}? " if meant else "") + f"Known: {', '.join(known)}."
            raise self.source.refusal("unsupported", what, option.value_span, hint)
        return value

    def of_format(self, format: str, columns: Sequence[Column]) -> tuple[tuple[str, str], ...]:
        """Return the options that are the format's own, as (name, value). Raises CatalogError."""
        values = {name: option.value for name, option in self.options.items() if name not in self.known}
        try:
            return read_format_options(format, values, columns)
        except OptionFault as fault:
            if fault.option is None:
                raise self.source.refusal(fault.code, fault.what, self.place, fault.hint) from None
            option = self.options[fault.option]
            if fault.hint:
                raise self.source.refusal(fault.code, fault.what, option.value_span, fault.hint) from None
            hint = self._near(option.name, (*self.known, *known_options(format)))
            raise self.source.refusal(fault.code, fault.what, option.name_span, hint) from None

    def fault(self, name: str, code: str, what: str, hint: str) -> SqlError:
        """Return the error that says `what` about an option, or about what is declared where it is not given."""
        option = self.get(name)
        return self.source.refusal(code, what, self.place if option is None else option.value_span, hint)

    def _near(self, name: str, known: Iterable[str]) -> str:
        """Return what an unknown option may have meant."""
        meant = near(name, tuple(known))
        return (f"Did you mean `{meant[0]}`? " if meant else "") + f"Known options: {', '.join(known)}."


def is_topic_name(name: str) -> bool:
    """Whether Kafka takes it as the name of a topic."""
    return bool(_TOPIC.fullmatch(name)) and name not in (".", "..")


def _option(item: exp.Expr, statement: exp.Create, source: StatementText, known: Sequence[str]) -> Option:
    """Return the option of one property. sqlglot has a class of its own for an unquoted `format`."""
    if isinstance(item, exp.FileFormatProperty):
        name, value = "format", item.this
    elif isinstance(item, exp.Property) and type(item) is exp.Property:
        name, value = item.name.lower(), item.args.get("value")
    else:
        place = _stray(statement, source) or item
        hint = f"Leave it out. Known options: WITH ({', '.join(repr(o) + '=...' for o in known)})."
        what = f"a {statement.args['kind'].lower()} takes nothing but options in WITH (...)"
        raise source.refusal("unsupported", what, place, hint)
    if not (isinstance(value, exp.Literal) and value.is_string):
        what = f"the value of option `{name}` is no string"
        placed = isinstance(value, exp.Expr) and source.span(value) is not None
        at = value if placed else _value_of(name, source) or _stray(statement, source)
        raise source.refusal("syntax", what, at, f"Write it in single quotes: '{name}'='...'.")
    span = source.span(value)
    return Option(name, value.name, _before(source, span) or span, span)


def _stray(statement: exp.Create, source: StatementText) -> Token | None:
    """Return the first word of a statement that belongs neither to the columns nor to WITH (...)."""
    tokens = [t for t in source.tokens if t.start >= source.first_token(statement).start]
    depth, closed = 0, False
    for at, token in enumerate(tokens):
        word = token.text.upper()
        if at == 1 and word != statement.kind:
            return token
        depth += {"(": 1, ")": -1}.get(word, 0)
        if closed and depth == 0 and word not in ("WITH", ")", ";"):
            return token
        closed = closed or (word == ")" and depth == 0)
    return None


def _value_of(name: str, source: StatementText) -> Token | None:
    """Return where the value of an option stands, where the tree does not say it."""
    tokens = source.tokens
    places = [at for at in range(len(tokens) - 2) if tokens[at].text.lower() == name and tokens[at + 1].text == "="]
    return tokens[places[0] + 2] if places else source.keyword(("WITH",))


def _before(source: StatementText, span: Span | None) -> Span | None:
    """Return where the name before `= value` stands."""
    before = [t for t in source.tokens if span is not None and t.end < span[0]][-2:]
    return (before[0].start, before[0].end + 1) if len(before) == 2 else None
