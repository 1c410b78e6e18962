"""The whole of it in containers: a row that changes in PostgreSQL reaches a subscriber on the host."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from docker.errors import DockerException

import docker
from tests.docker.compose_file import FOLDER
from tests.docker.test_compose import has_compose
from tests.stack.live_stack import eventually
from tidewire import Client
from tidewire.client.client import Delivery

PATIENCE = 600.0


def has_engine() -> bool:
    try:
        docker.from_env(timeout=5).close()
    except DockerException:
        return False
    return has_compose()


pytestmark = [
    pytest.mark.docker,
    pytest.mark.stack,
    pytest.mark.timeout(1800),
    pytest.mark.skipif(not has_engine(), reason="no Docker engine answers"),
]


@pytest.fixture(scope="module")
def containers() -> Iterator[object]:
    from testcontainers.compose import DockerCompose

    with DockerCompose(str(FOLDER), "compose.yaml", build=True, wait=False) as running:
        yield running


def test_a_change_in_the_database_reaches_a_subscriber(containers: object) -> None:
    with Client("localhost:19092") as client:
        eventually(lambda: _applied(client), "the engine to announce the table", PATIENCE)
        client.subscribe("cheap", "SELECT MIN(price) FROM stock WHERE exchange = 'NYSE'", timeout=PATIENCE)
        eventually(lambda: _answer(client) == "9.75", "the rows that were there", PATIENCE)
        update = "UPDATE stock SET price = 7 WHERE symbol = 'IBM'"
        containers.exec_in_container(["psql", "-U", "shop", "-c", update], "postgres")  # type: ignore[attr-defined]
        eventually(lambda: _answer(client) == "7.00", "the change", PATIENCE)


def _applied(client: Client) -> bool:
    try:
        return client.apply((FOLDER / "stock.sql").read_text(), PATIENCE, partitions=1) >= 0
    except Exception as error:  # until the broker and the engine's topics are there
        return bool(print(error))


def _answer(client: Client) -> object:
    newest = client.answer("cheap")
    return newest.new if isinstance(newest, Delivery) else None
