"""What no subscription may be called is refused before anything is connected: nobody listens where it points."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from state.errors import UserError
from tidewire import Client

CALLS: list[Callable[[Client, str], object]] = [
    lambda client, id: client.subscribe(id, "SELECT COUNT(*) FROM t"),
    lambda client, id: client.subscribe_all({id: "SELECT COUNT(*) FROM t"}),
    lambda client, id: client.unsubscribe(id),
    lambda client, id: client.deliveries(["a", id]),
    lambda client, id: client.answer(id),
]


@pytest.mark.parametrize("call", CALLS, ids=["subscribe", "subscribe_all", "unsubscribe", "deliveries", "answer"])
@pytest.mark.parametrize("id", ["", "@a", "x" * 1_025, "\ud800", "a\udcff"])
def test_an_id_is_refused_by_every_call(call: Callable[[Client, str], object], id: str) -> None:
    with Client("127.0.0.1:1") as client, pytest.raises(UserError, match=r"a subscription's id|are reserved"):
        call(client, id)
