"""Ports that are free, and those that are not."""

from __future__ import annotations

import socket

import pytest

from tidewire.stack.failure import NoPermissionError, PortInUseError
from tidewire.stack.port import LOOPBACK, free_port, is_listening, require_free


def test_a_free_port_can_be_used_and_is_listened_to_afterwards() -> None:
    port = free_port()
    require_free(port, "a test", "test_port")
    assert not is_listening(port)
    with socket.create_server((LOOPBACK, port)):
        assert is_listening(port)
        with pytest.raises(PortInUseError, match=rf"port {port} .* a test, is in use .* `test_port`"):
            require_free(port, "a test", "test_port")


def test_an_address_of_another_machine_cannot_be_used() -> None:
    with pytest.raises(NoPermissionError, match="cannot be used"):
        require_free(free_port(), "a test", "test_port", host="192.0.2.1")
