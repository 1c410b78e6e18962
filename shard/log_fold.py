"""Groups' states made from the log of publications: what the engine would hold, had it read up to a cut.

The very function that the engine runs takes the log chunk by chunk, the topics of a group together and in the one order
of `shard/order.py`; nobody listens, so nothing is sent.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from catalog.schema.catalog import Catalog
from catalog.schema.relation import Relation
from catalog.schema.view import View
from connectors.log.cut import Cut
from connectors.log.publication_log import Chunk, PublicationLog
from connectors.placement import Placement
from connectors.record import RawRecords
from connectors.topics import Topics
from operators.silenced import Silenced
from shard.group import Group, alone
from shard.group_spec import GroupSpec
from shard.pipeline import process_group
from shard.state import ShardState
from shard.view_rows import view_rows

NOWHERE: Mapping[str, tuple[Silenced, ...]] = {}
"""That silences have counted nowhere."""


def fold_groups(
    log: PublicationLog,
    catalog: Catalog,
    placement: Placement,
    upto: Cut,
    topics: Topics | None = None,
    keyed: Collection[str] = (),
    silenced: Mapping[str, tuple[Silenced, ...]] = NOWHERE,
) -> Iterator[tuple[str, bytes | None]]:
    """Yield each group of `placement` and its state after everything before `upto`, None where it has taken nothing.

    Groups that read the same topics are folded together, in one reading of these. `keyed` are topics of which rows
    without a key are refused in any case; `silenced` says by stream where silences of it have counted.
    Cost: for each set of topics about 10 us a publication, and O(rows of a group) for every 200,000 of them.
    """
    alike: dict[frozenset[str], list[str]] = defaultdict(list)
    for group in placement.groups:
        alike[frozenset(placement.topics(group).values())].append(group)
    for read, groups in alike.items():
        places = {topic: upto[topic] for topic in sorted(read) if topic in upto}
        several = {topic for topic, place in places.items() if topic in keyed or len(place.ends) > 1}
        counts = {topic: len(place.ends) for topic, place in places.items()}
        states: dict[str, bytes | None] = dict.fromkeys(groups)
        # A topic that was created again fed the table from its beginning: only its last life counts.
        for batch, chunk in enumerate(log.read(log.beginning_of(places), places)):
            for group, records in _parted(chunk, sorted(places), placement).items():
                if group in states:
                    members = placement.members(group)
                    spec = GroupSpec(
                        -1, group, catalog, topics or Topics(), 1, frozenset(several), members, counts=counts,
                        silenced=silenced,
                    )  # fmt: skip
                    states[group] = process_group(spec, batch, states[group], records).state
        yield from states.items()


def fold_log(log: PublicationLog, relation: Relation, upto: Cut, topics: Topics | None = None) -> ShardState:
    """Return the state of the relation after everything before `upto`: one shard, also where it is kept in buckets.

    Cost: as `fold_groups`.
    """
    whole = replace(relation, buckets=1, bucket_by=())
    catalog = Catalog(whole.born, {whole.name: whole})
    keyed = {relation.topic} if relation.bucket_by else ()
    states = dict(fold_groups(log, catalog, Placement.of(catalog), upto, topics, keyed))
    return alone(whole, whole.shard, states[whole.shard])


def fold_view(
    log: PublicationLog,
    catalog: Catalog,
    view: View,
    upto: Cut,
    topics: Topics | None = None,
    silenced: Mapping[str, tuple[Silenced, ...]] = NOWHERE,
) -> list[ShardState]:
    """Return the rows of a view after everything before `upto`, made of those of its tables. Cost: as `fold_groups`.

    Those of a view of a stream are made of all that the log has of it, as if the view had always been there.
    """
    tables = {name: replace(catalog.relations[name], buckets=1, bucket_by=()) for name in view.tables}
    whole = Catalog(catalog.version, tables, views=catalog.views)
    if any(relation.stream is not None for relation in tables.values()):
        keyed = {catalog.relations[name].topic for name in view.tables if catalog.relations[name].bucket_by}
        return view_rows(view, whole, dict(fold_groups(log, whole, Placement.of(whole), upto, topics, keyed, silenced)))
    folds = [fold_log(log, catalog.relations[name], upto, topics) for name in view.tables]
    return view_rows(view, whole, {fold.shard: Group(fold.shard, [fold]).dump() for fold in folds})


def _parted(chunk: Chunk, topics: Collection[str], placement: Placement) -> dict[str, list[RawRecords]]:
    """Return the records of a chunk by group."""
    parts: dict[str, list[RawRecords]] = defaultdict(list)
    for topic in topics:
        records = chunk.records(topic)
        for groups, where in placement.of_records(topic, records.keys) if len(records) else ():
            part = records if where is None else records.take(where)
            for group in groups:
                parts[group].append(part)
    return parts
