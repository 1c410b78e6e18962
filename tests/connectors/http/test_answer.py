"""How an answer reads over HTTP."""

from __future__ import annotations

import msgspec

from connectors.http.answer import Elsewhere, Found, NotNow, Unknown, refusal, respond


def test_each_answer_has_its_status() -> None:
    answers = [Found({"n": 1}), Elsewhere("b:2"), NotNow("moving"), Unknown()]
    assert [respond("x", answer).status_code for answer in answers] == [200, 307, 503, 404]


def test_a_redirect_keeps_what_was_asked() -> None:
    location = respond("a/b c", Elsewhere("b:2"), "/events", "progress=3").headers["location"]
    assert location == "http://b:2/subscriptions/a%2Fb%20c/events?progress=3"


def test_bodies_are_one_line() -> None:
    response = refusal(400, "x", "two\nlines", {"Retry-After": "1"})
    assert b"\n" not in response.body
    assert msgspec.json.decode(response.body) == {"error": "x", "message": "two\nlines"}
    assert response.headers["retry-after"] == "1"
