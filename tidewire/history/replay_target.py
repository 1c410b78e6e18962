"""Where a replay goes: topics under a prefix of their own, so that another tidewire can run on them.

    stock  ->  replay.stock      with as many partitions, kept for ever: the records have their old timestamps
    tw.catalog  ->  replay.catalog    the same tables, fed by the new topics

The first record of `<prefix>replays` says what is replayed; a replay of something else into the same prefix is refused.
"""

from __future__ import annotations

import time
from dataclasses import replace

import msgspec

from catalog.ddl.statements import fold_ddl, to_ddl
from catalog.ddl.stream_statement import marked
from catalog.schema.catalog import Catalog
from connectors.kafka.producer import Producer
from connectors.kafka.properties import KafkaProperties
from connectors.kafka.reader import Reader
from connectors.log.cut import Cut, Place
from connectors.record import OutRecord
from connectors.topics import Topics
from state.errors import UserError
from tidewire.client.catalog_log import read_catalog

_KEPT = {"retention.ms": "-1", "retention.bytes": "-1"}
_STILL_SECONDS = 1.0


class OtherReplay(UserError):
    """The topics of the prefix hold something else."""

    code = "other_replay"


class ReplayPlan(msgspec.Struct, frozen=True, tag="replay", tag_field="kind"):
    """What is replayed: between which cuts of which log, each cut as topic -> (life, partition -> offset)."""

    log: str
    after: dict[str, tuple[int, dict[int, int]]]
    upto: dict[str, tuple[int, dict[int, int]]]

    @classmethod
    def of(cls, log: str, after: Cut, upto: Cut) -> ReplayPlan:
        """Make a plan that can be written down."""
        return cls(log, *({t: (p.life, p.ends) for t, p in sorted(cut.items())} for cut in (after, upto)))

    @property
    def cuts(self) -> tuple[Cut, Cut]:
        """The two cuts."""
        after, upto = ({t: Place(*place) for t, place in cut.items()} for cut in (self.after, self.upto))
        return after, upto


class KafkaTarget:
    """Implements `ReplayTarget` for the topics under `into`."""

    def __init__(self, kafka: KafkaProperties, into: str) -> None:
        self._reader = Reader(kafka)
        self._admin = self._reader.admin
        self._producer = Producer(kafka)
        self._into = into
        self._topics: list[str] = []

    def known_plan(self) -> ReplayPlan | None:
        """Return what is being replayed into the prefix, None if nothing is."""
        name = self._into + "replays"
        if name not in self._admin.topics():
            return None
        values = [record.value for record in self._reader.read_to_end(name)]
        return msgspec.json.decode(values[0], type=ReplayPlan) if values and values[0] else None

    def begin(self, plan: ReplayPlan, catalog: Catalog, virtual_edges: int) -> None:
        """Make the topics and tables of `plan`; `catalog` has the tables as they are. Doing it again changes nothing.

        Raises OtherReplay if another plan is under way there, or topics there hold records of somebody else.
        """
        known, self._topics = self.known_plan(), sorted(plan.upto)
        if known not in (None, plan):
            raise OtherReplay(
                f"the topics of the prefix `{self._into}` hold another replay, of `{known and known.log}`. "
                "Choose another prefix with `--into`; without `--from` and `--to` that one goes on."
            )
        if known is None:
            self._refuse_strangers()
            self._admin.create_topic(self._into + "replays", 1, _KEPT)
            self._producer.send(OutRecord(self._into + "replays", 0, None, msgspec.json.encode(plan)))
            self._producer.flush()
        self._admin.ensure_topics(Topics(self._into), virtual_edges)
        for topic in self._topics:
            partitions = max([*plan.upto[topic][1], *plan.after.get(topic, (0, {}))[1]], default=0) + 1
            self._admin.create_topic(self._into + topic, partitions, _KEPT)
        self._declare(catalog)

    def written(self) -> dict[tuple[str, int], int]:
        """Return how many records each partition holds, once nothing is on its way any more."""
        ends = self._ends()
        while any(ends.values()):
            time.sleep(_STILL_SECONDS)
            before, ends = ends, self._ends()
            if ends == before:
                break
        return ends

    def send(self, record: OutRecord, timestamp: int) -> None:
        """Write a record of a topic of the log."""
        target = OutRecord(self._into + record.topic, record.partition, record.key, record.value)
        self._producer.send(target, timestamp=timestamp)

    def flush(self) -> None:
        """Return when everything is there. *Raises* KafkaFailure."""
        self._producer.flush()

    def _ends(self) -> dict[tuple[str, int], int]:
        return {
            (topic, partition): end
            for topic in self._topics
            for partition, end in self._admin.end_offsets(self._into + topic).items()
        }

    def _refuse_strangers(self) -> None:
        present = self._admin.topics()
        for topic in self._topics:
            if self._into + topic in present and any(self._admin.end_offsets(self._into + topic).values()):
                raise OtherReplay(
                    f"the topic `{self._into}{topic}` holds records that no replay wrote. Choose another prefix."
                )

    def _declare(self, catalog: Catalog) -> None:
        """Append the tables that the prefix's own catalog lacks, and the joins and views of these.

        All topics get the prefix: those that tables are read from, and those that views are written to. Cells of
        streams come with their views.
        """
        topics = Topics(self._into)
        known = read_catalog(self._reader, topics)
        tables = {name: one for name, one in catalog.relations.items() if one.topic in self._topics}
        statements = [to_ddl(replace(one, topic=self._into + one.topic)) for one in tables.values()]
        kept = {name for name, one in tables.items() if one.stream is None}
        statements += [to_ddl(cell) for cell in catalog.cells.values() if kept >= set(cell.tables)]
        views = [view for view in catalog.views.values() if tables.keys() >= set(view.tables)]
        statements += [to_ddl(replace(view, topic=view.topic and self._into + view.topic)) for view in views]
        for ddl in statements:
            before, known = known, fold_ddl(known, ddl, known.version + 1)
            if (known.relations, known.cells, known.views) != (before.relations, before.cells, before.views):
                self._producer.send(OutRecord(topics.catalog, 0, None, marked(ddl).encode()))
        self._producer.flush()
