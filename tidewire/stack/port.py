"""Ports on the loopback interface: which are free, and a message that names one that is not."""

from __future__ import annotations

import errno
import socket

from tidewire.option_name import option_of
from tidewire.stack.failure import NoPermissionError, PortInUseError

LOOPBACK = "127.0.0.1"


def free_port() -> int:
    """Return a port that nobody listens on now; another process may take it before the caller does."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.bind((LOOPBACK, 0))
        return int(listener.getsockname()[1])


def require_free(port: int, purpose: str, setting: str, host: str = LOOPBACK) -> None:
    """Check that `port` can be listened on.

    Raises:
        PortInUseError: somebody listens there; the message names `purpose` and the `setting` that changes it.
        NoPermissionError: the system does not let this user listen there.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
        except OSError as error:
            option = option_of(setting)
            where = f"port {port} on {host}, needed for {purpose}"
            if error.errno == errno.EADDRINUSE:
                raise PortInUseError(f"{where}, is in use by another process. Stop it, or set {option}.") from error
            raise NoPermissionError(f"{where}, cannot be used: {error.strerror}. Set {option}.") from error


def is_listening(port: int, host: str = LOOPBACK) -> bool:
    """Return whether a connection to `port` is accepted. *Cost*: at most 0.5 s."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.settimeout(0.5)
        return probe.connect_ex((host, port)) == 0
