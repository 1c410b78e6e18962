"""A scenario over the whole stack: an embedded broker, Spark and edges, which one scenario after another uses.

Each scenario meets the stack as if it were new: its tables have topics of their own, its subscriptions ids that nobody
had, and what an earlier one has left is unsubscribed and dropped before it begins. A scenario that leaves a stack which
no longer answers leaves it to nobody: the next one gets another.

Cost: about 15 s to start the stack, then one or two batches where steps wait, and some 3 s for each change of the
catalog.
"""

from __future__ import annotations

import datetime as dt
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

from catalog.schema.relation import Relation
from catalog.sql.notify import read_options
from connectors.json.writer import encode_key, encode_row
from state.errors import TidewireError
from tidewire.client.client import subscription_value
from tidewire.scenario.engine import Refusal
from tidewire.scenario.own_catalog import OwnCatalog
from tidewire.scenario.own_names import OwnNames, TakenNames
from tidewire.scenario.script import Json
from tidewire.scenario.stack_watch import PATIENCE, StackWatch
from tidewire.settings import load_settings
from tidewire.stack.data_directory import DataDirectory
from tidewire.stack.running import running_stack

_LEAVING_SECONDS = 240.0
_JOIN = re.compile(r"\bjoin\b", re.IGNORECASE)


@contextmanager
def embedded_engines() -> Iterator[Callable[[], AbstractContextManager[StackEngine]]]:
    """Yield what gives each scenario an engine that seems new; the stack starts for the first and stops at the end."""
    with tempfile.TemporaryDirectory(prefix="tidewire-scenario-", ignore_cleanup_errors=True) as folder:
        stacks = _Stacks(Path(folder))
        try:
            yield stacks.engine
        finally:
            stacks.stop()


class SharedStack:
    """A running stack and what scenarios have used of it. `left` drops what the last one has left behind."""

    def __init__(self, watch: StackWatch) -> None:
        self.watch = watch
        self.left: list[str] = []
        self._ids, self._topics = TakenNames(), TakenNames()
        self._scenarios = 0

    def names(self) -> tuple[OwnNames, OwnNames]:
        """Return the names of the next scenario's subscriptions and topics."""
        self._scenarios += 1
        return OwnNames(self._ids, self._scenarios), OwnNames(self._topics, self._scenarios)


