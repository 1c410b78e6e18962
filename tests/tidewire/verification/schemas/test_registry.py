"""Our own way of asking a registry, through a real HTTP server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.connectors.registry_server import RegistryServer, running
from tidewire.verification.schemas.registry import Answer, Registry, Silent, Use
from tidewire.verification.schemas.schema_fault import NoSchema


@pytest.fixture
def server() -> Iterator[RegistryServer]:
    with running(RegistryServer()) as found:
        yield found


def test_what_it_says_is_asked_once(server: RegistryServer) -> None:
    uses = [{"name": "n", "subject": "a/b", "version": 3}]
    server.ids[7] = {"schema": "x", "schemaType": "PROTOBUF", "references": uses}
    server.versions["s", 3] = {"schema": '"long"'}
    for base in (server.url, server.url + "/apis/ccompat/v7/"):
        registry = Registry(base, "me:secret", patience=0.2)
        for _ in range(2):
            assert registry.schema(7) == Answer("PROTOBUF", "x", [Use("n", "a/b", "3")])
    assert registry.schema(7).uses
    assert Registry(server.url).version(Use("n", "s", "3")) == Answer("AVRO", '"long"', [])
    assert [one.partition("?")[0] for one in server.asked] == [
        "/schemas/ids/7", "/apis/ccompat/v7/schemas/ids/7", "/subjects/s/versions/3",
    ]  # fmt: skip
    assert server.authorizations == {"Basic bWU6c2VjcmV0", None}


def test_what_it_does_not_know(server: RegistryServer) -> None:
    registry = Registry(server.url, patience=0.2)
    for _ in range(2):
        with pytest.raises(NoSchema, match="does not know"):
            registry.schema(8)
    assert len(server.asked) == 2


@pytest.mark.parametrize("status", [503, 429])
def test_a_moment_away_is_waited_for(server: RegistryServer, status: int) -> None:
    server.ids[7] = {"schema": "x"}
    server.fails = [status]
    assert Registry(server.url, patience=5).schema(7).text == "x"


@pytest.mark.parametrize("status", [503, 401, 404, 307, 410])
def test_where_it_says_nothing_it_is_not_asked_again(server: RegistryServer, status: int) -> None:
    server.ids[7] = {"schema": "x"}
    server.fails = [status] * 50
    registry = Registry(server.url, patience=0.0)
    for number in (7, 8):
        with pytest.raises(Silent, match=f"{server.url} does not say what schemas/ids/7 is: it answers {status}"):
            registry.schema(number)
    assert len(server.asked) == 1


@pytest.mark.parametrize("answer", [{}, {"schema": 5}, {"schema": "x", "references": [5]}])
def test_answers_that_are_none(server: RegistryServer, answer: dict[str, object]) -> None:
    server.ids[7] = answer
    with pytest.raises(Silent, match="its answer is no schema"):
        Registry(server.url).schema(7)


def test_nobody_there() -> None:
    with pytest.raises(Silent, match="does not say what"):
        Registry("http://127.0.0.1:9", patience=0.0).schema(1)
