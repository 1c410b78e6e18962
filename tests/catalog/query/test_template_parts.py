import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.query import template_parts
from catalog.query.compiler import Compiled, Compiler
from catalog.query.template import split
from catalog.query.template_parts import TemplateParts
from catalog.sql.errors import SubscriptionError
from tests.catalog.joined import BARE
from tests.catalog.joined import CATALOG as JOINED
from tests.catalog.sample import CATALOG, compiler
from tests.effort import deep_examples

HEAD = "SELECT symbol FROM stock WHERE "


def assembled(sql: str):
    return TemplateParts(64).assembled(split(sql)[0])


def told(compile_, sql: str) -> Compiled | tuple[str, str]:
    try:
        return compile_(sql)
    except SubscriptionError as error:
        return error.code, str(error)


def parsed(sql: str) -> Compiled | tuple[str, str]:
    """What the parser makes of a statement, whatever else there is."""
    return told(lambda text: compiler()._compile_whole(text, None, []), sql)


blanks = st.sampled_from([" ", " ", " ", " ", "  ", "\n", "\t", "\r\n ", "\x0b", "\u00a0", "/**/", " -- x\n", ""])
few = st.sampled_from(["", "", " "])
names = st.sampled_from(
    ["volume", "volume", "price", "risk", "exchange", "open", "day", "at", "ratio", "wide", "small", "Volume",
     "symbol",
     '"Lot Size"', '"a AND b"', "stock.volume", "s.price", "nope", "ttl", "notify", "date", "case", "not", "\u212aey",
     "interval", "where", "and", "select", "between", "\x00"]
)  # fmt: skip
numbers = st.sampled_from(
    ["0", "5", "12.25", "1e3", "007", "99999999999999999999", ".5", "5.", "1.2.3", "-3", "- 4", "--5"]
)
texts = st.sampled_from(
    ["'a'", "''", "'it''s'", "'a%'", "' AND '", "'x WHERE y'", "'2026-03-01'", "'-- '", "'\u00d6'", "'\x01'"]
)
words = st.sampled_from(
    ["TRUE", "false", "NULL", "DATE '2026-03-01'", "TIMESTAMP '2026-03-01 12:00:00'", "x", "?", "(5)"]
)
constants = st.one_of(numbers, numbers, texts, words)
spelled = st.sampled_from([str, str, str.lower])


@st.composite
def atoms(draw, names=names) -> str:
    name, gap, tight, say = draw(names), draw(blanks), draw(few), draw(spelled)
    one, other = draw(constants), draw(constants)
    negated = draw(st.sampled_from(["", "", f"NOT{draw(blanks)}"]))
    written = draw(
        st.sampled_from(
            [
                *[f"{name}{tight}{sign}{tight}{one}" for sign in ("=", "<", "<=", ">", ">=", "<>", "!=")],
                f"{name}{gap}{say(negated)}{say('BETWEEN')}{gap}{one}{gap}{say('AND')}{draw(blanks)}{other}",
                f"{name}{gap}{say(negated)}{say('IN')}{tight}({tight}{one}{tight},{tight}{other}{tight})",
                f"{name}{gap}{say('IN')} ({one})",
                f"{name}{gap}{say(negated)}{say('LIKE')}{gap}{draw(texts)}",
                f"{name}{gap}{say('IS')}{gap}{say(negated)}{say('NULL')}",
            ]
        )
    )
    odd = [
        f"{one} = {name}",
        f"NOT {written}",
        f"({written})",
        f"{name} LIKE 'a!%' ESCAPE '!'",
        f"starts_with({name}, 'a')",
    ]
    return draw(st.sampled_from([written] * 14 + [*odd, name, f"{written} OR open", f"{name} IS UNKNOWN"]))