class _Stacks:
    """One stack at a time, below `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._started = 0
        self._block = ExitStack()
        self._stack: SharedStack | None = None

    @contextmanager
    def engine(self) -> Iterator[StackEngine]:
        """Give a scenario the stack; start one if there is none, and stop it if it does not answer afterwards."""
        self._stack = self._stack or self._start()
        engine = StackEngine(self._stack)
        try:
            yield engine
        finally:
            try:
                engine.leave()
            except TidewireError:
                self.stop()

    def stop(self) -> None:
        """Stop the stack that runs, if one does."""
        self._stack = None
        self._block.close()

    def _start(self) -> SharedStack:
        self._started += 1
        settings = load_settings(data_dir=self._folder / str(self._started), broker_port=0, http_port=0, cell_seconds=0)
        status = self._block.enter_context(running_stack(settings))
        watch = StackWatch(status, DataDirectory(settings.data_dir))
        self._block.callback(watch.close)
        return SharedStack(watch)


class StackEngine:
    """`ScenarioEngine` of one scenario over a running stack.

    Steps do not wait one by one, but where what follows could tell the difference:

        before a publication     every subscription that was asked for has begun: its first answer lacks the publication
        before a subscription    all publications have had their effect: its first answer holds them
        before deliveries are read, a restart or a change of the catalog     all of both, and subscriptions have ended

    With a policy that tells once a batch (LATEST), the batches show: then each publication waits for its effect. Where
    tables are joined, by a question or a view, what was published to one of them has its effect before something is
    published to another: of records of two topics in one batch, timestamps say which came first, and these may be
    equal.
    """

    def __init__(self, stack: SharedStack) -> None:
        self._stack = stack
        self._watch = stack.watch
        self._client = stack.watch.client
        self._id_of, topic_of = stack.names()
        self._catalog = OwnCatalog(topic_of)
        self._versions: dict[str, int] = {}
        self._by_batch: set[str] = set()
        self._joined = False
        self._written: set[str] = set()
        self._beginning: dict[str, int] = {}
        self._ending: dict[str, int] = {}

    def declare(self, ddl: str) -> None:
        """Apply DDL and wait until it is announced. Topics get one partition: a step's rows have an order."""
        self._settle()
        self._apply([*self._stack.left, *self._catalog.declare(ddl)])
        self._joined |= self._catalog.several

    def publish(self, table: str, rows: list[dict[str, Json]]) -> None:
        """Upsert rows in order."""
        with self._publishing(table) as relation:
            self._watch.send(relation.topic, [(encode_key(relation, row), encode_row(relation, row)) for row in rows])

    def delete(self, table: str, keys: list[dict[str, Json]]) -> None:
        """Delete by primary key, in order."""
        with self._publishing(table) as relation:
            self._watch.send(relation.topic, [(encode_key(relation, key), None) for key in keys])

    def publish_raw(self, table: str, records: list[tuple[bytes | None, bytes | None]]) -> None:
        """Write records to a table's topic, in order."""
        with self._publishing(table) as relation:
            self._watch.send(relation.topic, records)

    def silence(self, stream: str, upto: dt.datetime) -> None:
        """Say that a stream is silent, once what was published has been read."""
        self._begin()
        self._take_effect()
        self._client.silence(stream, upto, PATIENCE)
        self._written.add(self._client.topics.registrations)

    def subscribe(self, subscription: str, sql: str) -> Refusal | None:
        """Register or replace a subscription and wait until it is accepted or refused."""
        self._drop_what_was_left()
        id = self._id_of(subscription)
        self._take_effect()
        self._joined |= _JOIN.search(sql) is not None
        if id in self._beginning:
            self._begin()
        ack = self._watch.register(id, subscription_value(sql))
        if ack.status == "refused":
            return Refusal(ack.code or "", ack.message or "")
        self._versions[id] = self._beginning[id] = ack.version
        (self._by_batch.add if tells_by_batch(sql) else self._by_batch.discard)(id)
        return None

    def unsubscribe(self, subscription: str) -> None:
        """End a subscription, once what was published before has had its effect."""
        id = self._id_of(subscription)
        self._take_effect()
        self._begin()
        self._client.unsubscribe(id)
        self._by_batch.discard(id)
        if id in self._versions:
            self._ending[id] = self._versions.pop(id)

    def restart(self) -> None:
        """Stop the engine; the supervisor starts it again. Returns when it is ready."""
        self._settle()
        self._watch.await_restarted()

    def deliveries(self, subscription: str) -> list[dict[str, Json]]:
        """Take the deliveries to a subscription since the last call, once all steps have had their effect."""
        self._settle()
        return self._watch.take(self._id_of(subscription))

    def leave(self) -> None:
        """End all subscriptions; the tables are dropped when the next scenario begins. Raises TidewireError."""
        self._watch.check()
        self._stack.left += self._catalog.drops
        self._begin(_LEAVING_SECONDS)
        for id in self._versions:
            self._client.unsubscribe(id)
        for id, version in (self._ending | self._versions).items():
            self._watch.await_ended(id, version, _LEAVING_SECONDS)

    @contextmanager
    def _publishing(self, table: str) -> Iterator[Relation]:
        """Yield the table to whose topic the block writes."""
        self._drop_what_was_left()
        self._begin()
        relation = self._client.relation(table)
        if self._joined and self._written - {relation.topic}:
            self._take_effect()
        self._written.add(relation.topic)
        yield relation
        if self._by_batch:
            self._take_effect()

    def _settle(self) -> None:
        """Wait until all steps have had their effect."""
        self._take_effect()
        self._begin()
        while self._ending:
            self._watch.await_ended(*self._ending.popitem())

    def _take_effect(self) -> None:
        """Wait until all edges have passed the batches that read what was published."""
        written, self._written = self._written, set()
        self._watch.await_settled(written)

    def _begin(self, patience: float = PATIENCE) -> None:
        """Wait until all subscriptions that were asked for have begun."""
        while self._beginning:
            self._watch.await_begun(*self._beginning.popitem(), patience)

    def _drop_what_was_left(self) -> None:
        self._apply(self._stack.left)

    def _apply(self, statements: list[str]) -> None:
        """Let the stack apply what there is to apply, in one text: each costs the engine a restart of its query."""
        if statements:
            self._client.apply(";\n".join(statements), timeout=PATIENCE, partitions=1)
            self._stack.left = []


def tells_by_batch(sql: str) -> bool:
    """Whether a question's policy tells once a batch, so that its deliveries depend on where batches end."""
    options = read_options(sql)
    return options.notify is not None and options.notify.kind == "latest"
