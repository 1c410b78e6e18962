"""How the page follows: one connection for all tabs of a browser, whatever tabs, ids, tokens and edges do."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

import pytest

from connectors.http.bearer_token import hash_of
from connectors.http.rules import HttpRules
from tests.connectors.page_world import Beating, opened, shot, tab
from tests.overlay.push.test_board import AT_HOME
from tests.overlay.push_world import LiveEdge

pytestmark = pytest.mark.stack
WIDE = {"width": 820, "height": 900}
ACME = HttpRules({"acme": hash_of("secret"), "bob": hash_of("bob/s+secret=")})


@pytest.fixture
def serving() -> Iterator[Callable[..., Beating]]:
    """Edges with rules of their own."""
    running: list[Beating] = []

    def serve(*options: Any) -> Beating:
        running.append(Beating(*options))
        return running[-1]

    yield serve
    for one in running:
        one.close()


def until(holds: Callable[[], bool], seconds: float = 60.0, what: Callable[[], object] = str) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"it does not come to that: {what()}"
        time.sleep(0.02)


def at(beating: Beating, *ids: str) -> str:
    return f"{beating.edge.url}/#{'&'.join(quote(one, safe='') for one in ids)}"


def card(page: Any, identifier: str) -> Any:
    return page.locator("li.card").filter(has=page.locator(".id").get_by_text(identifier, exact=True))


def live(page: Any, *ids: str) -> None:
    for one in ids:
        card(page, one).get_by_text("live", exact=True).wait_for()
    assert page.locator("#connection").inner_text() == "live"


def watch(page: Any, identifier: str) -> None:
    page.get_by_label("Subscription id").evaluate("(input, id) => input.value = id", identifier)
    page.locator("#watch").evaluate("form => form.requestSubmit()")


def use(page: Any, token: str) -> None:
    page.locator("#more").evaluate("details => details.open = true")
    page.get_by_label("Bearer token").fill(token)
    page.get_by_role("button", name="Use").click()


def sockets(beating: Beating) -> int:
    """How many WebSockets the server has."""
    connections = beating.edge.server._server.server_state.connections
    return sum("WebSocket" in type(one).__name__ for one in list(connections))


def followed(beating: Beating) -> list[set[str]]:
    return [{key.decode() for key in stream.keys} for stream in list(beating.edge.board._streams)]


def numbers(page: Any) -> list[int]:
    return [int(text.split(".")[0]) for text in page.locator(".changes li").all_text_contents()]


def test_eight_tabs_share_a_connection_that_each_change_reaches(browser: Any, beating: Beating) -> None:
    names = [f"tab-{number}" for number in range(8)]
    beating.edge.engine.subscribe("all", *names)
    context = browser.new_context(viewport=WIDE)
    pages = []
    for number, name in enumerate(names):
        pages.append(tab(context, at(beating, "all", name)))
        live(pages[-1], "all", name)
        beating.publish(1_000 + number)
    for page, name in zip(pages, names, strict=True):
        for one in ("all", name):
            card(page, one).locator(".answer", has_text="1007").wait_for()
    assert (beating.edge.board.readers, sockets(beating)) == (1, 1)
    assert all(stream._mark is not None for stream in beating.edge.board._streams), "it went on from where it stood"
    told = numbers(card(pages[0], "all"))
    assert told == list(range(told[0], told[-1] - 1, -1)) and len(told) == 8, "not one was lost as tabs came"
    shot(pages[7], "eighth-tab")
    for page in pages[:7]:
        page.close()
    until(lambda: followed(beating) == [{"all", "tab-7"}], what=lambda: followed(beating))
    card(pages[7], "all").get_by_role("button", name="Hide").click()
    until(lambda: followed(beating) == [{"tab-7"}], what=lambda: followed(beating))
    pages[7].close()
    until(lambda: beating.edge.board.readers == 0)
    assert [page.errors for page in pages] == [[]] * 8


def test_what_one_tab_leaves_another_takes_up_at_once(browser: Any, beating: Beating) -> None:
    beating.edge.engine.subscribe("s", "t")
    context = browser.new_context(viewport=WIDE)
    staying, coming = tab(context, at(beating, "t")), tab(context, at(beating, "s"))
    live(staying, "t")
    live(coming, "s")
    for wait in (0, 5, 15, 25, 40, 80, 300):
        beating.publish(1_000 + wait)
        card(coming, "s").locator(".answer", has_text=str(1_000 + wait)).wait_for()
        card(coming, "s").get_by_role("button", name="Hide").click()
        coming.wait_for_timeout(wait)
        watch(coming, "s")
        live(coming, "s")
        card(coming, "s").locator(".answer", has_text=str(1_000 + wait)).wait_for()
    assert staying.errors == coming.errors == []


BAD = ["@reserved", "null\0", "x" * 1_025, "ü" * 600, "x" * 9_000, "x" * 20_000]
FOREIGN = ["bob/theirs", "acmes/own", "%", "..", "a/events"]


@pytest.mark.parametrize("rules", [HttpRules(), ACME], ids=["open", "tenants"])
def test_a_bad_id_stands_on_its_card_and_the_rest_goes_on(
    browser: Any, serving: Callable[..., Beating], rules: HttpRules
) -> None:
    beating = serving(rules)
    good, more = "acme/good", "acme/ü/&?#/events"
    beating.edge.engine.subscribe(good, more)
    page = opened(browser, beating.edge.url)
    use(page, "secret")
    for one in ["acme/nothere", *BAD, *FOREIGN, "\ud800", good]:
        watch(page, one)
    refused = len(BAD) + (len(FOREIGN) if rules.tenants else 0)
    page.get_by_role("alert").get_by_text("is no Unicode text").wait_for()
    for _ in range(2):
        live(page, good)
        card(page, "acme/nothere").get_by_text("there is no such subscription").wait_for()
        until(lambda: page.locator(".status.refused").count() == refused)
        until(lambda: page.locator(".status.unknown").count() == 1 + len(BAD) + len(FOREIGN) - refused)
        shot(page, f"bad-ids-{len(rules.tenants)}")
        page.reload()
    watch(page, more)
    live(page, good, more)
    beating.publish(4321)
    for one in (good, more):
        card(page, one).locator(".answer", has_text="4321").wait_for()
    until(lambda: beating.edge.board.readers == 1)
    assert page.errors == []


def test_an_address_that_no_browser_wrote_is_read_as_it_is(browser: Any, beating: Beating) -> None:
    beating.edge.engine.subscribe("s")
    page = opened(browser, f"{beating.edge.url}/#%ff%fe&s&&%")
    live(page, "s")
    for one in ("%ff%fe", "%"):
        card(page, one).get_by_text("there is no such subscription").wait_for()
    assert page.errors == []


def test_subscriptions_beyond_a_hundred_have_streams_of_a_hundred(browser: Any, beating: Beating) -> None:
    names = [f"n{number}" for number in range(150)]
    beating.edge.engine.subscribe(*names)
    page = opened(browser, at(beating, *names))
    until(lambda: page.locator(".status.live").count() == 150)
    until(lambda: sorted(map(len, followed(beating))) == [50, 100])
    beating.publish(777)
    until(lambda: page.locator(".answer", has_text="777").count() == 150)
    assert sockets(beating) == 2
    assert page.errors == []


def test_an_edge_that_allows_fewer_on_a_stream_has_more_streams(browser: Any, serving: Callable[..., Beating]) -> None:
    beating = serving(HttpRules(stream_subscriptions=7))
    names = [f"n{number}" for number in range(30)]
    beating.edge.engine.subscribe(*names)
    page = opened(browser, at(beating, "@bad", *names))
    until(lambda: page.locator(".status.live").count() == 30)
    until(lambda: sum(map(len, followed(beating))) == 30)
    assert page.locator(".status.refused").count() == 1
    assert page.errors == []


def test_long_ids_have_as_many_streams_as_urls_have_room_for(browser: Any, beating: Beating) -> None:
    names = [f"{number:02}{'ü' * 511}" for number in range(9)]
    beating.edge.engine.subscribe(*names)
    page = opened(browser, at(beating, *names))
    until(lambda: page.locator(".status.live").count() == 9)
    until(lambda: sorted(map(len, followed(beating))) == [1, 2, 2, 2, 2])
    assert page.errors == []


@pytest.mark.parametrize("seed", range(3))
def test_a_division_keeps_within_the_bounds_and_moves_little(browser: Any, beating: Beating, seed: int) -> None:
    page, dice = opened(browser, beating.edge.url), random.Random(seed)
    divide = "async ([lists, wanted, most]) => (await import('/page.share.js')).divide(lists, wanted, most)"
    lists: list[list[str]] = []
    wanted: set[str] = set()
    for _ in range(30):
        wanted = {one for one in wanted if dice.random() < 0.8}
        wanted |= {f"{dice.random()}" * dice.choice([1, 1, 1, 50]) for _ in range(dice.randrange(60))}
        most, before = dice.choice([100, 100, 20]), lists
        lists = [one for one in page.evaluate(divide, [lists, sorted(wanted), most]) if one]
        assert sorted(one for each in lists for one in each) == sorted(wanted)
        assert all(len(each) <= most and sum(len(one) + 42 for one in each) <= 7_500 for each in lists)
        if before and len(before[0]) <= most and wanted.issuperset(before[0]):
            assert any(set(before[0]) <= set(each) for each in lists)


def test_an_edge_comes_back_with_the_same_answers_and_with_others(browser: Any, beating: Beating) -> None:
    beating.edge.engine.subscribe("s", "later")
    page = opened(browser, at(beating, "s", "@bad"))
    live(page, "s")
    for value in range(1, 6):
        beating.publish(value)
        card(page, "s").locator(".answer", has_text=str(value)).wait_for()
    beating.come_back_as(beating.edge)
    page.locator("#connection").get_by_text("live").wait_for(state="hidden")
    shot(page, "edge-away")
    beating.publish(66)
    card(page, "s").locator(".answer", has_text="66").wait_for()
    live(page, "s")
    other = LiveEdge()
    other.engine.subscribe("s")
    beating.come_back_as(other)
    card(page, "s").locator(".answer", has_text="0").wait_for()
    live(page, "s")
    assert card(page, "@bad").locator(".status").inner_text() == "refused"
    assert page.errors == []


def test_each_token_has_a_connection_and_a_tab_may_change_it(browser: Any, serving: Callable[..., Beating]) -> None:
    beating = serving(ACME)
    beating.edge.engine.subscribe("acme/s", "bob/s")
    context = browser.new_context(viewport=WIDE)
    one, two = (tab(context, at(beating, "acme/s", "bob/s")) for _ in range(2))
    for page in (one, two):
        page.get_by_role("alert").get_by_text("unauthorized").wait_for()
        use(page, "wrong")
        page.locator("#connection").get_by_text("asks for a token").wait_for()
    use(one, "secret")
    card(one, "bob/s").get_by_text("`bob/s` is not yours").wait_for()
    live(one, "acme/s")
    one.get_by_role("alert").wait_for(state="hidden")
    assert two.get_by_text("asks for a token").count() == 2
    use(two, "bob/s+secret=")
    live(two, "bob/s")
    until(lambda: sorted(map(sorted, followed(beating))) == [["acme/s"], ["bob/s"]], what=lambda: followed(beating))
    use(one, "bob/s+secret=")
    live(one, "bob/s")
    card(one, "acme/s").get_by_text("`acme/s` is not yours").wait_for()
    until(lambda: followed(beating) == [{"bob/s"}])
    assert one.errors == two.errors == []


def test_a_worker_that_dies_is_made_anew(browser: Any, beating: Beating) -> None:
    beating.edge.engine.subscribe("s")
    page = opened(browser, at(beating, "s"))
    live(page, "s")
    session = browser.new_browser_cdp_session()
    targets = session.send("Target.getTargets")["targetInfos"]
    for worker in [one["targetId"] for one in targets if one["type"] == "shared_worker"]:
        attached = session.send("Target.attachToTarget", {"targetId": worker, "flatten": False})["sessionId"]
        die = json.dumps({"id": 1, "method": "Runtime.evaluate", "params": {"expression": "self.close()"}})
        session.send("Target.sendMessageToTarget", {"sessionId": attached, "message": die})
    session.detach()
    until(lambda: beating.edge.board.readers == 0)
    beating.publish(5)
    card(page, "s").locator(".answer", has_text="5").wait_for()
    assert beating.edge.board.readers == 1
    assert page.errors == []


HIDE = """hidden => {
    Object.defineProperty(document, "hidden", {value: hidden, configurable: true});
    document.dispatchEvent(new Event("visibilitychange"));
}"""


@pytest.mark.parametrize(("missing", "tabs"), [("SharedWorker", 8), ("WebSocket", 1)])
def test_a_browser_without_workers_has_a_connection_for_each_tab_that_is_seen(
    browser: Any, beating: Beating, missing: str, tabs: int
) -> None:
    beating.edge.engine.subscribe("s")
    context = browser.new_context(viewport=WIDE)
    context.add_init_script("delete window.SharedWorker;")
    context.add_init_script(f"delete window.{missing};")
    pages = [tab(context, at(beating, "s")) for _ in range(tabs)]
    for page in pages:
        live(page, "s")
    assert beating.edge.board.readers == tabs
    assert sockets(beating) == (tabs if missing == "SharedWorker" else 0)
    pages[0].evaluate(HIDE, True)
    until(lambda: beating.edge.board.readers == tabs - 1)
    beating.publish(8)
    pages[0].evaluate(HIDE, False)
    card(pages[0], "s").locator(".answer", has_text="8").wait_for()
    live(pages[0], "s")
    assert [page.errors for page in pages] == [[]] * tabs


def test_what_another_edge_has_is_named(browser: Any, serving: Callable[..., Beating]) -> None:
    beating = serving(None, (1,))
    here, there = AT_HOME
    beating.edge.engine.subscribe(here)
    for ids in [(there,), (here, there)]:
        page = opened(browser, at(beating, *ids))
        link = card(page, there).get_by_role("link", name="another edge has it: far:1")
        link.wait_for()
        assert link.get_attribute("href") == f"http://far:1/#{there}"
        live(page, *ids[:-1])
        assert page.errors == []
