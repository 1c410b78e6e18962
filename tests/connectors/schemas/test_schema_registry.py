from __future__ import annotations

import base64
import socket
from collections.abc import Iterator

import pytest

from connectors.schemas import schema_registry
from connectors.schemas.schema_registry import NoSchema, Registry, RegistryFailure, registry_in_use, use_registry
from tests.connectors.registry_server import RegistryServer, running

LONG = {"schema": '"long"', "references": []}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[RegistryServer]:
    monkeypatch.setattr(schema_registry, "_LATE_ATTEMPTS", 2)
    schema_registry._answer.cache_clear()
    with running(RegistryServer()) as found:
        yield found


def test_a_number_is_asked_for_once(server: RegistryServer) -> None:
    server.ids[7] = LONG
    server.versions["a b ü", 2] = LONG
    registry = Registry(server.url + "/")
    assert [registry.schema(7) for _ in range(3)] == [LONG] * 3
    assert registry.version({"name": "x", "subject": "a b ü", "version": 2}) == LONG
    assert len(server.asked) == 2
    assert server.asked[0] == "/schemas/ids/7?format=serialized"
    assert Registry(f"{server.url}/apis/ccompat/v7").schema(7) == LONG


def test_what_passes_is_waited_for(server: RegistryServer) -> None:
    server.ids[7] = LONG
    server.fails = [503, 429, 500]
    assert Registry(server.url).schema(7) == LONG
    assert len(server.asked) == 4


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (503, "answers 503, for 0.2 s"),
        (401, "registry_credentials"),
        (403, "registry_credentials"),
        (307, "answers 307"),
        (404, "answers 404, but not as a schema registry does"),
        (200, "holds no schema"),
        (418, "answers 418"),
    ],
)
def test_an_outage_is_no_answer(server: RegistryServer, status: int, said: str) -> None:
    server.ids[7] = LONG
    server.fails = [status] * 100
    registry = Registry(server.url, "reader:s3cret", patience=0.2)
    with pytest.raises(RegistryFailure, match=said) as failure:
        registry.schema(7)
    assert "s3cret" not in f"{failure.value}{failure.value!r}{registry!r}"
    assert failure.value.retry_helps
    assert server.authorizations == {"Basic " + base64.b64encode(b"reader:s3cret").decode()}
    server.fails = []
    assert registry.schema(7) == LONG


@pytest.mark.parametrize(
    "answer", [{"schema": 5}, {"schema": "", "references": "x"}, {"schema": "", "references": [1]}]
)
def test_an_answer_of_another_form_is_none(server: RegistryServer, answer: dict[str, object]) -> None:
    server.ids[7] = answer
    with pytest.raises(RegistryFailure, match="holds no schema"):
        Registry(server.url).schema(7)


def test_nobody_listens() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        with pytest.raises(RegistryFailure, match=r"refused.*for 0\.2 s"):
            Registry(f"http://127.0.0.1:{held.getsockname()[1]}", patience=0.2).schema(7)


def test_unknown_is_believed_a_moment_later_and_for_a_while(server: RegistryServer) -> None:
    registry = Registry(server.url)
    for _ in range(3):
        with pytest.raises(NoSchema, match=r"does not know it .schemas/ids/8"):
            registry.schema(8)
    assert len(server.asked) == 2
    server.ids[9] = LONG
    assert registry.schema(9) == LONG
    with pytest.raises(NoSchema, match="subjects/s/versions/1"):
        registry.version({"subject": "s", "version": 1})


def test_one_registry_a_process() -> None:
    assert registry_in_use() is None
    use_registry(Registry("http://x"))
    assert registry_in_use() == Registry("http://x")
    use_registry(None)


def test_garbage_is_not_waited_for(server: RegistryServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema_registry, "_MANY_UNKNOWN", 3)
    schema_registry._unknown.clear()
    registry = Registry(server.url)
    for number in range(100, 110):
        with pytest.raises(NoSchema):
            registry.schema(number)
    assert len(server.asked) == 3 * 2 + 7
    monkeypatch.setattr(schema_registry, "_UNKNOWN_SECONDS", 0.0)
    schema_registry._unknown.clear()
    for number in (1, 2):
        with pytest.raises(NoSchema):
            registry.schema(number)
    assert len(schema_registry._unknown) == 1
