"""A subscription that begins in the past: its history from the log, then its live deliveries, with nothing between.

    as of           the snapshot's position                     now
      |------ back-test ------|------------ live ---------------->

The subscription is registered first. Its acknowledgement says at the end of which batch its snapshot holds, the topic
`batches` says at which offsets that batch ends, and the back-test goes exactly there. It must end with the answer that
the snapshot has; where it does not, an error says so.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from catalog.schema.relation import Relation
from catalog.schema.view import View
from connectors.kafka.reader import Reader
from connectors.log.cut import Cut, Place, earlier
from connectors.log.publication_log import PublicationLog
from connectors.topics import Topics
from operators.control import Progress, control_at
from shard.bounds import Bounds
from state.errors import TidewireError
from tidewire.client.held_answer import LIST, HeldAnswer
from tidewire.client.records import At, Delivery
from tidewire.history.backtest import Backtest, Told
from tidewire.history.log_moment import Moment, cut_through

_LOOK_SECONDS = 0.5
_BOUNDS = Bounds()


class HistoryDiffers(TidewireError):
    """The history does not end with the answer that the live subscription began with."""

    code = "history_differs"


class LogBehind(TidewireError):
    """The log did not come as far as the snapshot in time."""

    code = "log_behind"
    retry_helps = True


class AsOf:
    """The history of the question in `value` since `moment`. *Raises* TooOld, NoLog: then nothing was registered.

    bounds: of the engine's shards, so that the past is refused where the present would be. `tables` and `views` are
    those of the question, as `Backtest` has them.
    """

    def __init__(
        self,
        log: PublicationLog,
        tables: Sequence[Relation],
        value: bytes,
        moment: Moment,
        bounds: Bounds = _BOUNDS,
        views: Sequence[View] = (),
    ) -> None:
        self._bounds = bounds
        self._views = views
        self._log = log
        self._tables = tables
        self._value = value
        self._after = cut_through(log, moment)

    def history(self, reader: Reader, topics: Topics, live: At, patience: float) -> tuple[Backtest, Iterator[Told]]:
        """Return the back-test up to the position `live`, and what it tells, once the log has come that far.

        Raises LogBehind after `patience` seconds, Refused where a shard would have refused the question in the past.
        """
        batches = read_batches(reader, topics)
        topics_asked = [relation.topic for relation in self._tables]
        upto = self._await(cut_at(batches, live, topics_asked, self._log), patience)
        test = Backtest(self._log, self._tables, self._value, self._after, upto, batches, self._bounds, self._views)
        return test, test.run()

    def _await(self, upto: Cut, patience: float) -> Cut:
        deadline = time.monotonic() + patience
        while earlier(self._log.newest.cut, upto):
            if time.monotonic() > deadline:
                raise LogBehind(
                    f"the log `{self._log.uri}` has not come to the subscription's beginning within {patience:g} s. "
                    "`tidewire status` says how it is; the subscription is live."
                )
            time.sleep(_LOOK_SECONDS)
            self._log = PublicationLog(self._log.uri)
        return upto


def cut_at(batches: Sequence[Progress], at: At, topics: Iterable[str], log: PublicationLog) -> Cut:
    """Return where topics are cut at the end of a batch; before the first one, where that began."""
    own = [one for one in batches if one.epoch == at.epoch]
    passed = [one.end for one in own if one.batch <= at.batch]
    ends = (passed[-1:] or [one.start for one in own[:1]] or [{}])[0]
    return {
        topic: Place(max(log.lives.count(topic) - 1, 0), {int(p): end for p, end in ends.get(topic, {}).items()})
        for topic in topics
    }


def check_joint(test: Backtest, snapshot: Delivery) -> None:
    """Raise HistoryDiffers unless the back-test ended where the live subscription begins.

    A snapshot without rows (SNAPSHOT NONE) does not say where that is. Rows that are told by their keys are compared by
    these, as changes within were not told; under NOTIFY ENTER, which tells of none that leaves, by their number too.
    """
    if snapshot.snapshot is not None:
        return
    live, past = _comparable(snapshot, answer_of(snapshot)), _comparable(snapshot, test.answer)
    by_key = snapshot.key is not None
    if not (set(live) <= set(past) and len(live) == test.rows if by_key else live == past):
        raise HistoryDiffers(
            f"the history ends with the answer {past!r}, the live subscription begins with {live!r}: the log lacks "
            "publications that the engine has (`tidewire log` lists gaps), or the table was declared anew."
        )


def answer_of(snapshot: Delivery) -> object:
    """Return the answer that a snapshot tells."""
    held = HeldAnswer()
    held.take(snapshot)
    return held.answer


def _comparable(snapshot: Delivery, answer: object) -> Any:
    """Return an answer such that equal ones are equal: values of a set and rows of a bag have no order."""
    if snapshot.added is None or snapshot.form == LIST or not isinstance(answer, list):
        return answer
    if snapshot.key is not None:
        answer = [tuple([row[place] for place in snapshot.key]) for row in answer]
    return sorted(map(repr, answer))


def read_batches(reader: Reader, topics: Topics) -> list[Progress]:
    """Return what the topic `batches` holds, each batch once, in order."""
    found: dict[tuple[int, int], Progress] = {}
    for record in reader.read_to_end(topics.batches):
        progress = control_at(record.topic, record.partition, record.offset, record.value)
        if isinstance(progress, Progress) and progress.end:
            found.setdefault((progress.epoch, progress.batch), progress)
    return [found[key] for key in sorted(found)]
