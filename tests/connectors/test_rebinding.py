"""A web page whose name is made to point here, in a real browser: it reads, registers, ends and follows nothing."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from connectors.http.address import parse_address
from connectors.http.rules import HttpRules
from connectors.http.served_addresses import ServedAddresses
from tests.connectors.page_world import BROWSERS
from tests.overlay.hand_engine import SQL
from tests.overlay.push_world import LiveEdge

pytestmark = pytest.mark.stack
NAME = "evil.example"
TRIES = """async ([id, sql]) => {
  const json = {"Content-Type": "application/json"};
  const ask = async (path, options) => {
    try { return (await fetch(path, options)).status } catch (error) { return "blocked" }
  };
  const follow = (path) => new Promise((resolve) => {
    const socket = new WebSocket(`ws://${location.host}${path}`, ["tidewire"]);
    socket.onmessage = () => resolve("told");
    socket.onerror = () => resolve("refused");
  });
  return {
    page: await ask("/page.js"), health: await ask("/health"),
    read: await ask(`/subscriptions/${id}`), stream: await ask(`/subscriptions/${id}/events`),
    register: await ask("/subscriptions", {method: "POST", headers: json, body: JSON.stringify({id: "theirs", sql})}),
    simple: await ask("/subscriptions", {method: "POST", headers: {"Content-Type": "text/plain"}, body: "{}"}),
    end: await ask(`/subscriptions/${id}`, {method: "DELETE"}),
    one: await follow(`/subscriptions/${id}/events`), several: await follow(`/events?id=${id}`),
  };
}"""


@pytest.fixture(scope="module")
def rebound() -> Iterator[Any]:
    """A browser for which every name ends here."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip(f"no browser is installed, looked for {', '.join(BROWSERS)}: apt-get install chromium")
    flags = ["--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP *.example 127.0.0.1"]
    with api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=found, args=flags)
        yield running
        running.close()


def tries(browser: Any, edge: LiveEdge, name: str) -> dict[str, object]:
    """Let the page of `name` try everything; what it is shown itself is of no use to it."""
    page = browser.new_context().new_page()
    page.set_default_timeout(15_000)
    page.goto(f"http://{name}:{edge.server.port}/page.js")
    said: dict[str, object] = page.evaluate(TRIES, ["s", SQL])
    page.context.close()
    return said


def test_a_name_that_points_here_gets_nothing(rebound: Any) -> None:
    edge = LiveEdge()
    try:
        edge.subscribe("s")
        said = tries(rebound, edge, NAME)
        assert {said.pop("one"), said.pop("several")} == {"refused"}
        assert set(said.values()) == {421}
        written = [one for number in range(2) for one in edge.log.records["p.subscriptions", number]]
        assert [one.key for one in written] == [b"s"]
    finally:
        edge.close()


def test_a_listed_name_gets_what_it_asks_for(rebound: Any) -> None:
    """The same page under a name of ours: it is the name that was refused."""
    edge = LiveEdge(HttpRules(served=ServedAddresses(names=(parse_address("ours.example"),))))
    try:
        edge.subscribe("s")
        said = tries(rebound, edge, "ours.example")
        assert (said["page"], said["read"], said["one"], said["several"]) == (200, 200, "told", "told")
        assert said["simple"] == 415
    finally:
        edge.close()