PAIRED = "SELECT q.id FROM quote q JOIN filing f ON"
joined_heads = st.sampled_from(
    ["SELECT q.id, f.kind FROM quote q JOIN filing AS f ON q.symbol = f.symbol",
     "SELECT * FROM quote q INNER JOIN quote r ON q.id=r.volume AND q.symbol = R.symbol",
     "select quote.price from quote join filing on quote.symbol = filing.symbol join sector s on s.symbol = kind",
     "SELECT q.* FROM quote AS q JOIN filing f ON q.symbol = f.symbol and q.id = nope",
     f"{PAIRED} q.symbol = f.id", "SELECT q.id FROM quote q JOIN filing f", f"{PAIRED} (q.id = f.id)",
     "SELECT MIN(q.id) FROM quote q JOIN filing f ON q.id = f.id", f"{PAIRED} q.id = f.id NOTIFY LATEST",
     "SELECT q.id FROM quote q LEFT JOIN filing f ON q.id = f.id", "SELECT q.id FROM quote q, filing f",
     "SELECT q.id FROM quote q JOIN office f ON q.symbol = f.town", "SELECT price FROM quote",
     "SELECT q.id FROM quote t JOIN filing f ON t.id = f.id"]
)  # fmt: skip
joined_names = st.sampled_from(
    ["q.volume", "q.volume", "q.price", "Q.symbol", "f.kind", "f.weight", "f.open", "quote.id", "filing.weight",
     "price", "kind", "symbol", "r.price", "q.nope", "t.id", "x.x", "left.id", "q.q.id", "q .volume", 's."Rank"',
     "case.id", "_.x"]
)  # fmt: skip
heads = st.sampled_from(
    ["SELECT symbol FROM stock", "SELECT symbol, price FROM stock", "select * from stock",
     "SELECT COUNT(*) FROM stock",
     "SELECT SUM(price), AVG(risk) FROM stock s", "SELECT s.symbol FROM stock AS s", "SELECT MIN(price) FROM stock",
     "SELECT DISTINCT sector FROM stock", "SELECT COUNT(DISTINCT sector) c FROM stock",
     "SELECT symbol FROM stock NOTIFY",
     "SELECT nope FROM stock", "SELECT symbol FROM nope", 'SELECT "Lot Size" FROM stock',
     "SELECT symbol FROM stock, gauge",
     "SELECT 5 FROM stock", "SELECT symbol FROM stock WHERE open AND", "SELECT (symbol) FROM stock",
     "SELECT FROM stock",
     "SELECT symbol AS ttl FROM stock", "SELECT symbol FROM (SELECT * FROM stock)", "SELECT symbol FROM stock left"]
)  # fmt: skip
tails = st.sampled_from(
    ["", "", "", "", ";", " ;", " NOTIFY LATEST", " notify latest ttl 5;", " TTL 2 HOURS DELIVER PACKED",
     " SNAPSHOT NONE",
     " TTL", " NOTIFY LATEST -- x", "; NOTIFY LATEST", " ORDER BY symbol LIMIT 5", " AND", " -- x", "; SELECT 1",
     " NOTIFY MIN CHANGE 5 %", " NOTIFY LATEST NOTIFY LATEST", " LIMIT 5", " GROUP BY symbol", "NOTIFY LATEST"]
)  # fmt: skip
joints = st.sampled_from([" AND ", " AND ", " AND ", " and\n", "\tAND ", " OR ", " AND NOT ", "AND", " AND AND "])


@st.composite
def statements(draw, heads=heads, names=names) -> str:
    conditions = draw(st.lists(atoms(names), min_size=1, max_size=4))
    joint = draw(joints)
    return f"{draw(heads)}{draw(blanks)}{draw(spelled)('WHERE')}{draw(blanks)}{joint.join(conditions)}{draw(tails)}"


SHARED = Compiler(CATALOG, max_templates=64)
"""It forgets what it knows all the time."""
SHARED_JOINED, SHARED_BARE = Compiler(JOINED, max_templates=64), Compiler(BARE, max_templates=64)


@pytest.mark.deep
@given(st.lists(statements(), min_size=20, max_size=20))
@settings(deadline=None, max_examples=deep_examples(500, few=4))
def test_put_together_is_as_parsed(some) -> None:
    for sql in some:
        expected = parsed(sql)
        assert told(SHARED.compile, sql) == expected
        assert told(SHARED.compile, sql) == expected


@pytest.mark.deep
@given(st.lists(statements(joined_heads, joined_names), min_size=20, max_size=20))
@settings(deadline=None, max_examples=deep_examples(300, few=3))
def test_joins_put_together_are_as_parsed(some) -> None:
    for sql in some:
        expected = told(lambda text: Compiler(JOINED)._compile_whole(text, None, []), sql)
        for _ in range(2):
            assert told(SHARED_JOINED.compile, sql) == expected
        missing = told(lambda text: Compiler(BARE)._compile_whole(text, None, []), sql)
        assert told(SHARED_BARE.compile, sql) == missing
        assert isinstance(expected, tuple) == isinstance(missing, tuple) or missing[0] == "no_cell"


