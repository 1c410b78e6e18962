"""What is waited for is said once, and only where it takes long."""

from __future__ import annotations

import time

import pytest

from tidewire.waiting import waiting_for


def test_a_long_wait_is_said_once() -> None:
    said: list[str] = []
    with waiting_for("Kafka", said.append, silent=0.01):
        time.sleep(0.2)
    assert said == ["waiting for Kafka"]


def test_a_short_one_and_one_that_fails_say_nothing_afterwards() -> None:
    said: list[str] = []
    with waiting_for("Kafka", said.append, silent=0.3):
        pass
    with pytest.raises(ValueError), waiting_for("Kafka", said.append, silent=0.3):
        raise ValueError
    time.sleep(0.4)
    assert said == []
