"""Cuts through the log of publications, and the steps between two of them. Pure.

A cut says up to which offset each partition counts. A topic that was deleted and created again has several *lives*,
numbered as they came; a later life is after everything of an earlier one.

    marks       m0        m1        m2        m3
    stock/0      5         9        14        20        after: stock/0 = 7, upto: stock/0 = 16
    steps                7..9     9..14    14..16       one step a mark that lies between, in order
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from connectors.log.mark import LogMark

Ends = dict[int, int]
"""partition -> offset, exclusive; a partition that is not there ends at 0."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a topic is cut: in which of its lives, and at which offsets."""

    life: int
    ends: Ends

    def counts(self) -> bool:
        """Whether anything lies before the cut."""
        return self.life > 0 or any(self.ends.values())


NOWHERE = Place(0, {})
Cut = dict[str, Place]
"""topic -> place; a topic that is not there is cut at its beginning."""


@dataclass(slots=True)
class Lives:
    """The ids that each topic has had, in order; all marks are told to it, oldest first."""

    _ids: dict[str, list[str]] = field(default_factory=dict)

    def cut(self, mark: LogMark) -> Cut:
        """Return the cut at a mark."""
        return {
            topic: Place(self._life(topic, mark.ids[topic]), {int(p): end for p, end in ends.items()})
            for topic, ends in mark.end.items()
        }

    def id(self, topic: str, life: int) -> str:
        """Return the id that the topic had in that life."""
        return self._ids[topic][life]

    def count(self, topic: str) -> int:
        """Return how many lives the topic has had."""
        return len(self._ids.get(topic, ()))

    def _life(self, topic: str, number: str) -> int:
        known = self._ids.setdefault(topic, [])
        if number not in known:
            known.append(number)
        return known.index(number)


@dataclass(frozen=True, slots=True)
class Span:
    """Offsets [begin, end) of each partition of one life of a topic, only where there are any."""

    topic: str
    life: int
    begin: Ends
    end: Ends

    @property
    def records(self) -> int:
        """How many offsets it has."""
        return sum(self.end[partition] - self.begin[partition] for partition in self.end)


Step = list[Span]
"""What lies between two neighbouring cuts; topics in order."""


def steps(after: Cut, between: Sequence[Cut], upto: Cut, largest: int) -> Iterator[Step]:
    """Yield what lies between `after` and `upto`, cut at each of `between`, which ascend; without empty steps.

    Where nobody remembers the cuts, as below the oldest mark kept, a step may have more than `largest` records; it is
    then cut further, partition by partition alike.
    """
    before = after
    for cut in [*(_clamp(after, one, upto) for one in between), upto]:
        step = [span for topic in sorted(cut) if (span := _span(topic, before.get(topic, NOWHERE), cut[topic]))]
        if step:
            yield from _parts(step, largest)
        before = cut


def joined(parts: Sequence[Step]) -> Step:
    """Return neighbouring steps as one; they must be of the same lives. See `joinable`."""
    whole: dict[str, Span] = {}
    for span in (span for step in parts for span in step):
        known = whole.get(span.topic)
        whole[span.topic] = span if known is None else Span(
            span.topic, span.life, span.begin | known.begin, known.end | span.end
        )  # fmt: skip
    return [whole[topic] for topic in sorted(whole)]


def joinable(parts: Sequence[Step], step: Step) -> bool:
    """Whether `step` has no topic in another life than in `parts`."""
    lives = {span.topic: span.life for part in parts for span in part}
    return all(lives.get(span.topic, span.life) == span.life for span in step)


def earlier(one: Cut, other: Cut) -> bool:
    """Whether `one` lies before `other` in some partition."""
    return any(_span(topic, one.get(topic, NOWHERE), place) for topic, place in other.items())


def _span(topic: str, before: Place, place: Place) -> Span | None:
    begin = before.ends if before.life == place.life else {}
    moved = {p: end for p, end in sorted(place.ends.items()) if end > begin.get(p, 0)}
    if before.life > place.life or not moved:
        return None
    return Span(topic, place.life, {partition: begin.get(partition, 0) for partition in moved}, moved)


def _clamp(low: Cut, cut: Cut, high: Cut) -> Cut:
    return {topic: _between(low.get(topic, NOWHERE), cut.get(topic, NOWHERE), high[topic]) for topic in high}


def _between(low: Place, place: Place, high: Place) -> Place:
    if place.life < low.life or place.life > high.life:
        return low if place.life < low.life else high
    ends = dict(place.ends)
    if place.life == low.life:
        ends = {p: max(ends.get(p, 0), low.ends.get(p, 0)) for p in ends | low.ends}
    if place.life == high.life:
        ends = {p: min(end, high.ends.get(p, 0)) for p, end in ends.items()}
    return Place(place.life, ends)


def _parts(step: Step, largest: int) -> Iterator[Step]:
    records = sum(span.records for span in step)
    count = -(-records // largest)
    for number in range(count):
        part = [_slice(span, number, count) for span in step]
        yield [span for span in part if span.end]


def _slice(span: Span, number: int, count: int) -> Span:
    def place(partition: int, i: int) -> int:
        begin, end = span.begin[partition], span.end[partition]
        return begin + (end - begin) * i // count

    begin = {p: place(p, number) for p in span.end}
    end = {p: place(p, number + 1) for p in span.end}
    moved = [p for p in end if end[p] > begin[p]]
    return Span(span.topic, span.life, {p: begin[p] for p in moved}, {p: end[p] for p in moved})
