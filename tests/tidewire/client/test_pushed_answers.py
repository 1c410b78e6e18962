"""What is told over HTTP alone, heard as deliveries: from a real edge's HTTP side, across breaks and other edges."""

from __future__ import annotations

import json
import socket
import ssl
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from connectors.http.bearer_token import hash_of
from connectors.http.rules import HttpRules
from connectors.kafka.admin import Member
from overlay.process.ownership import client_id
from state.errors import UserError
from tests.connectors.certificates import Authority
from tests.overlay.hand_engine import SQL
from tests.overlay.push_world import LiveEdge
from tidewire.cli import run
from tidewire.client import pushed_answers
from tidewire.client.client import subscription_value
from tidewire.client.pushed_answers import PushedAnswers, PushUnreachable, edge_addresses, is_pushed
from tidewire.client.records import Ack, Delivery, Progress
from tidewire.commands import subscribe as command
from tidewire.status.overview import read_health

PUSHED = SQL + " DELIVER PUSH"


@pytest.fixture
def edge() -> Iterator[LiveEdge]:
    live = LiveEdge()
    yield live
    live.close()


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pushed_answers, "_PAUSE_SECONDS", 0.02)


def door(edge: LiveEdge) -> str:
    return edge.server.address


def told(answers: PushedAnswers) -> Delivery:
    return next(one for one in answers if isinstance(one, Delivery))


class Script(BaseHTTPRequestHandler):
    """Answers requests one after the other as it is told, and notes their headers."""

    answers: ClassVar[list[tuple[int, dict[str, str], str]]] = []
    asked: ClassVar[list[dict[str, str]]] = []

    def do_GET(self) -> None:
        self.asked.append({"path": self.path} | {name.lower(): value for name, value in self.headers.items()})
        status, headers, body = self.answers.pop(0)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def script() -> Iterator[str]:
    """An edge that is a script; what is left over of it is forgotten."""
    Script.answers, Script.asked = [], []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Script)
    Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def events(*messages: dict[str, Any], mark: str = "", retry: int | None = None) -> tuple[int, dict[str, str], str]:
    body = "".join(f"id: {mark}\ndata: {json.dumps(one)}\n\n" for one in messages)
    return 200, {"Content-Type": "text/event-stream"}, body + ("" if retry is None else f"retry: {retry}\n\n")


def answer(n: int, value: Any, version: int = 4, **others: Any) -> dict[str, Any]:
    at = {"epoch": 0, "batch": n}
    live = {"id": "s", "status": "live", "version": version, "n": n, "answer": value, "at": at, "sql": "q"}
    return {**live, "kind": "answer", **others}


def test_the_present_answer_is_a_snapshot_and_changes_follow(edge: LiveEdge) -> None:
    edge.subscribe("s", sql=PUSHED)
    with PushedAnswers("s", lambda: [door(edge)]) as answers:
        first = told(answers)
        assert (first.kind, first.n, first.old, first.changes) == ("snapshot", 1, None, 1)
        assert first.sql == PUSHED.removesuffix(" DELIVER PUSH") or first.sql == PUSHED
        edge.publish(7)
        change = told(answers)
        assert (change.kind, change.n, change.old) == ("change", 2, first.new)
        assert change.at.topic is not None
        edge.publish(5, 9)
        assert [told(answers).n for _ in range(2)] == [3, 4]
        assert isinstance(next(answers), Progress)


def test_after_a_break_it_goes_on_from_its_mark(edge: LiveEdge) -> None:
    edge.subscribe("s", sql=PUSHED)
    with PushedAnswers("s", lambda: [door(edge)]) as answers:
        first = told(answers)
        answers._connection.sock.shutdown(socket.SHUT_RDWR)  # type: ignore[union-attr]
        edge.publish(6, 5)
        missed = told(answers)
        while missed.n < first.n + 2:
            missed = told(answers)
        edge.publish(3)
        last = told(answers)
        assert (last.n, last.old) == (missed.n + 1, missed.new)


