from __future__ import annotations

import json

from catalog.ddl.statements import apply_ddl
from catalog.query.compiler import Compiler
from catalog.query.given_attributes import with_attributes
from catalog.schema.catalog import Catalog
from connectors.topics import Topics
from tests.soak.market import AFFECTED, QUOTE, TRADE, Asker, Market
from tests.soak.population import ttl_of
from tests.stack.boards import BOARDS
from tests.stack.notes import NOTE
from tests.stack.offers import OFFER
from tests.stack.ticks import MINUTES, TICK


def test_a_market_has_every_kind_of_change_and_a_seed_the_same_ones() -> None:
    market, again = Market(1), Market(1)
    records = [market.next() for _ in range(3000)]
    assert records == [again.next() for _ in range(3000)]
    assert {record.topic for record in records} == {"trade", "quote", "note", "offer", "tick"}
    assert any(record.value is None for record in records)


def test_questions_have_every_family_and_policy() -> None:
    asker = Asker(1, Topics(), 1000)
    asked = [json.dumps(asker.ask()) for _ in range(3000)]
    words = ["MIN(", "MAX(", "COUNT(", "SUM(", "AVG(", "DISTINCT", "LATEST", "MIN CHANGE", "EVERY CHANGE", "quote"]
    words += ["SELECT *", "TRANSITIONS", "ENTER", "SNAPSHOT NONE", "JOIN", " OR ", "NOT (", "LIMIT", "FROM board"]
    words += ["ATTRIBUTES", "FROM minutes", "NOTIFY FINAL"]
    for word in words:
        assert any(word in text for text in asked), word
    assert any(ttl_of(json.loads(text)) for text in asked)


def test_no_question_is_refused() -> None:
    tables = f"{TRADE}; {QUOTE}; {NOTE}; {OFFER}; {TICK}"
    catalog = apply_ddl(Catalog(), f"{tables}; CREATE JOIN trade, note; CREATE JOIN note; {BOARDS}; {MINUTES}", 0)
    asker, compiler = Asker(3, Topics(), 1000), Compiler(catalog)
    for _ in range(1000):
        asked = asker.ask()
        sql, beside = asked["sql"], asked.get("attributes")
        compiler.compile(with_attributes(catalog, sql, beside)[0] if beside else sql)


def test_a_publication_meets_about_as_many_questions_however_many_there_are() -> None:
    for count in (1000, 100_000):
        asker = Asker(2, Topics(), count)
        widths = [_width(asker._between("risk", 100.0, asker._part)) / 100 for _ in range(2000)]
        assert 0.9 * AFFECTED < count * sum(widths) / len(widths) < 1.1 * AFFECTED


def _width(between: str) -> float:
    words = between.split()
    return float(words[4]) - float(words[2])
