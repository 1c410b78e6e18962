from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from catalog.sql.errors import SubscriptionError
from connectors.log.cut import Place
from connectors.log.publication_log import PublicationLog
from operators.control import Progress
from tests.connectors.small_log import Published, SmallLog, small_log
from tests.effort import deep_examples
from tests.oracle.naive_database import NaiveDatabase, Question
from tidewire.history.backtest import Backtest, cuts_of, tables_of

CATALOG = apply_ddl(Catalog(), "CREATE TABLE stock (id BIGINT PRIMARY KEY, price BIGINT)", 3)
RELATION = CATALOG.relations["stock"]
QUESTIONS = [
    Question((("min", "price"),), (), "id", 0, 2),
    Question((("count", None), ("sum", "price"))),
    Question((("distinct", "price"),), (), "id", 1, None),
    Question((("count_distinct", "price"), ("count", None))),
]
Change = tuple[int, int | None]


def value_of(question: Question) -> bytes:
    return msgspec.json.encode({"sql": question.sql("stock")})


def change(offset: int, key: int, price: int | None, partition: int = 0) -> Published:
    value = None if price is None else json.dumps({"id": key, "price": price}).encode()
    return Published("stock", partition, offset, json.dumps({"id": key}).encode(), value, 1_000_000 * offset)


def filled(folder: Path, versions: list[list[Change]]) -> SmallLog:
    log, offset = small_log(folder), 0
    for version in versions:
        log.commit([change(offset + i, *one) for i, one in enumerate(version)])
        offset += len(version)
    return log


def take(database: NaiveDatabase, one: Change) -> None:
    key, price = one
    database.rows.pop(key, None) if price is None else database.rows.update({key: {"id": key, "price": price}})


def shown(question: Question, answer: object) -> object:
    if question.outputs[0][0] == "distinct":
        return set(answer)  # type: ignore[call-overload]
    values = [int(value) if value is not None else None for value in answer]  # type: ignore[attr-defined]
    return values[0] if len(values) == 1 else values


VERSIONS = st.lists(
    st.lists(st.tuples(st.integers(0, 3), st.none() | st.integers(0, 4)), min_size=1, max_size=5),
    min_size=1,
    max_size=4,
)


@pytest.mark.deep
@settings(max_examples=deep_examples(25), deadline=None)
@given(VERSIONS, st.sampled_from(QUESTIONS))
def test_every_version_and_every_delivery_against_recomputation(
    tmp_path_factory: pytest.TempPathFactory, versions: list[list[Change]], question: Question
) -> None:
    opened = PublicationLog(filled(tmp_path_factory.mktemp("log"), versions).uri)
    start = NaiveDatabase()
    for as_of in range(len(versions)):
        for one in versions[as_of]:
            take(start, one)
        database = NaiveDatabase(dict(start.rows))
        changed, before = 0, database.exact(question)
        for upto in range(as_of, len(versions)):
            for one in versions[upto] if upto > as_of else []:
                take(database, one)
                now = database.exact(question)
                changed, before = changed + (now != before), now
            test = Backtest(
                opened, [RELATION], value_of(question), opened.at_version(as_of), opened.at_version(upto), []
            )
            told = list(test.run())
            answer = set(test.answer) if question.outputs[0][0] == "distinct" else test.answer  # type: ignore[call-overload]
            assert answer == shown(question, database.exact(question))
            assert [one.n for one in told] == list(range(1, changed + 2))
            assert test.publications == sum(map(len, versions[as_of + 1 : upto + 1]))


def test_a_delivery_names_its_publication(tmp_path: Path) -> None:
    opened = PublicationLog(filled(tmp_path, [[(1, 5)], [(1, 5), (2, 4)], [(2, None)]]).uri)
    test = Backtest(opened, [RELATION], value_of(QUESTIONS[0]), opened.at_version(0), opened.newest.cut, [])
    snapshot, first, second = test.run()
    assert (snapshot.kind, snapshot.new, snapshot.topic) == ("snapshot", 5, None)
    assert (first.old, first.new, first.offset, first.time) == (5, 4, 2, "1970-01-01T00:00:02.000Z")
    assert (second.old, second.new, second.partition, second.offset) == (4, 5, 0, 3)


def test_batches_are_cut_where_the_engine_cut_them(tmp_path: Path) -> None:
    """NOTIFY LATEST tells once a batch, whatever the log's versions are."""
    opened = PublicationLog(filled(tmp_path, [[(1, 9)], [(1, 8)], [(1, 7), (1, 6), (1, 5), (1, 4)]]).uri)
    progress = [
        Progress(epoch, batch, 0, "", {"stock": {"0": start}}, {"stock": {"0": end}})
        for epoch, batch, start, end in ((0, 3, 1, 3), (0, 4, 3, 4), (1, 0, 0, 4), (1, 1, 4, 6))
    ]
    assert [cut["stock"] for cut in cuts_of(opened, ["stock"], progress)] == [
        Place(0, {0: 1}), Place(0, {0: 1}), Place(0, {0: 3}), Place(0, {0: 4}), Place(0, {0: 6}),
    ]  # fmt: skip
    value = msgspec.json.encode({"sql": QUESTIONS[0].sql("stock"), "notify": "LATEST"})
    test = Backtest(opened, [RELATION], value, {}, opened.newest.cut, progress)
    assert [(one.new, one.changes) for one in test.run()] == [(None, 1), (9, 1), (7, 2), (6, 1), (4, 2)]


def test_a_question_that_would_be_refused() -> None:
    assert tables_of(CATALOG, value_of(QUESTIONS[0])) == (RELATION,)
    assert tables_of(CATALOG, b'{"template":"SELECT MIN(price) FROM stock WHERE id = ?","params":[3]}') == (RELATION,)
    with pytest.raises(SubscriptionError, match="stok"):
        tables_of(CATALOG, b'{"sql":"SELECT MIN(price) FROM stok"}')
    with pytest.raises(SubscriptionError, match="exactly one of `sql` and `template`"):
        tables_of(CATALOG, b"{}")