def test_a_break_is_made_good_by_one_change(script: str) -> None:
    Script.answers = [
        events(answer(2, "1.0"), mark="0:4.2", retry=1),
        events(answer(2, "1.0"), mark="0:4.2", retry=1),
        events(answer(5, "4.0", conflated=True), mark="0:4.5", retry=1),
        events({"kind": "reset"}, answer(1, "9.0"), mark="1:4.1", retry=1),
        events({"kind": "unknown", "id": "s"}, answer(1, "2.0", version=3), answer(2, "0", status="accepted")),
        events(
            {
                "id": "s",
                "kind": "ended",
                "version": 4,
                "n": 2,
                "old": "9.0",
                "new": None,
                "at": {"epoch": 1, "batch": 3},
            }
        ),
    ]
    with PushedAnswers("s", lambda: [script], version=4) as answers:
        heard = [told(answers) for _ in range(4)]
    assert [(one.kind, one.n, one.old, one.new, one.changes) for one in heard] == [
        ("snapshot", 2, None, "1.0", 1),
        ("change", 5, "1.0", "4.0", 3),
        ("snapshot", 1, None, "9.0", 1),
        ("ended", 2, "9.0", None, 1),
    ]
    assert [asked.get("last-event-id") for asked in Script.asked][:4] == [None, "0:4.2", "0:4.2", "0:4.5"]


def test_what_a_distinct_holds_is_known_across_a_break(script: str) -> None:
    at = {"epoch": 0, "batch": 1}
    change = {"id": "s", "kind": "change", "version": 4, "n": 2, "removed": [1], "added": [3], "at": at}
    Script.answers = [events(answer(1, [1, 2]), change, mark="0:4.2", retry=1), events(answer(3, [2]))]
    with PushedAnswers("s", lambda: [script]) as answers:
        heard = [told(answers) for _ in range(3)]
    assert heard[1].added == [3]
    assert (heard[2].old, heard[2].new) == ([2, 3], [2])


def rows(kind: str, n: int, removed: list[Any], added: list[Any], **said: Any) -> dict[str, Any]:
    at = {"epoch": 0, "batch": n}
    return {"id": "s", "kind": kind, "version": 4, "n": n, "removed": removed, "added": added, "at": at} | said


def test_a_bag_is_followed_across_a_break(script: str) -> None:
    first = answer(1, [["a", 1], ["a", 1]], form="bag", rows=2)
    Script.answers = [
        events(first, rows("change", 2, [["a", 1]], [["b", None]]), mark="0:4.2", retry=1),
        events(answer(5, [["a", 1], ["c", 2]], form="bag", rows=2)),
    ]
    with PushedAnswers("s", lambda: [script]) as answers:
        snapshot, change, later = (told(answers) for _ in range(3))
    assert (snapshot.kind, snapshot.form, snapshot.added) == ("snapshot", "bag", [("a", 1), ("a", 1)])
    assert (change.removed, change.added) == ([("a", 1)], [("b", None)])
    assert (later.kind, later.n, later.changes, later.conflated) == ("change", 5, 3, True)
    assert (later.removed, later.added) == ([("b", None)], [("c", 2)])


def test_a_list_is_followed_across_a_break(script: str) -> None:
    Script.answers = [
        events(answer(1, [["a"], ["b"]], form="list"), rows("change", 2, [[0, ["a"]]], [[1, ["c"]]]), retry=1),
        events(answer(3, [["d"], ["b"], ["c"]], form="list")),
    ]
    with PushedAnswers("s", lambda: [script]) as answers:
        snapshot, change, later = (told(answers) for _ in range(3))
    assert snapshot.added == [(0, ("a",)), (1, ("b",))]
    assert (change.removed, change.added) == ([(0, ("a",))], [(1, ("c",))])
    assert (later.removed, later.added, later.conflated) == ([], [(0, ("d",))], False)


