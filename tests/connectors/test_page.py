"""The page in a real browser: a question is refused, accepted, and its answer changes."""

from __future__ import annotations

from typing import Any

import pytest

from connectors.http.bearer_token import hash_of
from connectors.http.rules import HttpRules
from tests.connectors.page_world import Beating, ask, opened, shot
from tests.overlay.hand_engine import SQL

pytestmark = pytest.mark.stack


def test_refused_accepted_and_watched(browser: Any, beating: Beating) -> None:
    page = opened(browser, beating.edge.url)
    shot(page, "empty")
    ask(page, "SELECT MIN(w) FROM t")
    page.get_by_role("alert").get_by_text("unknown_column").wait_for()
    assert "^" in page.get_by_role("alert").inner_text()
    shot(page, "refused")
    ask(page, SQL)
    page.get_by_text("Accepted.").wait_for()
    card = page.locator("#answers li.card")
    card.get_by_text("live", exact=True).wait_for()
    beating.publish(1234567)
    card.locator(".answer", has_text="1234567").wait_for()
    beating.publish(99)
    card.locator(".answer", has_text="99").wait_for()
    card.get_by_text("complete to epoch 0, batch").wait_for()
    card.get_by_text("Changes").click()
    card.get_by_text("1234567 → 99").wait_for()
    shot(page, "watched")
    page.reload()
    card.locator(".answer", has_text="99").wait_for()
    card.get_by_role("button", name="End it").click()
    card.get_by_text("unsubscribed").wait_for()
    assert page.errors == []


def test_the_stream_goes_on_after_a_move(browser: Any, beating: Beating) -> None:
    page = opened(browser, beating.edge.url)
    ask(page, SQL)
    card = page.locator("#answers li.card")
    card.get_by_text("live", exact=True).wait_for()
    beating.edge.board.owned(())
    page.get_by_text("connecting again").wait_for()
    beating.publish(55)
    card.locator(".answer", has_text="55").wait_for()
    assert page.locator("#connection").inner_text() == "live"
    assert page.errors == []


def test_a_process_that_ended_is_named_until_it_is_ready_again(browser: Any, beating: Beating) -> None:
    last = [{"at": "2026-01-01T00:00:00+00:00", "why": "SIGKILL"}]
    engine = {"name": "engine", "state": "waiting", "deaths": 3, "next_start": "2026-01-01T00:00:30+00:00"}
    edge = {"name": "edge-0", "state": "ready", "deaths": 1, "last": last}
    beating.edge.answers.processes = lambda: [engine | {"last": last}, edge]
    page = opened(browser, beating.edge.url)
    told = page.locator("#processes li")
    told.get_by_text("(SIGKILL; 3 times in a row), and starts again at").wait_for()
    assert told.count() == 1
    shot(page, "restart")
    beating.edge.answers.processes = lambda: [engine | {"state": "ready", "last": last}, edge]
    page.locator("#processes").wait_for(state="hidden")
    assert page.errors == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_token_is_asked_for_and_kept_out_of_urls(browser: Any, scheme: str) -> None:
    running = Beating(HttpRules({"acme": hash_of("secret-1")}))
    try:
        page = opened(browser, running.edge.url, color_scheme=scheme)
        urls: list[str] = []
        page.on("request", lambda request: urls.append(request.url))
        ask(page, SQL)
        page.get_by_text("unauthorized").wait_for()
        page.get_by_label("Bearer token").fill("secret-1")
        page.get_by_role("button", name="Use").click()
        ask(page, SQL)
        card = page.locator("#answers li.card")
        card.get_by_text("live", exact=True).wait_for()
        assert card.locator(".id").inner_text().startswith("acme/q-")
        shot(page, f"token-{scheme}")
        assert urls and not [url for url in urls if "secret" in url]
        assert page.errors == []
    finally:
        running.close()


def test_it_fits_a_telephone_and_can_be_used_without_a_mouse(browser: Any, beating: Beating) -> None:
    page = opened(browser, beating.edge.url, color_scheme="dark")
    page.set_viewport_size({"width": 360, "height": 740})
    page.keyboard.press("Tab")
    page.keyboard.type(SQL)
    page.keyboard.press("Control+Enter")
    page.locator("#answers li.card").get_by_text("live", exact=True).wait_for()
    shot(page, "telephone")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    unnamed = "[...document.querySelectorAll('input,textarea')].filter(e => !e.labels.length).length"
    assert page.evaluate(unnamed) == 0


_EVENT_SOURCE = """url => new Promise((done, fail) => {
    const source = new EventSource(url), told = [];
    source.onerror = () => fail(new Error("no stream"));
    source.onmessage = (event) => {
        told.push([JSON.parse(event.data).kind, event.lastEventId]);
        if (told.length === 2) { source.close(); done(told); }
    };
})"""
_WEB_SOCKET = """url => new Promise((done, fail) => {
    const socket = new WebSocket(url, ["tidewire", "bearer.unused"]), told = [];
    socket.onerror = () => fail(new Error("no socket"));
    socket.onmessage = (event) => {
        for (const line of event.data.split("\\n")) told.push(JSON.parse(line).kind);
        if (told.length > 1) { socket.close(); done([socket.protocol, told[0]]); }
    };
})"""


def test_what_browsers_have_for_streams_works_as_it_is(browser: Any, beating: Beating) -> None:
    beating.edge.engine.subscribe("s")
    page = opened(browser, beating.edge.url + "/#s")
    page.locator("#answers li.card").get_by_text("live", exact=True).wait_for()
    told = page.evaluate(_EVENT_SOURCE, "/subscriptions/s/events")
    assert [kind for kind, _ in told] == ["answer", "progress"]
    assert told[1][1].startswith("0:0.")
    where = beating.edge.url.replace("http", "ws") + "/subscriptions/s/events"
    assert page.evaluate(_WEB_SOCKET, where) == ["tidewire", "answer"]
