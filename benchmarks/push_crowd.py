"""A crowd that holds on to an edge, in a process of its own: what `benchmarks/push_crowds.py` measures others beside.

    python -m benchmarks.push_crowd half-open|unread HOST PORT COUNT

    half-open   connections that send a part of a request; whichever is ended is opened again, `AGAIN_PER_S` at most
    unread      streams of the subscription `wide`, of which nothing is ever read

All come from `SOURCE`, so that they count as one address, and not as that of the others. A line on standard output says
that they are there; the end of standard input ends them.
"""

from __future__ import annotations

import asyncio
import sys

from connectors.http.server import allow_files

SOURCE = "127.0.0.2"
AGAIN_PER_S = 500


class Held(asyncio.Protocol):
    """One connection of the crowd."""

    def __init__(self, request: bytes, reading: bool) -> None:
        self._request = request
        self._reading = reading
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send what there is to send, and no more."""
        assert isinstance(transport, asyncio.Transport)
        transport.write(self._request)
        if not self._reading:
            transport.pause_reading()

    def connection_lost(self, error: Exception | None) -> None:
        """Let the place be taken again, unless the crowd is sent home: then nobody waits for it."""
        if not self.over.done():
            self.over.set_result(None)


async def hold(kind: str, host: str, port: int, count: int) -> None:
    """Hold `count` connections until standard input ends."""
    loop, gate = asyncio.get_running_loop(), asyncio.Semaphore(50)
    request = {
        "half-open": f"GET /health HTTP/1.1\r\nHost: {host}:{port}\r\nX-",
        "unread": f"GET /subscriptions/wide/events HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n",
    }[kind].encode()

    async def one(there: asyncio.Event) -> None:
        while True:
            async with gate:
                try:
                    _, held = await loop.create_connection(
                        lambda: Held(request, kind != "unread"), host, port, local_addr=(SOURCE, 0)
                    )
                except OSError:
                    held = None
                await asyncio.sleep(50 / AGAIN_PER_S)
            there.set()
            if held is not None:
                await held.over

    places = [asyncio.Event() for _ in range(count)]
    tasks = [asyncio.create_task(one(there)) for there in places]
    await asyncio.gather(*(there.wait() for there in places))
    print("held", flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    for task in tasks:
        task.cancel()


if __name__ == "__main__":
    allow_files(int(sys.argv[4]) + 100)
    asyncio.run(hold(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