def test_a_bag_whose_rows_are_not_told_is_looked_up(script: str) -> None:
    none = answer(1, None, form="bag", rows=7, snapshot="none")
    del none["answer"]
    Script.answers = [
        events(none, rows("change", 2, [["a"]], [])),
        events(none | {"n": 4}),
        events(answer(6, [["z"]], form="bag", rows=1)),
    ]
    with PushedAnswers("s", lambda: [script]) as answers:
        snapshot, change, void, whole = (told(answers) for _ in range(4))
    assert (snapshot.kind, snapshot.snapshot, snapshot.added) == ("snapshot", "none", [])
    assert change.removed == [("a",)]
    assert (void.kind, void.whole, void.n) == ("resync", "look", 4)
    assert (whole.kind, whole.whole, whole.added) == ("resync", True, [("z",)])


def test_the_owner_is_asked_in_its_place_with_the_same_token(edge: LiveEdge, script: str) -> None:
    edge.subscribe("s/é", sql=PUSHED)
    Script.answers = [(307, {"Location": f"http://{door(edge)}/subscriptions/s%2F%C3%A9/events"}, "")]
    with PushedAnswers("s/é", lambda: [script], token="t") as answers:
        assert told(answers).id == "s/é"
    assert Script.asked[0]["path"] == "/subscriptions/s%2F%C3%A9/events"
    assert Script.asked[0]["authorization"] == "Bearer t"


