"""HTTP/1.1 that refuses a request whose length is said more than once.

The parser (h11) takes two equal `Content-Length` headers as one, and passes over one beside `Transfer-Encoding`, as it
may. A proxy before us need not, and where the two disagree on where a request ends, what follows is another's request.
The handshake of a WebSocket has no body, so it says no length but 0.
"""

from __future__ import annotations

import re
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

_END = re.compile(rb"\r?\n\r?\n")
_LENGTH = re.compile(
    rb"^(?:content-length|transfer-encoding)[ \t]*:((?:[^\r\n]|\r?\n[ \t])*)", re.IGNORECASE | re.MULTILINE
)
_UPGRADE = re.compile(rb"^upgrade[ \t]*:", re.IGNORECASE | re.MULTILINE)


class StrictConnection(h11.Connection):
    """A server's side of a connection."""

    def next_event(self) -> Any:
        """Return the next event. *Raises* h11.RemoteProtocolError. *Cost*: one more look at each request's headers."""
        if self.their_state is h11.IDLE:
            waiting, _ = self.trailing_data
            end = _END.search(waiting)
            if end is not None:
                _check(waiting[: end.start()])
        return super().next_event()


class StrictHttp(H11Protocol):
    """uvicorn's protocol over a `StrictConnection`."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.conn = StrictConnection(h11.SERVER, self.config.h11_max_incomplete_event_size or 16_384)


def _check(head: bytes) -> None:
    lengths = _LENGTH.findall(head)
    if len(lengths) > 1 or any(b"," in one for one in lengths):
        raise h11.RemoteProtocolError("more than one length", 400)
    if lengths and lengths[0].strip() != b"0" and _UPGRADE.search(head):
        raise h11.RemoteProtocolError("a handshake with a body", 400)
