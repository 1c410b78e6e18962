"""What tests of the page share: an edge that takes steps by itself, and pages of a real browser."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import Any

from connectors.http.app import Edge, edge_app
from connectors.http.rules import HttpRules
from connectors.http.server import HttpServer
from tests.overlay.push_world import LiveEdge

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SHOTS = os.environ.get("TIDEWIRE_SCREENSHOTS")
"""A folder for screenshots, to be looked at."""


class Beating:
    """An edge that takes steps by itself, with an engine that says so every 50 ms."""

    def __init__(self, rules: HttpRules | None = None, others: tuple[int, ...] = ()) -> None:
        self.edge = LiveEdge(rules, others)
        self._values: list[int] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def publish(self, value: int) -> None:
        self._values.append(value)

    def _run(self) -> None:
        while not self._stop.is_set():
            values, self._values = self._values, []
            self.edge.publish(*values)
            time.sleep(0.05)

    def come_back_as(self, edge: LiveEdge, rules: HttpRules | None = None) -> None:
        """End this edge's process, as far as its readers can tell, and serve `edge` in its place a moment later."""
        port = self.edge.server.port
        self._end_streams()
        self.edge.server.close()
        time.sleep(0.5)
        edge.server.close()
        edge.server = HttpServer(edge_app(Edge(edge.answers, edge.board, edge.gateway), rules), port=port, rules=rules)
        self.edge = edge

    def _end_streams(self) -> None:
        """Break connections off without a word, as a process does that is killed."""
        for connection in list(self.edge.server._server.server_state.connections):
            connection.transport.abort()

    def close(self) -> None:
        self._stop.set()
        self._thread.join()
        self.edge.close()


def opened(browser: Any, url: str, **options: Any) -> Any:
    return tab(browser.new_context(viewport={"width": 820, "height": 900}, **options), url)


def tab(context: Any, url: str) -> Any:
    page = context.new_page()
    page.set_default_timeout(15_000)
    page.errors = []
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    page.goto(url)
    return page


def shot(page: Any, name: str) -> None:
    if SHOTS:
        page.screenshot(path=str(Path(SHOTS) / f"{name}.png"), full_page=True)


def ask(page: Any, sql: str) -> None:
    page.get_by_label("A standing question").fill(sql)
    page.get_by_role("button", name="Ask").click()
