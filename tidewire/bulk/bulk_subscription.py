"""Registering many subscriptions: written in bulk, waited for on the way, one refusal stopping none of the others.

Entries are upserts by id, so sending one twice changes nothing; a run that was interrupted goes on where its resume
point says, and waits for what the earlier run has sent, too. At most `_MOST_WAITING` are without an answer at any time:
then no more are sent until half of these are answered, so a file of any length takes the same memory.

*Cost*: 10 us an entry to read and send, 5 us to wait for; about 250 bytes of memory an entry without an answer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import msgspec

from connectors.kafka.producer import Producer
from connectors.kafka.reader import Reader
from connectors.kafka.record import KafkaRecord
from connectors.record import OutRecord
from connectors.topics import Topics
from overlay.delivery.ack import WRONG_PARTITION
from tidewire.bulk.resume_point import Reached, ResumePoint
from tidewire.bulk.subscription_file import Entry
from tidewire.client.records import Ack, read_ack

_FLUSH_ENTRIES = 50_000
_MOST_WAITING = 100_000
_TICK_ENTRIES = 1_000
_IDLE_SECONDS = 0.5
_KEPT = 100
_UNKNOWN = -1


class Trouble(msgspec.Struct, omit_defaults=True):
    """An entry that is none (`number` says where in the file) or a subscription that was refused or has ended."""

    id: str
    code: str
    message: str
    hint: str | None = None
    number: int | None = None


@dataclass(slots=True)
class Tally:
    """What has become of the entries so far. `troubles` holds the first ones only.

    bad: were no subscription and not sent.  sent: with the broker.  earlier: of those, by an earlier run.
    live, refused, ended: answered so.  waiting: not answered yet. Entries of one id that wait at the same time are
    answered as one.
    """

    sent: int = 0
    earlier: int = 0
    bad: int = 0
    live: int = 0
    refused: int = 0
    ended: int = 0
    waiting: int = 0
    seconds: float = 0.0
    troubles: list[Trouble] = field(default_factory=list)

    def trouble(self, one: Trouble) -> None:
        """Keep one of the first."""
        if len(self.troubles) < _KEPT:
            self.troubles.append(one)


Tick = Callable[[Tally], None]


class BulkSubscription:
    """Sends entries and waits for their answers. `tick` is called every now and then.

    patience: seconds without any answer after which it is given up; None: answers are not waited for.
    """

    def __init__(
        self,
        producer: Producer,
        reader: Reader,
        topics: Topics,
        tick: Tick = lambda _: None,
        patience: float | None = None,
    ) -> None:
        self.tally = Tally()
        self._producer = producer
        self._reader = reader
        self._topics = topics
        self._tick = tick
        self._patience = patience
        self._waiting: dict[bytes, int] = {}
        self._acks: dict[int, int] = {}
        self._answers: Iterator[KafkaRecord | None] = iter(())
        self._began = time.monotonic()

    def run(self, entries: Iterable[Entry], resume: ResumePoint, source: str) -> bool:
        """Write all entries that an earlier run of `source` has not written, and wait until all are answered.

        Returns False if no answer came for `patience` seconds; then what is left can be done by another run.
        Raises KafkaFailure.
        """
        reached = resume.read(source) or Reached(source, self._reader.admin.end_offsets(self._topics.acks))
        self._begin(reached)
        done = 0
        for done, entry in enumerate(entries, 1):
            self._take(entry, done <= reached.sent)
            if done % _TICK_ENTRIES == 0:
                self._told()
            if done % _FLUSH_ENTRIES == 0 and done > reached.sent:
                self._note(resume, source, done)
            if len(self._waiting) >= _MOST_WAITING and not self._wait(resume, source, done, _MOST_WAITING // 2):
                return False
        return self._wait(resume, source, max(done, reached.sent), 0)

    def _begin(self, reached: Reached) -> None:
        """Go on where an earlier run was."""
        self._acks, self.tally.earlier = reached.acks, reached.sent
        self.tally.live, self.tally.refused, self.tally.ended = reached.live, reached.refused, reached.ended
        if self._patience is not None:
            self._waiting = {id.encode(): version for id, version in reached.waiting.items()}
            self._answers = self._reader.tail(self._topics.acks, self._acks, _IDLE_SECONDS)

    def _take(self, entry: Entry, sent: bool) -> None:
        if entry.problem is not None:
            self.tally.bad += 1
            self.tally.trouble(Trouble("", "unreadable", entry.problem, number=entry.number))
        elif sent:
            self.tally.sent += 1
        else:
            self._send(entry)

    def _note(self, resume: ResumePoint, source: str, done: int) -> None:
        """Let the broker have all that was sent, and write down how far this is."""
        self._producer.flush()
        tally = self.tally
        waiting = {key.decode(): version for key, version in self._waiting.items()}
        resume.write(Reached(source, self._acks, done, waiting, tally.live, tally.refused, tally.ended))

    def _wait(self, resume: ResumePoint, source: str, done: int, enough: int) -> bool:
        """Read acknowledgements until at most `enough` entries wait; False if none came for `patience` seconds.

        Before, all that was sent is with the broker, so that the offset of each entry that waits is known.
        """
        self._note(resume, source, done)
        patience = self._patience
        until = time.monotonic() + (patience or 0.0)
        number = 0
        while patience is not None and len(self._waiting) > enough:
            record = next(self._answers)
            number += 1
            if record is not None and self._answered(record):
                until = time.monotonic() + patience
            if record is None or number % _TICK_ENTRIES == 0:
                self._told()
                if time.monotonic() > until:
                    break
        self._told()
        if number:
            self._note(resume, source, done)
        return len(self._waiting) <= enough

    def _send(self, entry: Entry) -> None:
        key = entry.key
        if self._patience is None:
            self._producer.send(OutRecord(self._topics.subscriptions, None, key, entry.value))
            self.tally.sent += 1
            return
        self._waiting[key] = _UNKNOWN

        def written(_: int, offset: int) -> None:
            self._waiting[key] = max(offset, self._waiting.get(key, _UNKNOWN))

        self._producer.send(OutRecord(self._topics.subscriptions, None, key, entry.value), written)
        self.tally.sent += 1

    def _answered(self, record: KafkaRecord) -> bool:
        """Take an acknowledgement; return whether it is the last word on something that is waited for."""
        self._acks[record.partition] = record.offset + 1
        version = self._waiting.get(record.key or b"")
        if version is None or record.value is None:
            return False
        ack = read_ack(record.value)
        if ack.status == "accepted" or ack.version < version or ack.code == WRONG_PARTITION:
            return False
        del self._waiting[record.key or b""]
        self._count(ack)
        return True

    def _count(self, ack: Ack) -> None:
        tally = self.tally
        if ack.status == "live":
            tally.live += 1
        elif ack.status == "refused":
            tally.refused += 1
            tally.trouble(Trouble(ack.id, ack.code or "refused", ack.message or "", ack.hint))
        else:
            tally.ended += 1
            tally.trouble(Trouble(ack.id, "ended", ack.reason or ""))

    def _told(self) -> None:
        self.tally.waiting = len(self._waiting)
        self.tally.seconds = round(time.monotonic() - self._began, 3)
        self._tick(self.tally)
