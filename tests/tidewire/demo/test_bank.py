"""The bank's transfers, what is asked of them, and what is claimed of the total."""

from __future__ import annotations

from collections import Counter

import pytest

from catalog.ddl.statements import apply_ddl
from catalog.query.compiler import Compiler
from catalog.schema.catalog import Catalog
from connectors.json.writer import encode_key, encode_row
from tests.tidewire.demo.told import Told
from tidewire.client.records import At, Delivery
from tidewire.demo.bank import DDL, FAMILIES, OnlyZero, bank_story, questions, transfer_events

AT = At(1, 0, "demo.transfer", 0, 0)


def test_transfers_are_made_put_right_and_called_back_the_same_in_each_run() -> None:
    events = transfer_events(3_000)
    assert len(events) == 3_000 and events == transfer_events(3_000)
    standing: set[int] = set()
    kinds: Counter[str] = Counter()
    for event in events:
        id = event.key["id"]
        kinds["made" if id not in standing else "called back" if event.row is None else "put right"] += 1
        assert event.row is not None or id in standing, "only what stands is called back"
        assert event.row is None or event.row["id"] == id
        (standing.discard if event.row is None else standing.add)(id)
    assert kinds["made"] > 2_500 and kinds["put right"] > 100 and kinds["called back"] > 30


def test_rows_fit_the_table_and_questions_compile() -> None:
    catalog = apply_ddl(Catalog(), DDL, 0)
    assert catalog.views.keys() == {"entry", "balance", "total"}
    assert {view.tables for view in catalog.views.values()} == {("transfer",)}, "all in the shard of one table"
    story = bank_story(500, 60, 2)
    assert story.tables == ["transfer"] and story.kills == 2
    relation = catalog.relations["transfer"]
    for event in story.events:
        assert encode_key(relation, event.key) and (event.row is None or encode_row(relation, event.row))
    compiler = Compiler(catalog)
    shapes = {compiler.compile(sql).region.shape for sql in story.asked.values()}
    assert len(story.asked) == 60 and len(shapes) == len(FAMILIES)
    assert questions(60) == story.asked


def test_while_the_engine_is_dead_no_more_than_the_share_between_two_kills_piles_up() -> None:
    pace = bank_story(900, 1, 8).pace
    assert pace.wait(101, 0.0, 0) > 0 and pace.wait(100, 0.0, 0) <= 0


@pytest.mark.parametrize(
    ("delivery", "holds"),
    [
        (Delivery("1 the total", "change", 0, 2, AT, removed=[(0, 2)], added=[(0, 4)]), True),
        (Delivery("1 the total", "change", 0, 2, AT, removed=[("0", 2)], added=[("-7", 4)]), False),
        (Delivery("1 the total", "change", 0, 2, AT, removed=[(1, 2)], added=[("0", 4)]), False),
        (Delivery("1 the total", "snapshot", 0, 1, AT, added=[("0", None)], form="bag"), True),
        (Delivery("1 the total of all balances", "change", 0, 2, AT, [None, None], ["0", 2]), True),
        (Delivery("1 the total of all balances", "change", 0, 2, AT, ["0", 2], ["5", 4]), False),
        (Delivery("1 the total of all balances", "snapshot", 0, 1, AT, None, [None, None]), False),
        (Delivery("1 account 7", "change", 0, 2, AT, removed=[(1, 2)], added=[(5, 4)]), False),
    ],
)
def test_only_zero_holds_while_a_total_was_told_and_no_other(delivery: Delivery, holds: bool) -> None:
    claim = OnlyZero()
    assert not claim.holds, "nothing was told"
    claim.told(delivery)
    assert claim.holds is holds


def test_whoever_asks_for_the_total_is_told_of_0_after_every_transfer() -> None:
    story = bank_story(120, 12, 0)
    told = Told(story)
    report = told.judged()
    assert report.clean and report.unjudged == 0 and report.publications == 120, report.faults
    assert story.claim.holds
    counted = Counter(delivery.id for delivery in told.told)
    assert counted["0000 the total"] == counted["0003 the total of all balances"] > 100
