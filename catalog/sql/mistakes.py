"""What the words of a refused subscription may have been meant as: habits of other databases, and slips of the pen.

Each rule looks at the tokens of a statement that was refused already, and names one thing that is no part of a
subscription, where it stands, and what to write instead. The first that finds its own wins; `RULES` is their order:
what is written in a wrong way goes before what does not exist here. None of them makes a statement right or wrong.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from sqlglot.tokenizer_core import Token, TokenType

from catalog.sql.names import quoted

Place = tuple[int, int]

PARAMETER_HINT = 'Write the constant, or register {"template": ..., "params": [...]} with ? for each.'
Rule = Callable[["Words"], "Mistake | None"]
COMPARISONS = frozenset({"=", "==", "<", "<=", ">", ">=", "<>", "!="})
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_BEFORE_CONSTANTS = COMPARISONS | {"BETWEEN", "LIKE", "IN", "IS"}
_AGGREGATES = ("MIN", "MAX", "COUNT", "SUM", "AVG")
_PARAMETER = re.compile(r"[$#]\{\w*\}|\{\{\s*\w+\s*\}\}|\{\w*\}|\$\w+(?![\w$])|@\w+|:[A-Za-z_]\w*|\?\d+|%s\b|%\(\w+\)s")
_MOMENT = re.compile(
    r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?:[T ](\d{1,2}):(\d{2})(?::(\d{2})(\.\d{1,6})?)?)?(Z|[+-]\d\d:?\d\d)?(?![\w:])"
)
_DAY = re.compile(r"(?:\d{4}([-/.])\d{1,2}\1\d{1,2}|\d{1,2}([-/.])\d{1,2}\2\d{4})(?!\w)")
_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\w)|\d+(?:_\d+)+(?!\w)|\d+(?:\.\d+)?[%$€£]")
_PREFIXED = re.compile(r"(?:[EeNnXxBbRr]|[Uu]&|_\w+)'(?:[^']|'')*'")
_DOLLARS = re.compile(r"\$(\w*)\$(.*?)\$\1\$", re.DOTALL)
_CURLY = re.compile(r"[“”„«‘’‚‹´]([^“”„«»‘’‚‹›´'\"]*)[“”«»‘’‹›´]")
_OTHER_QUOTES = re.compile(r"`([^`]*)`|\[([A-Za-z_][^\]]*)\]")


class Mistake(NamedTuple):
    """What is wrong at [start, end) of the text, and what would be right; `code` where it is another than before."""

    what: str
    place: Place
    hint: str
    code: str = ""


class Words:
    """The tokens of a statement, and their words in upper case; what is quoted is as it is written."""

    def __init__(self, sql: str, tokens: list[Token]) -> None:
        self.sql = sql
        self.tokens = tokens
        self.words = [w if w[0] in "'\"" else w.upper() for w in (sql[t.start : t.end + 1] for t in tokens)]

    def __len__(self) -> int:
        return len(self.tokens)

    def word(self, at: int) -> str:
        """Return a word; empty beyond the ends."""
        return self.words[at] if 0 <= at < len(self.words) else ""

    def written(self, first: int, last: int) -> str:
        """Return the text from one token to another."""
        return self.sql[self.tokens[first].start : self.tokens[last].end + 1]

    def place(self, first: int, last: int) -> Place:
        """Return where tokens stand, from one to another."""
        return self.tokens[first].start, self.tokens[last].end + 1

    def is_name(self, at: int) -> bool:
        """Whether a token may be a name: a plain word, or one in double quotes."""
        return 0 <= at < len(self) and self.tokens[at].token_type in (TokenType.VAR, TokenType.IDENTIFIER)

    def touches(self, at: int) -> bool:
        """Whether a token stands right behind the one before it."""
        return 0 < at < len(self) and self.tokens[at - 1].end + 1 == self.tokens[at].start

    def find(self, *wanted: str) -> Iterator[int]:
        """Yield where the words stand one behind the other."""
        for at in range(len(self) - len(wanted) + 1):
            if all(self.words[at + i] == word for i, word in enumerate(wanted)):
                yield at

    def matches(self, pattern: re.Pattern[str]) -> Iterator[tuple[int, re.Match[str]]]:
        """Yield each token from whose beginning the text matches; nothing within what is quoted."""
        for at, token in enumerate(self.tokens):
            if (match := pattern.match(self.sql, token.start)) is not None:
                yield at, match


def _moment(text: Words) -> Mistake | None:
    for at, match in text.matches(_MOMENT):
        year, _, month, day, hour, minute, second, _, _ = match.groups()
        try:
            dt.datetime(int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0))
        except ValueError:
            continue
        literal = f"DATE '{year}-{int(month):02}-{int(day):02}'"
        if hour is not None:
            time = f"{int(hour):02}:{minute}:{second or '00'}{match[8] or ''}"
            literal = f"TIMESTAMP '{year}-{int(month):02}-{int(day):02} {time}'"
        what = f"`{match[0]}` without quotes is no date but numbers"
        typed = text.word(at - 1) in ("DATE", "TIMESTAMP")
        start = text.tokens[at - 1].start if typed else match.start()
        zone = ", in the zone of the data, without naming it" if match[9] else ""
        return Mistake(what, (start, match.end()), f"Write {literal}{zone}.")
    for _, match in text.matches(_DAY):
        what = f"`{match[0]}` without quotes is no date but numbers"
        return Mistake(what, match.span(), "Write year, month and day as DATE '2026-03-01'.")
    return None


def _parameter(text: Words) -> Mistake | None:
    for at, match in text.matches(_PARAMETER):
        if match[0][0] == ":" and text.touches(at) and text.word(at - 1)[-1:] in "0123456789:":
            continue
        what = f"the parameter `{match[0]}`, which is left unbound, is not supported"
        return Mistake(what, match.span(), PARAMETER_HINT)
    return None


def odd_string(text: Words) -> Mistake | None:
    """Find a string that ends too early, and one in quotes of another language."""
    for at, token in enumerate(text.tokens):
        if token.token_type is TokenType.STRING and text.touches(at + 1) and text.word(at + 1)[0].isalnum():
            place = token.end, token.end + 1
            return Mistake("a quote ends the string here", place, double_quote(text.written(at, at + 1)))
    for _, match in text.matches(_PREFIXED):
        what = "a string has no letters before its quotes, and no escapes"
        return Mistake(what, match.span(), "Write the characters themselves, in single quotes alone: 'abc'.")
    for _, match in text.matches(_DOLLARS):
        return Mistake("dollars are no quotes here", match.span(), f"Write it in single quotes: {string(match[2])}.")
    return None


def odd_quotes(text: Words) -> Mistake | None:
    """Find quotes that are none here."""
    for at, match in text.matches(_CURLY):
        return _requoted(text, at, match.span(), "these are no quotes, but marks of a word processor", match[1])
    for at, match in text.matches(_OTHER_QUOTES):
        kind = "backquotes" if match[0][0] == "`" else "brackets"
        return _requoted(text, at, match.span(), f"{kind} quote nothing here", match[1] or match[2] or "")
    return None


def _requoted(text: Words, at: int, place: Place, what: str, content: str) -> Mistake:
    if is_constant_place(text, at):
        return Mistake(what, place, f"Write a string in single quotes: {string(content)}.")
    return Mistake(what, place, f"Write a name plainly, or in double quotes: {as_name(content)}.")


def as_name(content: str) -> str:
    """Return a text as the name that it would be without quotes, or in double quotes where it needs them."""
    return quoted(content.lower() if re.fullmatch(r"\w+", content) else content)


def is_constant_place(text: Words, at: int) -> bool:
    """Whether a constant is expected at a token: behind a comparison, or as a bound of BETWEEN."""
    bound = text.word(at - 1) == "AND" and any(text.word(at - i) == "BETWEEN" for i in (3, 4, 5))
    return bound or text.word(at - 1) in _BEFORE_CONSTANTS


def string(content: str) -> str:
    """Return a text as a string of SQL, long ones cut."""
    return "'" + content[:40].replace("'", "''") + "'"


def double_quote(written: str) -> str:
    """Return the hint for a text that a quote ends too early.

    >>> double_quote("'O'Hare")
    "A quote inside a string is written twice: 'O''Hare'."
    """
    if written.startswith("''"):
        return f"Write one quote on each side: {string(written.strip(chr(39)))}."
    whole = written.replace("\\'", "'")
    inner = whole[1:].rstrip("'").replace("''", "'")
    return f"A quote inside a string is written twice: {string(inner)}."


def _odd_number(text: Words) -> Mistake | None:
    for _, match in text.matches(_NUMBER):
        plain = re.sub(r"[^\d.]", "", match[0])
        return Mistake(f"`{match[0]}` is no number", match.span(), f"Write digits alone, with a point: {plain}.")
    return None


def _chain(text: Words) -> Mistake | None:
    """`1 < risk < 3`, and `risk > 1 AND < 3`."""
    for at in range(1, len(text)):
        begin = at - 2 if text.word(at - 1) == "." else at
        if text.is_name(at) and text.word(begin - 1) in _MIRRORED and text.word(at + 1) in _MIRRORED:
            first, last = _constant(text, begin - 2, -1), _constant(text, at + 2, 1)
            if first is not None and last is not None:
                name, low, high = (text.written(*span) for span in ((begin, at), (first, begin - 2), (at + 2, last)))
                hint = f"Write {name} {_MIRRORED[text.word(begin - 1)]} {low} AND {name} {text.word(at + 1)} {high}."
                return Mistake("a comparison has two sides", text.place(first, last), hint)
        if text.word(at) == "AND" and text.word(at + 1) in COMPARISONS:
            beside = COMPARISONS | {"AND"}
            names = [i for i in range(at) if text.is_name(i) and {text.word(i - 1), text.word(i + 1)} & beside]
            if names:
                hint = f"Write the column again: AND {text.written(names[-1], names[-1])} {text.word(at + 1)} ..."
                return Mistake("a comparison has two sides", text.place(at + 1, at + 1), hint)
    return None


def _constant(text: Words, at: int, step: int) -> int | None:
    """Return the other end of the number or string that begins at a token and goes in a direction."""
    at += step > 0 and text.word(at) == "-"
    at += step > 0 and text.word(at) == "."
    if not 0 <= at < len(text) or text.tokens[at].token_type not in (TokenType.NUMBER, TokenType.STRING):
        return None
    return at - 1 if step < 0 and text.word(at - 1) == "-" else at


def bare_aggregate(text: Words) -> Mistake | None:
    """Find an aggregate without parentheses, or with nothing in them."""
    end = next(text.find("FROM"), len(text))
    if text.word(0) in _AGGREGATES and text.word(1) == "(":
        return Mistake("SELECT is missing", text.place(0, 0), "Write SELECT before it.")
    for at in range(end):
        name = text.word(at)
        if name not in _AGGREGATES or text.word(at - 1) in ("(", ".", "AS"):
            continue
        star = "COUNT(*)" if name == "COUNT" else f"{name}(column)"
        if text.word(at + 1) == "(" and text.word(at + 2) == ")":
            return Mistake(f"{name} of nothing is not supported", text.place(at, at + 2), f"Write {star}.")
        if text.word(at + 1) == "*" or (at + 1 < end and text.is_name(at + 1)):
            written = f"{name}({text.written(at + 1, at + 1)})"
            return Mistake("parentheses are missing", text.place(at, at + 1), f"Write {written}.")
        if text.word(at + 1) in (",", "FROM", ""):
            return Mistake(f"{name} without a column is not supported", text.place(at, at), f"Write {star}.")
    return None


_TOLD = "every subscription is told its answer, and then each change of it."
_NOW = "a subscription asks for what holds now, and for each change of it."
_HABITS: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (("EMIT", "CHANGES"), "EMIT", f"Leave it out: {_TOLD}"),
    (("EMIT", "FINAL"), "EMIT", f"Leave it out: {_TOLD}"),
    (("SUBSCRIBE", "TO"), "SUBSCRIBE", f"Write the SELECT alone: {_TOLD}"),
    (("SUBSCRIBE",), "SUBSCRIBE", f"Write the SELECT alone: {_TOLD}"),
    (("TAIL",), "TAIL", f"Write a SELECT: {_TOLD}"),
    (("DECLARE",), "DECLARE", f"Write the SELECT alone: {_TOLD}"),
    (("CREATE",), "CREATE", "Write the SELECT alone, it is the subscription; tables are declared in the catalog."),
    (("EXPLAIN",), "EXPLAIN", "Write the SELECT alone; `tidewire explain` shows what it is compiled to."),
    (("AS", "OF"), "AS OF", f"Leave it out: {_NOW}"),
    (("FOR", "SYSTEM_TIME"), "FOR SYSTEM_TIME", f"Leave it out: {_NOW}"),
    (("FOR", "SYSTEM", "TIME"), "FOR SYSTEM TIME", f"Leave it out: {_NOW}"),
    (("SELECT", "TOP"), "TOP", "Leave it out; the least value is MIN(column), the greatest MAX(column)."),
    (("SELECT", "STREAM"), "STREAM", f"Leave it out: {_TOLD}"),
    (("TUMBLE",), "a window of time", "Compare a DATE or TIMESTAMP column with constants."),
    (("TUMBLING",), "a window of time", "Compare a DATE or TIMESTAMP column with constants."),
    (("HOPPING",), "a window of time", "Compare a DATE or TIMESTAMP column with constants."),
    (("HOP",), "a window of time", "Compare a DATE or TIMESTAMP column with constants."),
)
_FIRST_WORDS = ("SUBSCRIBE", "TAIL", "DECLARE", "CREATE", "EXPLAIN")


def _habit(text: Words) -> Mistake | None:
    for words, name, hint in _HABITS:
        for at in text.find(*words):
            begins = at == 0 or text.word(at - 1) == ";"
            called = words[0] not in ("TUMBLE", "HOP") or text.word(at + 1) == "("
            if (begins or words[0] not in _FIRST_WORDS) and called:
                last = at + len(words) - 1
                first = last if words[0] == "SELECT" else at
                return Mistake(f"{name} is not supported", text.place(first, last), hint)
    for at in text.find("WITH", "("):
        if at > 0:
            hint = "Leave it out: a question takes no hints."
            return Mistake("WITH (...) is not supported", text.place(at, at), hint)
    for at in text.find("FROM", "("):
        if text.is_name(at + 2) and text.word(at + 3) == ")":
            hint = f"Write the table's name alone: FROM {text.written(at + 2, at + 2)}."
            return Mistake("parentheses around a table are not supported", text.place(at + 1, at + 3), hint)
    return None


def _hyphen(text: Words) -> Mistake | None:
    """A name with a hyphen, or a string without quotes that has one."""
    for at in range(len(text) - 2):
        if not (text.is_name(at) and text.word(at + 1) == "-" and text.touches(at + 1) and text.touches(at + 2)):
            continue
        last, content = at + 2, text.written(at, at + 2)
        hint = f'If `{content}` is a name, write it in double quotes: "{content}".'
        if is_constant_place(text, at):
            hint = f"If `{content}` is a string, write it in single quotes: {string(content)}."
        if text.is_name(last) or is_constant_place(text, at):
            return Mistake("a subtraction is not supported", text.place(at, last), hint)
    return None


def _several_words(text: Words) -> Mistake | None:
    """A string of several words without quotes."""
    for at in range(len(text) - 1):
        last = at
        while text.is_name(last + 1) and text.word(last + 1)[0] != '"':
            last += 1
        if last > at and text.is_name(at) and text.word(at)[0] != '"' and is_constant_place(text, at):
            content = text.written(at, last)
            hint = f"If `{content[:60]}` is a string, write it in single quotes: {string(content)}."
            return Mistake("a constant has no quotes, and several words", text.place(at, last), hint)
    return None


def _comment(text: Words) -> Mistake | None:
    for at in range(1, len(text)):
        slashes = text.word(at) == "/" and text.word(at + 1) == "/" and text.touches(at + 1)
        if text.word(at) == "#" or slashes:
            hint = "A comment begins with --, or stands between /* and */."
            return Mistake("this is no comment", text.place(at, at + slashes), hint)
    return None


RULES: tuple[Rule, ...] = (
    odd_string, _moment, _parameter, odd_quotes, _odd_number, _habit, _chain, bare_aggregate, _hyphen, _comment,
)  # fmt: skip
"""For every refused statement."""
LAST_RULES: tuple[Rule, ...] = (_several_words,)
"""For what no repair of one word (`catalog/sql/repair.py`) makes a statement."""


def find_mistake(text: Words, rules: tuple[Rule, ...] = RULES) -> Mistake | None:
    """Return what the first rule finds that finds anything. Cost: 20 us a rule for 20 tokens."""
    for rule in rules:
        if (found := rule(text)) is not None:
            return found
    return None
