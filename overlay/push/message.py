"""Messages to people: deliveries as they were committed, and what stands for several of them.

A delivery goes out byte for byte as it stands in the topic `deliveries`. A reader who was behind hears of each
subscription one message for all that it missed:

    {"id", "kind", "version", "n", "old", "new" | "removed", "added", "at", "changes", "conflated": true}

`old` is what the reader holds, `new` what holds now, `n` the newest, `changes` how many it stands for; differences of
sets, bags and lists are composed into one (`overlay/push/differences.py`). A snapshot, an end, an answer and a resync
that is whole need no predecessor: they take the place of whatever was held back.

Others: `answer` (what holds now, as `GET /subscriptions/{id}`), `progress`, `reset`, `unknown`, `elsewhere`, `moved`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

import msgspec
from msgspec import UNSET, Raw, UnsetType

from overlay.push.differences import Difference, composed

ANSWER = "answer"
_ALONE = frozenset({"snapshot", "ended", ANSWER, "unknown"})


class Told(msgspec.Struct, gc=False):
    """One message of one subscription; values stay the JSON text that they came as. `line` is the whole message.

    `of`: into how many parts it was cut, where it was too long for a record.
    """

    kind: str
    version: int
    n: int
    id: Raw = Raw(b'""')
    at: Raw = Raw(b"null")
    old: Raw | UnsetType = UNSET
    new: Raw | UnsetType = UNSET
    removed: Raw | UnsetType = UNSET
    added: Raw | UnsetType = UNSET
    key: Raw | UnsetType = UNSET
    whole: Raw | UnsetType = UNSET
    changes: int = 1
    of: int | UnsetType = UNSET
    line: bytes = b""

    @property
    def mark(self) -> tuple[int, int]:
        """What orders the messages of a subscription."""
        return self.version, self.n

    @property
    def stands_alone(self) -> bool:
        """Whether it can be understood without any message before."""
        return self.kind in _ALONE or self.whole is not UNSET

    @property
    def difference(self) -> Difference:
        """What it says of values or rows that went and came."""
        removed, added, key = (b"" if raw is UNSET else bytes(raw) for raw in (self.removed, self.added, self.key))
        return Difference(removed or b"[]", added or b"[]", key or None)


_DECODER = msgspec.json.Decoder(Told)


def read_told(line: bytes) -> Told:
    """Read a delivery. Cost: 0.6 us. Raises msgspec.DecodeError or ValidationError."""
    told = _DECODER.decode(line)
    told.line = line
    return told


def read_all(lines: Iterable[bytes]) -> list[Told]:
    """Read one subscription's deliveries of a transaction, in order; one that was cut into parts is made whole.

    Raises as `read_told`.
    """
    read = [read_told(line) for line in lines]
    cut = [one for one in read if one.of is not UNSET]
    return list(_whole(read)) if cut else read


def _whole(read: Iterable[Told]) -> Iterator[Told]:
    """Yield deliveries; of those that were cut each once, when its last part is there."""
    parts: list[dict[str, Raw]] = []
    for one in read:
        if one.of is UNSET:
            yield one
            continue
        parts.append(_FIELDS.decode(one.line))
        if len(parts) == one.of:
            yield read_told(_joined(parts))
            parts = []


def _joined(parts: list[dict[str, Raw]]) -> bytes:
    """Return the delivery that these are the parts of: each has values of its own, and all else in common."""
    whole: dict[str, object] = {name: value for name, value in parts[0].items() if name not in ("part", "of")}
    for name in ("removed", "added"):
        whole[name] = [value for part in parts for value in _VALUES.decode(part[name])]
    return msgspec.json.encode(whole)


_FIELDS = msgspec.json.Decoder(dict[str, Raw])
_VALUES = msgspec.json.Decoder(list[Raw])


def read_at(line: bytes) -> tuple[int, int]:
    """Return (epoch, batch) of a progress record."""
    found = _POSITION.decode(line)
    return found.epoch, found.batch


class _Position(msgspec.Struct):
    epoch: int
    batch: int


_POSITION = msgspec.json.Decoder(_Position)


def answer_message(body: Mapping[str, object], conflated: bool) -> Told:
    """Return the message of a current answer; `body` as for GET, with `id`, `version` and `n`."""
    told = {**body, "kind": ANSWER} | ({"conflated": True} if conflated else {})
    version, n = body["version"], body["n"]
    assert isinstance(version, int) and isinstance(n, int)
    return Told(ANSWER, version, n, line=msgspec.json.encode(told))


def plain_message(kind: str, **members: object) -> bytes:
    """Return a message that is about no answer."""
    return msgspec.json.encode({"kind": kind, **members})


class Missed:
    """What a reader that is behind has not heard of one subscription: at most two messages, or that they are lost.

    One message stands alone, and one is for all changes since. Of old and new values the first and the last are kept.
    Differences are kept as they came, in the lists of their transactions, which all readers hold together: hundreds
    that have stopped have little of their own, and little that a garbage collection has to go through. `size` is what
    those behind the first one have in bytes. Whoever finds that too much lets them be `lost`: then what the reader has
    to hear is the newest answer, and until a message stands alone nothing else is kept.
    """

    __slots__ = ("_alone", "_changes", "_differences", "_first", "_last", "lost", "size")

    def __init__(self) -> None:
        self._forget()

    def _forget(self) -> None:
        self._alone: Told | None = None
        self._first: Told | None = None
        self._last: Told | None = None
        self._changes = 0
        self._differences: list[Sequence[Told]] = []
        self.size = 0
        self.lost = False

    def lose(self) -> None:
        """Keep nothing."""
        self._forget()
        self.lost = True

    def add(self, told: Sequence[Told]) -> None:
        """Take the next messages in; the sequence is kept, and must not change any more. Cost: O(messages)."""
        behind = next((i + 1 for i in reversed(range(len(told))) if told[i].stands_alone), 0)
        if behind:
            self._forget()
            self._alone = told[behind - 1]
            told = told[behind:]
        if self.lost or not told:
            return
        self._first = self._first or told[0]
        self._last = told[-1]
        self._changes += sum([one.changes for one in told])
        if self._last.added is not UNSET:
            size = sum([len(one.line) for one in told])
            self.size += size if self._differences else size - len(told[0].line)
            self._differences.append(told)

    def lines(self) -> list[bytes]:
        """Return what the reader has to hear."""
        lines = [self._alone.line] if self._alone is not None else []
        if self._last is not None and self._first is not None:
            lines.append(self._last.line if self._first is self._last else self._conflated(self._first, self._last))
        return lines

    @property
    def mark(self) -> tuple[int, int] | None:
        """Version and n that the reader has heard of with that; None: nothing was missed."""
        newest = self._last or self._alone
        return newest.mark if newest is not None else None

    def _conflated(self, first: Told, last: Told) -> bytes:
        body: dict[str, object] = {"old": first.old, "new": last.new}
        if last.added is not UNSET:
            body = composed([told.difference for told in chain.from_iterable(self._differences)])
        head = {"id": last.id, "kind": last.kind, "version": last.version, "n": last.n}
        return msgspec.json.encode({**head, **body, "at": last.at, "changes": self._changes, "conflated": True})
