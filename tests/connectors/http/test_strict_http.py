"""One length at most, however it is written, of the first request of a connection and of later ones."""

from __future__ import annotations

import h11
import pytest

from connectors.http.strict_http import StrictConnection

GOOD = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nX: content-length: 3\r\n\r\n{}"
DOUBLED = [
    b"Content-Length: 2\r\nContent-Length: 2",
    b"Content-Length: 2\r\nX: y\r\ncONTENT-lENGTH:2",
    b"Content-Length: 2, 2",
    b"Content-Length: 2\r\n , 2",
    b"Content-Length: 2\nContent-Length: 2",
    b"Content-Length: 2\r\nContent-Length: 3",
    b"Content-Length: 2\r\nTransfer-Encoding: chunked",
    b"transfer-encoding:chunked\r\nX: y\r\nContent-Length: 0",
    b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
    b"Transfer-Encoding: chunked, chunked",
    b"Upgrade: websocket\r\nContent-Length: 2",
    b"Transfer-Encoding: chunked\r\nupgrade : h2c",
]


def request(headers: bytes) -> bytes:
    return b"POST / HTTP/1.1\r\nHost: a\r\n" + headers + b"\r\n\r\n{}"


def events(pieces: list[bytes]) -> list[str]:
    connection, seen = StrictConnection(h11.SERVER), []
    for piece in pieces:
        connection.receive_data(piece)
        while (event := connection.next_event()) not in (h11.NEED_DATA, h11.PAUSED):
            seen.append(type(event).__name__)
            if isinstance(event, h11.EndOfMessage):
                connection.send(h11.Response(status_code=204, headers=[]))
                connection.send(h11.EndOfMessage())
                connection.start_next_cycle()
    return seen


@pytest.mark.parametrize("headers", DOUBLED)
@pytest.mark.parametrize("size", [1, 7, 1_000])
@pytest.mark.parametrize("before", [b"", GOOD])
def test_two_lengths_are_refused(headers: bytes, size: int, before: bytes) -> None:
    sent = before + request(headers)
    with pytest.raises(h11.RemoteProtocolError):
        events([sent[at : at + size] for at in range(0, len(sent), size)])


@pytest.mark.parametrize("size", [1, 7, 1_000])
def test_one_length_is_taken_whatever_the_body_says(size: int) -> None:
    body = b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n"
    sent = GOOD + b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body) + GOOD
    seen = events([sent[at : at + size] for at in range(0, len(sent), size)])
    assert seen.count("Request") == seen.count("EndOfMessage") == 3