@pytest.mark.parametrize(
    "sql",
    [
        f"{HEAD}volume = 5",
        f"{HEAD}volume = -5 AND exchange IN ('a', 'b') AND price BETWEEN 1 AND 2.5 AND sector LIKE 'x%'",
        f"{HEAD}risk IS NULL AND open = TRUE AND day >= DATE '2026-03-01' AND volume NOT BETWEEN 1 AND 2",
        f"{HEAD}exchange = ' AND ' AND sector <> ' WHERE ' NOTIFY LATEST TTL 5",
        "select\n*\nfrom stock where volume<5 and price>=1;",
        "SELECT COUNT(*), SUM(s.price) AS total FROM stock AS s WHERE volume < 5 AND risk IS NOT NULL",
        "SELECT MIN(price) FROM stock WHERE exchange = 'a' AND volume BETWEEN 1 AND 2",
    ],
)
def test_what_is_put_together(sql) -> None:
    found = assembled(sql)
    assert found is not None
    assert found.question.constants
    assert told(compiler().compile, sql) == parsed(sql)


@pytest.mark.parametrize(
    "condition",
    [
        "volume = 5 OR open = TRUE",
        "NOT volume = 5",
        "(volume = 5)",
        "open",
        "volume = 5 -- AND open",
        "volume = 5 /* AND */ AND price = 1",
        '"a AND b" = 5',
        "stock.volume = 5",
        "5 = volume",
        "volume BETWEEN 1 AND",
        "volume BETWEEN 1 AND price = 2",
        "volume BETWEEN 1",
        "volume = 5 AND ttl = 5",
        "volume = \x00 AND price = 1",
        "\u212aey = 5",
        "volume = 5\x0bAND price = 1",
        "volume = 5 WHERE price = 1",
        "volume = 5 ORDER BY symbol LIMIT 1",
        "case = 5",
        " AND ".join(["volume = 5"] * 65),
    ],
)
def test_what_is_left_to_the_parser(condition) -> None:
    assert assembled(HEAD + condition) is None


JOIN = "SELECT q.id FROM quote q JOIN filing AS f ON q.symbol = f.symbol AND f.day=q.day WHERE "


@pytest.mark.parametrize("condition", ["q.price BETWEEN 1 AND 2 AND F.kind IN ('a', 'b')", "kind = 'a' AND Q.id >= -5"])
def test_what_is_put_together_of_a_join(condition) -> None:
    found = assembled(JOIN + condition)
    assert found is not None and len(found.question.joined) == len(found.question.equal) == 2
    assert told(Compiler(JOINED).compile, JOIN + condition) == told(
        lambda text: Compiler(JOINED)._compile_whole(text, None, []), JOIN + condition
    )


@pytest.mark.parametrize(
    "condition", ["g.price = 1", "q.id = f.id", "q.id = f.id AND q.price = 1", "q.a.b = 1", "q.left.x = 1"]
)
def test_what_is_left_to_the_parser_of_a_join(condition) -> None:
    assert assembled(JOIN + condition) is None


def test_functions_that_take_a_range_are_left_where_there_is_more() -> None:
    assert assembled("SELECT MIN(price) FROM stock WHERE volume IN (1, 2)") is None
    assert assembled("SELECT SUM(price) FROM stock WHERE volume IN (1, 2)") is not None


def test_constants_are_numbered_through() -> None:
    found = assembled(f"{HEAD}volume BETWEEN 1 AND 2 AND open = TRUE AND price IN (3, NULL, 4) TTL 5")
    assert found is not None
    assert [operand.text for operand in found.question.operands if not operand.text.isdigit()] == ["TRUE", "NULL"]
    assert [name.text for name in found.question.compared] == ["volume"] * 2 + ["open"] + ["price"] * 3
    assert (found.literals, found.end) == (4, 1)


def test_the_parser_is_asked_once_a_part(monkeypatch) -> None:
    asked: list[str] = []
    proven = template_parts._proven
    monkeypatch.setattr(template_parts, "_proven", lambda text: asked.append(text) or proven(text))
    parts = TemplateParts(64)
    atoms_ = ["volume = 1", "price BETWEEN 1 AND 2", "exchange = 'a'", "risk IS NULL"]
    for i in range(4):
        for j in range(4):
            assert parts.assembled(split(f"{HEAD}{atoms_[i]} AND {atoms_[j]}")[0]) is not None
    assert len(asked) == 1 + 4


def test_parts_are_bounded() -> None:
    parts = TemplateParts(4)
    for i in range(20):
        sql = f"SELECT symbol AS a{i} FROM stock WHERE volume = 1 AND price IN ({', '.join(['1'] * (i + 1))})"
        assert parts.assembled(split(sql)[0]) is not None
    assert (len(parts._heads), len(parts._atoms)) == (4, 4)


def test_what_is_put_together_is_remembered_when_it_comes_again() -> None:
    one = compiler()
    sql = f"{HEAD}volume = 5 AND price > 1"
    for times in (0, 1, 1):
        one.compile(sql)
        assert len(one._shortcuts) == times
    other = compiler()
    other.compile(sql)
    assert other.shortcut(split(sql)[0]) is not None and len(other._shortcuts) == 1