@pytest.fixture
def tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The scripted edge behind TLS, with a certificate that this process trusts."""
    authority = Authority(tmp_path, "ca")
    certificate, key = authority.sign("edge", "IP:127.0.0.1")
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.ca))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    Script.answers, Script.asked = [], []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Script)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"https://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("location", ["{0}/base/subscriptions/s/events", "/base/subscriptions/s/events"])
def test_an_edge_behind_tls_is_asked_there(tls: str, location: str) -> None:
    Script.answers = [(307, {"Location": location.format(tls)}, ""), events(answer(1, "1.0"))]
    with PushedAnswers("s", lambda: [f"{tls}/first"], token="t") as answers:
        assert told(answers).new == "1.0"
    assert [asked["path"] for asked in Script.asked] == [
        "/first/subscriptions/s/events",
        "/base/subscriptions/s/events",
    ]
    assert all(asked["authorization"] == "Bearer t" for asked in Script.asked)


@pytest.mark.parametrize("scheme", ["http", "HTTP"])
@pytest.mark.parametrize("token", [None, "t"])
def test_no_edge_behind_tls_sends_us_out_of_it(tls: str, scheme: str, token: str | None) -> None:
    with socket.create_server(("127.0.0.1", 0)) as plain:
        plain.setblocking(False)
        there = f"{scheme}://127.0.0.1:{plain.getsockname()[1]}/subscriptions/s/events"
        Script.answers = [(307, {"Location": there}, "")]
        with PushedAnswers("s", lambda: [tls], token=token) as answers, pytest.raises(UserError, match="without TLS"):
            next(answers)
        with pytest.raises(BlockingIOError):
            plain.accept()


@pytest.mark.parametrize("location", ["", "ftp://a/b", "https://", "http://a b/", "https://u@a/"])
def test_what_is_no_edge_is_not_followed(script: str, location: str) -> None:
    Script.answers = [(307, {"Location": location}, "")] * 5
    with PushedAnswers("s", lambda: [script], patience=0) as answers, pytest.raises(PushUnreachable):
        next(answers)
    assert all(asked["path"] == "/subscriptions/s/events" for asked in Script.asked)


def test_the_health_of_an_edge_behind_tls_is_read(tls: str) -> None:
    Script.answers = [(200, {}, '{"state":"running"}')]
    assert read_health(f"{tls}/base") == {"state": "running"}
    assert Script.asked[0]["path"] == "/base/health"


def test_an_edge_asks_for_a_token() -> None:
    live = LiveEdge(HttpRules(tenants={"acme": hash_of("secret")}))
    try:
        live.subscribe("acme/s", sql=PUSHED)
        with PushedAnswers("acme/s", lambda: [door(live)], token="secret") as answers:
            assert told(answers).kind == "snapshot"
        for token in (None, "wrong"):
            with PushedAnswers("acme/s", lambda: [door(live)], token=token) as answers:
                with pytest.raises(UserError, match="http_token") as refused:
                    next(answers)
                assert "\n" not in str(refused.value) and "wrong" not in str(refused.value)
    finally:
        live.close()


def test_not_now_is_asked_again(edge: LiveEdge, script: str) -> None:
    edge.subscribe("s", sql=PUSHED)
    Script.answers = [
        (503, {"Retry-After": "0"}, '{"message":"moving"}'),
        (404, {}, "not JSON"),
        (307, {"Location": f"http://{door(edge)}/subscriptions/s/events"}, ""),
    ]
    with PushedAnswers("s", lambda: [script]) as answers:
        assert told(answers).kind == "snapshot"


@pytest.mark.parametrize("doors", [[], ["127.0.0.1:1"]])
def test_where_the_answers_can_be_read_is_said_when_no_edge_is_reached(doors: list[str]) -> None:
    with PushedAnswers("s 1", lambda: doors, patience=0) as answers, pytest.raises(PushUnreachable) as error:
        next(answers)
    said = str(error.value)
    assert "/subscriptions/s%201/events" in said and "\n" not in said
    assert "no edge is running" in said if not doors else "127.0.0.1:1 cannot be reached" in said


def test_edges_that_send_one_round_in_circles_are_given_up(script: str) -> None:
    Script.answers = [(307, {"Location": f"http://{script}/subscriptions/s/events"}, "")] * 5
    with PushedAnswers("s", lambda: [script], patience=0) as answers, pytest.raises(PushUnreachable, match="in turn"):
        next(answers)


def test_another_refusal_is_said_at_once(script: str) -> None:
    Script.answers = [(400, {}, '{"message":"an id has no control characters"}')]
    with PushedAnswers("s", lambda: [script]) as answers, pytest.raises(UserError, match=r"HTTP 400.*control"):
        next(answers)


@pytest.mark.parametrize(
    ("value", "pushed"),
    [
        (subscription_value(SQL), False),
        (subscription_value(SQL, deliver="push"), True),
        (subscription_value(SQL, deliver="packed"), False),
        (subscription_value(SQL + " NOTIFY LATEST deliver  push;"), True),
        (subscription_value(template="SELECT MIN(a) FROM t WHERE b = ? DELIVER PUSH", params=[1]), True),
        (subscription_value(SQL + " DELIVER PUSH DELIVER PACKED"), False),
    ],
)
def test_which_are_pushed(value: bytes, pushed: bool) -> None:
    assert is_pushed(value) is pushed


def test_edges_are_known_by_their_group() -> None:
    members = [Member(name, "", frozenset()) for name in (client_id("b:2"), "else", client_id("a:1"))]
    assert edge_addresses(members) == ["a:1", "b:2"]


class RegistersOnly:
    """A client whose subscriptions are live at once, and that has no deliveries."""

    def __enter__(self) -> RegistersOnly:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is open."""

    def subscribe_all(self, queries: dict[str, bytes], timeout: float) -> dict[str, Ack]:
        return {id: Ack(id, 0, "live") for id in queries}


def test_the_command_prints_what_an_edge_tells_until_it_is_interrupted(
    script: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    Script.answers = [events(answer(1, "1.0"), {"kind": "progress", "epoch": 0, "batch": 4, "time": "t"}, retry=1)]
    doors = iter([[Member(client_id(script), "", frozenset())]])

    def members(group: str) -> list[Member]:
        found = next(doors, None)
        if found is None:
            raise KeyboardInterrupt
        return found

    monkeypatch.setattr(command, "open_client", lambda *_: RegistersOnly())
    monkeypatch.setattr(command, "Reader", lambda *_: SimpleNamespace(admin=SimpleNamespace(members=members)))
    assert run(["subscribe", "s", SQL, "--deliver", "push", "--follow"]) == 130
    lines = capfd.readouterr().out.splitlines()
    assert lines[1:] == ['s  snapshot 1: null -> "1.0"  epoch 0 batch 1']
