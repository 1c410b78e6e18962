"""Who listens to which subscription, and what they are told: from a committed transaction to readers' mailboxes.

Two threads meet here. The edge's thread calls `committed` right after a transaction, still inside its step, so what
people hear is what every reader of committed records hears. With nobody listening that is one look at two empty
dictionaries a transaction. The HTTP server's event loop owns all the rest; it is woken at most once a transaction.

A stream begins without gap or overlap, in this order:
1. Its subscriptions are watched: what is committed from now on arrives here, and is held back.
2. Their answers are read between two steps (`CommittedView`): they are what is committed.
3. The answers are sent, then what was held back and is newer by (version, n).

What was committed although the edge could not know it (it died or was cut off within the commit) is made good when the
virtual edge is taken up again: `adopted` compares what was told with the log.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TypeVar

from connectors.http.answer import Answer, Elsewhere, NotNow, Unknown
from connectors.http.rules import HttpRules
from connectors.http.stream import Stream
from connectors.kafka.partitioner import home_partition
from connectors.record import OutRecord
from connectors.topics import Topics
from overlay.delivery.delivery import PROGRESS_KEY
from overlay.delivery.packed_deliveries import PACKED_KEY, lines_of
from overlay.push.answers import SharedAnswers
from overlay.push.looks import Look, Looks
from overlay.push.message import Told, read_all, read_at
from overlay.push.row_looks import RowLooks
from overlay.push.stream import PushStream
from state.errors import TidewireError

PULSE_SECONDS = 1.0
SPOKES = 20
"""Readers' pulses are spread over the second, so that thousands of idle ones hold up nobody in one go."""

_K = TypeVar("_K")
_V = TypeVar("_V")


@dataclass(slots=True)
class _Heard:
    """What somebody listens to of one transaction; of each virtual edge's progress the newest."""

    deliveries: dict[bytes, list[bytes]] = field(default_factory=dict)
    packed: list[bytes] = field(default_factory=list)
    progress: dict[int, bytes] = field(default_factory=dict)
    acks: list[tuple[bytes, bytes]] = field(default_factory=list)


