"""What tests of a stack share that each module has one of."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.stack.hearer import Hearer
from tidewire.client.client import Client


@pytest.fixture(scope="module")
def hearer(client: Client) -> Iterator[Hearer]:
    one = Hearer(client)
    yield one
    one.close()
