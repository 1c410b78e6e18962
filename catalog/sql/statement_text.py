"""A text of SQL with its tokens: parses it by sqlglot, and says of every node of the tree where it stands.

The one place that knows sqlglot's parser. Its base dialect (strings in single quotes, identifiers in double
quotes, no backslash escapes) is taken as it is, but nothing is let through that it only guesses at: a CREATE or
DROP that sqlglot would keep as an opaque "command" is a syntax error here, and the readers of the trees allow the
nodes and arguments that they know and refuse every other.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import cached_property
from typing import ClassVar, TypeVar

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ParseError, TokenError
from sqlglot.parser import Parser, binary_range_parser
from sqlglot.tokenizer_core import Token, TokenType
from sqlglot.tokens import Tokenizer

from catalog.sql.errors import SqlError
from catalog.sql.mistakes import double_quote
from catalog.sql.names import folded
from catalog.sql.own_stack import on_own_stack

Span = tuple[int, int]
"""Half-open range of characters in the text."""

E = TypeVar("E", bound=exp.Expr)

_WORDS = (exp.Boolean, exp.Null, exp.Placeholder, exp.Star, exp.CurrentDate, exp.CurrentTimestamp)
"""Nodes of one token whose place sqlglot does not keep."""
_MISSING = re.compile(r"Required keyword: '\w+' missing|Expected|Expecting (?!\W)")
_EXPECTING = re.compile(r"Expecting (\W)$")
_LEXEME = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/|['\"]|/\*", re.DOTALL)
_EARLY = re.compile(r"('(?:[^']|'')*')\w[^'\n]*")
"""A string that a quote ends within a word."""
_OPEN = {
    "'": ("string", "Close it by a single quote; a quote inside a string is written twice: 'O''Hare'."),
    '"': ("quoted name", "Close it by a double quote; a string stands in single quotes."),
    "/*": ("comment", "Close it by */; comments may be nested."),
}


class _PlacedParseError(ParseError):
    """sqlglot's error, and the token at which it was raised."""

    def __init__(self, description: str, token: Token | None, after: bool) -> None:
        super().__init__(description, [{"description": description}])
        self.token = token
        self.after = after


class _Parser(Parser):
    """sqlglot's parser; errors and words keep their token, and no CREATE or DROP becomes an opaque command."""

    def expression(self, instance: E, token: Token | None = None, comments: list[str] | None = None) -> E:
        if token is None and isinstance(instance, _WORDS):
            token = self._prev
        return super().expression(instance, token=token, comments=comments)

    def raise_error(self, message: str, token: Token | None = None) -> None:
        current = token or self._curr or None
        raise _PlacedParseError(message, current or self._prev or None, after=not current)

    def _parse_latest(self) -> exp.Anonymous:
        """LATEST(x BY t), an aggregate of views, which is LATEST(x, t) as well."""
        arguments = self._parse_csv(self._parse_assignment)
        if self._match_text_seq("BY"):
            arguments += self._parse_csv(self._parse_assignment)
        return self.expression(exp.Anonymous(this="LATEST", expressions=arguments))

    def _parse_bound(self) -> exp.Expr:
        """LOWER(c) or UPPER(c) of a column, which is a column itself: that of the bounds of a range."""
        function = self._tokens[self._index - 2]
        argument = self._parse_assignment()
        if not isinstance(argument, exp.Column) or not isinstance(argument.this, exp.Identifier):
            return self.expression(exp.Anonymous(this=function.text, expressions=[argument] if argument else []))
        name = exp.to_identifier(f"{function.text.lower()}({folded(argument.this)})", quoted=True)
        end = self._curr.end if self._curr else argument.this.meta.get("end", function.end)
        name.meta.update(start=function.start, end=end, line=function.line, col=function.col)
        argument.set("this", name)
        return argument

    def _at_attributes(self) -> bool:
        """Whether ATTRIBUTES ( comes next, which is no alias with names of columns."""
        following = self._next
        return self._curr.text.upper() == "ATTRIBUTES" and bool(following) and following.token_type is TokenType.L_PAREN

    def _parse_table_alias(self, alias_tokens: Collection[TokenType] | None = None) -> exp.TableAlias | None:
        return None if self._at_attributes() else super()._parse_table_alias(alias_tokens)

    def _parse_query_modifiers(self, this: exp.Expr | None) -> exp.Expr | None:  # type: ignore[override]
        """Read what may stand behind a SELECT, ATTRIBUTES (a = constant, ...) last."""
        read: exp.Expr | None = super()._parse_query_modifiers(this)
        if isinstance(read, exp.Select) and self._at_attributes():
            self._advance(2)
            read.set("attributes", self._parse_csv(self._parse_assignment))
            self._match_r_paren()
        return read

    FUNCTION_PARSERS: ClassVar = {
        **Parser.FUNCTION_PARSERS, "LATEST": _parse_latest, "LOWER": _parse_bound, "UPPER": _parse_bound
    }  # fmt: skip
    RANGE_PARSERS: ClassVar = {**Parser.RANGE_PARSERS, TokenType.DAMP: binary_range_parser(exp.ArrayOverlaps)}

    def _parse_as_command(self, start: Token) -> exp.Command:
        if start.token_type in (TokenType.CREATE, TokenType.DROP):
            self.raise_error("Unexpected token")
        return super()._parse_as_command(start)

    def _warn_unsupported(self) -> None:
        """Stay silent: whoever reads the tree refuses a `Command`."""