class PushBoard:
    """Streams of one edge.

    `partitions`: how many virtual edges there are, 0 while nobody knows. `epoch`: the newest that progress was made in.
    `row_looks`: how the rows of bags come into answers.
    """

    def __init__(self, topics: Topics, rules: HttpRules, look: Look, epoch: Callable[[], int]) -> None:
        self._deliveries, self._acks = topics.deliveries, topics.acks
        self._rules = rules
        self._looks = Looks(look)
        self.row_looks = RowLooks()
        self._answers = SharedAnswers()
        self._epoch = epoch
        self.partitions = 0
        self._watched: dict[bytes, dict[PushStream, int]] = {}
        self._homes: dict[int, dict[PushStream, None]] = {}
        self._awaited: dict[bytes, list[Callable[[bytes], None]]] = {}
        self._streams: dict[PushStream, set[PushStream]] = {}
        self._wheel: list[set[PushStream]] = [set() for _ in range(SPOKES)]
        self._spoke = 0
        self._pulsing = False
        self._loop: asyncio.AbstractEventLoop | None = None

    # -- the edge's thread ----------------------------------------------------------------------------------------

    def committed(self, records: Sequence[OutRecord]) -> None:
        """Tell what one transaction made visible. Cost: none if nobody listens, else 0.1 us a record."""
        if not (self._watched or self._awaited):
            return
        heard = _Heard()
        for record in records:
            key, value = record.key or b"", record.value or b""
            if record.topic == self._deliveries:
                if key in self._watched:
                    heard.deliveries.setdefault(key, []).append(value)
                elif key == PROGRESS_KEY and record.partition is not None:
                    heard.progress[record.partition] = value
                elif key == PACKED_KEY and record.partition in self._homes:
                    heard.packed.append(value)
            elif record.topic == self._acks and key in self._awaited:
                heard.acks.append((key, value))
        self._post(lambda: self._hear(heard))

    def owned(self, virtual_edges: Iterable[int]) -> None:
        """End streams of virtual edges that are not among those: they have moved to another edge."""
        if self._streams:
            kept = set(virtual_edges)
            self._post(lambda: self._end_but(kept))

    def adopted(self, virtual_edges: Iterable[int], find: Callable[[bytes], Answer | None]) -> None:
        """Make good what was committed and not told; `find` gives an answer as the log has it."""
        mine = set(virtual_edges)
        keys = [key for key in list(self._watched) if home_partition(key, self.partitions) in mine]
        answers = [(key, find(key)) for key in keys]
        if answers:
            self._post(lambda: self._make_good(answers))

    def _post(self, call: Callable[[], object]) -> None:
        """Have the loop call; a server that stops just now has no readers any more."""
        if self._loop is not None:
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(call)

    @property
    def readers(self) -> int:
        """How many streams are open."""
        return len(self._streams)

    # -- the server's event loop ----------------------------------------------------------------------------------

    async def open(
        self, identifiers: Sequence[str], mark: str | None, progress: float, single: bool, redirect: bool
    ) -> Stream | Answer:
        """Return a stream, or the answer in its place: none is here, or the edge is full."""
        if len(self._streams) >= self._rules.connections:
            return NotNow(f"this edge holds its {self._rules.connections} connections already")
        if not self.partitions:
            return NotNow("the edge is starting")
        stream = self._watch(identifiers, mark, progress)
        try:
            answers = await self._newest(identifiers)
        except TidewireError as error:
            answers = [NotNow(str(error))]
        except BaseException:
            stream.close()
            raise
        instead = _instead(answers, single, redirect)
        if instead is not None:
            stream.close()
            return instead
        stream.begin(answers, self._epoch())
        return stream

    async def _newest(self, names: Sequence[str]) -> Sequence[Answer]:
        """Return current answers, rows and all."""
        return await self.row_looks.filled(names, await self._looks.answers(names))

    def await_acks(self, key: bytes, hear: Callable[[bytes], None]) -> None:
        """Call `hear` with each acknowledgement of `key` from now on, until `forget_acks`."""
        self._loop = asyncio.get_running_loop()
        self._awaited.setdefault(key, []).append(hear)

    def forget_acks(self, key: bytes, hear: Callable[[bytes], None]) -> None:
        """Undo `await_acks`."""
        self._awaited[key].remove(hear)
        if not self._awaited[key]:
            del self._awaited[key]

    def _watch(self, identifiers: Sequence[str], mark: str | None, progress: float) -> PushStream:
        loop = self._loop = asyncio.get_running_loop()
        stream = PushStream(
            identifiers, mark, self.partitions, progress, loop.time, self._unwatch, self._newest, self._answers.message
        )
        for number, key in enumerate(stream.keys):
            self._watched.setdefault(key, {})[stream] = number
        for home in stream.homes:
            self._homes.setdefault(home, {})[stream] = None
        self._streams[stream] = min(self._wheel, key=len)
        self._streams[stream].add(stream)
        if not self._pulsing:
            self._pulsing = True
            loop.call_later(PULSE_SECONDS / SPOKES, self._pulse)
        return stream

    def _unwatch(self, stream: PushStream) -> None:
        self._streams.pop(stream).discard(stream)
        _forget(self._watched, stream.keys, stream)
        _forget(self._homes, stream.homes, stream)

    def _hear(self, heard: _Heard) -> None:
        for key, told in self._unpacked(heard).items():
            for stream, number in self._watched.get(key, {}).items():
                stream.put(number, told)
        for home, line in heard.progress.items():
            at = read_at(line)
            for stream in self._homes.get(home, ()):
                stream.progress(home, at, line)
        for key, ack in heard.acks:
            for hear in self._awaited.get(key, ()):
                hear(ack)

    def _unpacked(self, heard: _Heard) -> dict[bytes, list[Told]]:
        """Return what is told each subscription, in order, in whatever form it was written."""
        told = {key: sorted(read_all(lines), key=_mark) for key, lines in heard.deliveries.items()}
        packed: dict[bytes, list[bytes]] = {}
        for value in heard.packed:
            for key, line in lines_of(value, self._watched):
                packed.setdefault(key, []).append(line)
        for key, lines in packed.items():
            told[key] = sorted(told.get(key, []) + read_all(lines), key=_mark)
        return told

    def _end_but(self, kept: set[int]) -> None:
        for stream in self._streams:
            if not kept.issuperset(stream.present):
                stream.end()

    def _make_good(self, answers: list[tuple[bytes, Answer | None]]) -> None:
        for key, answer in answers:
            for stream, number in self._watched.get(key, {}).items():
                stream.make_good(number, answer)

    def _pulse(self) -> None:
        """Feel the pulse of a share of the readers; each has its turn once a second."""
        for stream in self._wheel[self._spoke]:
            stream.pulse()
        self._spoke = (self._spoke + 1) % SPOKES
        self._pulsing = bool(self._streams)
        if self._pulsing:
            asyncio.get_running_loop().call_later(PULSE_SECONDS / SPOKES, self._pulse)


_mark = attrgetter("version", "n")


def _forget(readers_of: dict[_K, dict[PushStream, _V]], names: Iterable[_K], stream: PushStream) -> None:
    for name in names:
        readers = readers_of.get(name, {})
        readers.pop(stream, None)
        if not readers:
            readers_of.pop(name, None)


def _instead(answers: Sequence[Answer], single: bool, redirect: bool) -> Answer | None:
    """Return what is to be answered in place of a stream, if nothing of it is here or something is moving."""
    for answer in answers:
        if isinstance(answer, NotNow) or (single and isinstance(answer, Unknown)):
            return answer
    first = answers[0]
    return first if redirect and isinstance(first, Elsewhere) and all(answer == first for answer in answers) else None
