"""What a cell sends reaches those who ask for its joins: once for each record, with the place where that stands."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.reply import Rows, encode_row
from overlay.subscriptions import filter_book
from tests.effort import deep_examples
from tests.oracle.naive_cell import Part
from tests.overlay.join_bench import ASK, JoinBench, filing, quote

THERE = (filing("f1", "A", "8-K"), filing("f2", "A", "10-K"), quote("q1", "A", 400))
SIX = [["6.00", "10-K"], ["6.00", "8-K"]]
SEVEN = [["7.00", "10-K"], ["7.00", "8-K"]]
ITSELF = "SELECT a.price, b.price FROM quote a JOIN quote b ON a.symbol = b.symbol"
RECORDS = (
    (quote("q1", "A", 600),),
    (quote("q1", "A", 700),),
    (filing("f1", "A", "8-K"),),
    (filing("f3", None, "8-K"),),
    (("filing", "f1", None), ("filing", "f2", None)),
)


def moves(lines: list[dict]) -> list[tuple]:
    places = [(line["at"].get("topic"), line["at"].get("partition"), line["at"].get("offset")) for line in lines]
    return [
        (line["n"], line["removed"], line["added"], *place) for line, place in zip(lines, places, strict=True)
    ]  # fmt: skip


@pytest.mark.parametrize("form", ["", " DELIVER PACKED", " DELIVER PUSH"])
def test_each_form_tells_each_record_once_with_the_topic_of_its_table(form: str) -> None:
    bench = JoinBench(1, *THERE)
    bench.start(ASK + form)
    bench.take()
    bench.records(2, *RECORDS)
    assert moves(bench.told()) == [
        (2, [], SIX, "quotes", 3, 100),
        (3, SIX, SEVEN, "quotes", 3, 101),
        (4, SEVEN, [], "filings", 3, 104),
    ]
    view = bench.edge.find(b"a")
    assert view is not None and (view.n, view.rows, view.columns) == (4, 0, ("price", "kind"))
    bench.edge.check()
    bench.again()


def test_latest_tells_what_is_left_of_a_batch_with_its_last_record() -> None:
    bench = JoinBench(1, *THERE)
    bench.start(ASK + " NOTIFY LATEST")
    bench.take()
    bench.records(2, *RECORDS[:4], (filing("f2", "B", "10-K"),))
    (line,) = bench.told()
    assert moves([line]) == [(2, [], [["7.00", "8-K"]], "filings", 3, 104)] and line["changes"] == 3


def test_a_change_byte_by_byte() -> None:
    bench = JoinBench(1, *THERE)
    bench.start()
    bench.take()
    bench.records(2, (filing("f1", "B", "8-K"),), (quote("q2", "B", 501),))
    change, progress = (record.value for record in bench.take()["deliveries"])
    assert change == (
        b'{"id":"a","kind":"change","version":0,"n":2,"removed":[],"added":[["5.01","8-K"]],'
        b'"at":{"epoch":5,"batch":2,"topic":"quotes","partition":3,"offset":101}}'
    )
    assert progress == b'{"kind":"progress","epoch":5,"batch":2,"time":"t2"}'


def test_a_row_that_is_joined_with_itself_changes_on_both_sides_at_once() -> None:
    bench = JoinBench(1, quote("q1", "A", 100), quote("q2", "A", 200))
    bench.edge.subscription(0, b"a", b'{"sql":"%s"}' % ITSELF.encode())
    assert bench.edge.cells_wanted() == {("quote",)}, "a table joined with itself has a cell of its own"


def test_several_joins_of_one_cell_follow_one_timeline() -> None:
    other = "SELECT f.id FROM filing f JOIN quote q ON f.symbol = q.symbol AND f.id = q.id"
    bench = JoinBench(1, filing("x", "A", "8-K"), quote("y", "A", 700))
    bench.ask(0, "a", ASK)
    bench.ask(1, "b", other)
    bench.take()
    bench.answer(1, [(0, Rows((encode_row((700, "8-K")),))), (1, Rows(()))])
    bench.end(1)
    bench.take()
    for value in bench.chunks(2, (quote("x", "A", 900),), joins=(ASK, other)):
        bench.give(value)
    bench.end(2)
    assert {line["id"]: line["added"] for line in bench.told()} == {"a": [["9.00", "8-K"]], "b": [["x"]]}


def test_what_is_sent_of_another_join_alone_is_passed_over() -> None:
    bench = JoinBench(1, *THERE)
    bench.start()
    bench.take()
    other = "SELECT f.id FROM filing f JOIN quote q ON f.symbol = q.symbol AND f.id = q.id"
    bench.records(2, (quote("f1", "A", 900),), joins=(other,))
    assert bench.told() == [] and bench.edge.losses() == []


def test_rows_without_a_column_that_a_filter_needs_are_a_loss() -> None:
    bench = JoinBench(1, *THERE)
    bench.start()
    bench.take()
    few = "SELECT f.kind FROM quote q JOIN filing f ON q.symbol = f.symbol"
    bench.records(2, (quote("q2", "A", 900),), joins=(few,))
    (loss,) = bench.edge.losses()
    assert "lack ['1.price']" in loss and bench.told() == []
    assert bench.edge.counters.losses == 1


def test_chunks_of_a_cell_that_do_not_fit_together_are_a_loss() -> None:
    bench = JoinBench(1, *THERE)
    bench.start()
    bench.take()
    filings, quotes, _ = bench.chunks(2, (quote("q1", "A", 900),))
    more = JoinBench(1, *THERE, quote("q2", "B", 1), quote("q3", "B", 1))
    *_, changes = more.chunks(2, (quote("q3", "A", 900),))
    for value in (filings, quotes, changes):
        bench.give(value)
    bench.end(2)
    (loss,) = bench.edge.losses()
    assert "a change names a row that was not sent" in loss and bench.told() == []


QUESTIONS = [
    ASK,
    ASK + " NOTIFY LATEST",
    ASK + " AND f.kind = '8-K' DELIVER PUSH",
    "SELECT f.kind FROM quote q JOIN filing f ON q.symbol = f.symbol DELIVER PACKED",
    "SELECT f.id, q.id FROM quote q JOIN filing f ON q.symbol = f.symbol WHERE f.id = 'f1'",
]


def told_in_steps(seed: int, most: int) -> dict[str, list[dict]]:
    """Return what each hears of a batch, whose images are looked at so many at a time."""
    source = Random(seed)

    def part() -> Part:
        key, symbol = source.choice("123"), source.choice("AAB")
        if source.random() < 0.2:
            return source.choice(["quote", "filing"]), source.choice("fq") + key, None
        if source.random() < 0.5:
            return quote(f"q{key}", symbol, source.choice([400, 600, 700]))
        return filing(f"f{key}", symbol, source.choice(["8-K", "10-K"]))

    bench = JoinBench(1, *(part() for _ in range(8)))
    for version, sql in enumerate(QUESTIONS):
        bench.ask(version, str(version), sql)
    bench.take()
    rows = [bench.answers(sql) for sql in QUESTIONS]
    bench.answer(1, [(i, Rows(tuple(map(encode_row, some)))) for i, some in enumerate(rows)])
    bench.end(1)
    bench.take()
    records = [tuple(part() for _ in range(source.choice([1, 1, 2, 3]))) for _ in range(source.randint(1, 6))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(filter_book, "_HITS_AT_ONCE", most)
        bench.records(2, *records, joins=QUESTIONS)
    found: dict[str, list[dict]] = {}
    for line in bench.told():
        found.setdefault(line["id"], []).append(line)
    bench.edge.check()
    for version, sql in enumerate(QUESTIONS):
        view = bench.edge.find(b"%d" % version)
        assert view is not None and view.rows == len(bench.answers(sql))
    return {name: sorted(lines, key=lambda line: line["n"]) for name, lines in found.items()}


@pytest.mark.deep
@settings(max_examples=deep_examples(200, few=3), deadline=None)
@given(seed=st.integers(0, 2**32))
def test_what_is_told_does_not_hang_on_how_many_images_are_looked_at_together(seed: int) -> None:
    at_once = told_in_steps(seed, 4_096)
    assert told_in_steps(seed, 1) == at_once and told_in_steps(seed, 3) == at_once
    for lines in at_once.values():
        assert [line["n"] for line in lines] == list(range(2, len(lines) + 2))