class _Tokenizer(Tokenizer):
    """sqlglot's tokens, and PostgreSQL's operators of ranges: `&&` it knows, and `<@` is never `<`."""

    KEYWORDS: ClassVar = {**Tokenizer.KEYWORDS, "@>": TokenType.AT_GT, "<@": TokenType.LT_AT}


class _Sql(Dialect):
    """The SQL of catalogs and subscriptions. NULL stands behind all values in an order, as in PostgreSQL."""

    Tokenizer = _Tokenizer
    Parser = _Parser
    NULL_ORDERING = "nulls_are_large"


_DIALECT = _Sql()


def tokens_of(sql: str) -> list[Token]:
    """Return the tokens of a text; comments are none. Raises sqlglot's TokenError. Cost: 0.5 us a character."""
    return _DIALECT.tokenize(sql)


class StatementText:
    """One text of SQL: its trees, its tokens, and errors that underline a place in it.

    `error` is the class that `refusal` makes (CatalogError or SubscriptionError). `unparsed` becomes true where the
    parser stops at a token.
    """

    def __init__(self, sql: str, error: type[SqlError]) -> None:
        self.sql = sql
        self._error = error
        self.unparsed = False
        try:
            sql.encode()
        except UnicodeEncodeError as e:
            what = f"the text is no valid Unicode: {sql[e.start]!r} at character {e.start + 1} is half of a pair"
            raise self.refusal("malformed", what, hint="Write the whole character, or leave it out.") from None

    def refusal(self, code: str, what: str, place: object = None, hint: str | None = None) -> SqlError:
        """Return the error that says `what` about `place`: a node, a span, a token, or None for nowhere."""
        return self._error(code, what, self.sql, self.span(place), hint)

    @cached_property
    def tokens(self) -> list[Token]:
        """The text's tokens. Raises the text's error with code `syntax`."""
        try:
            return tokens_of(self.sql)
        except TokenError:
            raise self._not_closed() from None

    @cached_property
    def statements(self) -> list[exp.Expr]:
        """The trees of the text; empty statements are left out.

        Raises the text's error with code `syntax`. Cost: 0.3-0.5 ms for a subscription of 80 characters.
        """
        return self.parsed(self.tokens)

    def parsed(self, tokens: list[Token]) -> list[exp.Expr]:
        """Return the trees of some of the text's statements, given their tokens. Raises and costs as `statements`."""
        try:
            trees = on_own_stack(lambda: _DIALECT.parser().parse(tokens, self.sql))
        except _PlacedParseError as e:
            self.unparsed = True
            raise self._syntax(e) from None
        except RecursionError:
            what = "the statement is nested too deeply"
            raise self.refusal("syntax", what, hint="Take out parentheses that are not needed.") from None
        except Exception as e:
            # sqlglot's parser falls over some malformed texts instead of refusing them, in ways that nobody can list
            raise self.refusal("syntax", f"the text cannot be parsed: {e}"[:300]) from None
        return [t for t in trees if t is not None and not isinstance(t, exp.Semicolon)]

    def span(self, place: object) -> Span | None:
        """Return where `place` stands, or None if that is not known."""
        match place:
            case (int(start), int(end)):
                return start, end
            case Token():
                return place.start, place.end + 1
            case exp.Expr():
                return self._span_of_nodes(place.walk())
        return None

    def token_after(self, offset: int) -> Token | None:
        """Return the first token that begins at or after `offset`."""
        return next((t for t in self.tokens if t.start >= offset), None)

    def token_before(self, offset: int) -> Token | None:
        """Return the last token that begins before `offset`."""
        return next((t for t in reversed(self.tokens) if t.start < offset), None)

    def name_of(self, token: Token) -> str | None:
        """Return the name that a token is where a name has to stand, folded unless it is quoted; None if it is none."""
        if token.token_type is TokenType.IDENTIFIER:
            return token.text
        return token.text.lower() if token.token_type in _Parser.ID_VAR_TOKENS else None

    def keyword(self, words: Iterable[str], start: int = 0, end: int | None = None) -> Token | None:
        """Return the first unquoted token in [start, end) that is one of `words` (upper case); outer levels first."""
        wanted, depth, best = frozenset(words), 0, None
        for token in self.tokens:
            depth += {"(": 1, ")": -1}.get(token.text, 0)
            inside = token.start >= start and (end is None or token.end < end)
            if inside and self._is_word(token) and token.text.upper() in wanted and (best is None or depth < best[0]):
                best = depth, token
        return None if best is None else best[1]

    def first_token(self, statement: exp.Expr) -> Token:
        """Return the first token of one of the text's statements."""
        span = self.span(statement)
        first = self.tokens[0]
        previous = None
        for token in self.tokens:
            if span is not None and token.start >= span[0]:
                break
            if previous is not None and previous.text == ";":
                first = token
            previous = token
        if previous is not None and previous.text == ";" and span is not None:
            first = self.token_after(span[0]) or first
        return first

    def _is_word(self, token: Token) -> bool:
        return self.sql[token.start] not in "'\""

    def _span_of_nodes(self, nodes: Iterable[exp.Expr]) -> Span | None:
        metas = [n.meta for n in nodes if "start" in n.meta]
        if not metas:
            return None
        return min(m["start"] for m in metas), max(m["end"] for m in metas) + 1

    def _syntax(self, error: _PlacedParseError) -> SqlError:
        description, token = str(error), error.token
        if token is None:
            return self.refusal("syntax", "the text ends too early")
        shown = f"`{self.sql[token.start : token.end + 1][:60]}`"
        if closing := _EXPECTING.match(description):
            at = f"after {shown}" if error.after else f"before {shown}"
            return self.refusal("syntax", f"`{closing[1]}` is missing {at}", token)
        if error.after:
            return self.refusal("syntax", f"something is missing after {shown}: the text ends too early", token)
        if _MISSING.match(description):
            return self.refusal("syntax", f"something is missing before {shown}, or it does not belong here", token)
        return self.refusal("syntax", f"{shown} was not expected here", token)

    def _not_closed(self) -> SqlError:
        for match in _LEXEME.finditer(self.sql):
            early = _EARLY.match(self.sql, match.start())
            if early is not None and match.end() == early.end(1):
                place = (match.end() - 1, match.end())
                return self.refusal("syntax", "a quote ends the string here", place, double_quote(early[0]))
            if match[0] in _OPEN:
                kind, hint = _OPEN[match[0]]
                what = f"the {kind} that begins here is not closed"
                return self.refusal("syntax", what, (match.start(), match.start() + len(match[0])), hint)
        return self.refusal("syntax", "the text cannot be split into tokens")
