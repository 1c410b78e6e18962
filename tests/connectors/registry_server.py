"""A schema registry: Confluent's two paths that a reader needs, over HTTP, in this process."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route


class RegistryServer:
    """`ids` and `versions` are the answers; `fails` are statuses to answer with first; `asked` are the paths asked."""

    def __init__(self) -> None:
        self.ids: dict[int, dict[str, Any]] = {}
        self.versions: dict[tuple[str, int], dict[str, Any]] = {}
        self.fails: list[int] = []
        self.asked: list[str] = []
        self.authorizations: set[str | None] = set()
        self.url = ""

    def _answer(self, request: Request) -> Response:
        self.asked.append(f"{request.url.path}?{request.url.query}")
        self.authorizations.add(request.headers.get("authorization"))
        if self.fails:
            status = self.fails.pop(0)
            return RedirectResponse("http://127.0.0.1:9/") if status == 307 else Response("<html>", status)
        found, code = self._found(request.path_params)
        return JSONResponse({"error_code": code, "message": "not found"}, 404) if found is None else JSONResponse(found)

    def _found(self, place: dict[str, Any]) -> tuple[dict[str, Any] | None, int]:
        if "id" in place:
            return self.ids.get(place["id"]), 40403
        return self.versions.get((place["subject"], place["version"])), 40401

    def app(self) -> Starlette:
        paths = ("/schemas/ids/{id:int}", "/apis/ccompat/v7/schemas/ids/{id:int}")
        routes = [Route(path, self._answer) for path in paths]
        return Starlette(routes=[*routes, Route("/subjects/{subject}/versions/{version:int}", self._answer)])


@contextmanager
def running(server: RegistryServer) -> Iterator[RegistryServer]:
    """Let it listen on a free port."""
    config = uvicorn.Config(server.app(), host="127.0.0.1", port=0, log_level="critical")
    web = uvicorn.Server(config)
    thread = threading.Thread(target=web.run, daemon=True)
    thread.start()
    until = time.monotonic() + 10
    while not web.started and time.monotonic() < until:
        time.sleep(0.01)
    server.url = f"http://127.0.0.1:{web.servers[0].sockets[0].getsockname()[1]}"
    try:
        yield server
    finally:
        web.should_exit = True
        thread.join(10)
