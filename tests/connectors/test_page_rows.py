"""Rows on the page: a table that changes, of a bag by its text and of a list by its places."""

from __future__ import annotations

from typing import Any

import pytest

from connectors.http.answer import Found
from connectors.kafka.partitioner import home_partition
from connectors.record import OutRecord
from overlay.delivery.bag_delivery import bag_change, bag_snapshot
from overlay.delivery.delivery import delivery, json_text
from overlay.delivery.list_delivery import list_change, list_snapshot
from tests.connectors.page_world import Beating, ask, opened, shot
from tests.overlay.hand_engine import SQL
from tests.overlay.push_world import PARTITIONS, TOPICS

pytestmark = pytest.mark.stack
AT = '{"epoch":0,"batch":1}'
ASKED = json_text("SELECT symbol, price FROM stock WHERE price < 10 OR symbol LIKE 'A%'")


def tell(beating: Beating, name: str, kind: str, version: int, n: int, body: str) -> None:
    """Have a delivery committed, as an edge would that knows questions of rows."""
    value = delivery(json_text(name), kind, version, n, body, AT, ASKED if kind == "snapshot" else None)
    key = name.encode()
    beating.edge.board.committed([OutRecord(TOPICS.deliveries, home_partition(key, PARTITIONS), key, value)])


def watched(browser: Any, beating: Beating, scheme: str) -> tuple[Any, Any, str]:
    page = opened(browser, beating.edge.url, color_scheme=scheme)
    ask(page, SQL)
    card = page.locator("#answers li.card")
    card.get_by_text("live", exact=True).wait_for()
    return page, card, card.locator(".id").inner_text()


def rows(card: Any) -> list[list[str]]:
    return [row.split("\t") for row in card.locator(".answer tbody tr").all_inner_texts()]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_bag_is_sorted_and_what_came_is_marked(browser: Any, beating: Beating, scheme: str) -> None:
    page, card, name = watched(browser, beating, scheme)
    tell(beating, name, "snapshot", 900, 1, bag_snapshot(['["B","9.50"]', '["A","10.25"]', '["A","10.25"]']))
    card.get_by_text("3 rows", exact=True).wait_for()
    assert rows(card) == [["A", "10.25"], ["A", "10.25"], ["B", "9.50"]]
    body = bag_change(['["A","10.25"]'], ['["AB",null]', '["C","1.00"]'])
    tell(beating, name, "change", 900, 2, body)
    card.get_by_text("4 rows", exact=True).wait_for()
    assert rows(card) == [["A", "10.25"], ["AB", "no value"], ["B", "9.50"], ["C", "1.00"]]
    assert card.locator("tr.fresh").all_inner_texts() == ["AB\tno value", "C\t1.00"]
    card.get_by_text("Changes").click()
    card.get_by_text("− (A, 10.25) + (AB, no value), (C, 1.00)").wait_for()
    shot(page, f"rows-{scheme}")
    tell(beating, name, "change", 900, 3, bag_change([], [f"[{n},{n}]" for n in range(300)]))
    card.get_by_text("304 rows, of which 200 are shown").wait_for()
    assert len(rows(card)) == 200
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert page.errors == []


def test_columns_have_the_names_of_the_question(browser: Any, beating: Beating) -> None:
    page = opened(browser, beating.edge.url, color_scheme="light")
    ask(page, "SELECT id, v FROM t WHERE v IN (1, 2)")
    card = page.locator("#answers li.card")
    card.get_by_text("accepted", exact=True).wait_for()
    card.get_by_text("waiting for the first answer").wait_for()
    name = card.locator(".id").inner_text()
    found = beating.edge.answers.subscription(name)
    assert isinstance(found, Found)
    tell(beating, name, "snapshot", int(str(found.body["version"])), 1, bag_snapshot(["[7,1]"]))
    card.get_by_text("1 row", exact=True).wait_for()
    assert card.locator(".answer thead th").all_inner_texts() == ["id", "v"] and rows(card) == [["7", "1"]]
    tell(beating, name, "snapshot", 10**6, 1, bag_snapshot(["[2]"]))
    card.get_by_text("2", exact=True).wait_for()
    assert card.locator(".answer thead th").count() == 0
    shot(page, "rows-names")
    assert page.errors == []


def test_a_list_has_its_order(browser: Any, beating: Beating) -> None:
    page, card, name = watched(browser, beating, "light")
    tell(beating, name, "snapshot", 900, 1, list_snapshot(['["B","9.50"]', '["A","10.25"]']))
    card.get_by_text("2 rows", exact=True).wait_for()
    tell(beating, name, "change", 900, 2, list_change([(0, '["B","9.50"]')], [(1, '["B","11.00"]')]))
    card.get_by_text("11.00", exact=True).wait_for()
    assert rows(card) == [["A", "10.25"], ["B", "11.00"]]
    assert card.locator("tr.fresh").all_inner_texts() == ["B\t11.00"]
    card.get_by_text("Changes").click()
    card.get_by_text("− 0: (B, 9.50) + 1: (B, 11.00)").wait_for()
    shot(page, "list")
    tell(beating, name, "snapshot", 901, 1, '"form":"bag","snapshot":"none","removed":[],"added":[]')
    card.get_by_text("its changes are told, and not its rows").wait_for()
    assert page.errors == []
