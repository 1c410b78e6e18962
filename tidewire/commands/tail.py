"""`tidewire tail`: print a topic's records as they come."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Any

import msgspec
import typer

from catalog.sql.names import quoted
from connectors.kafka.reader import Reader
from connectors.kafka.record import KafkaRecord
from connectors.topics import Topics
from state.errors import UserError
from tidewire.client.client import Client
from tidewire.client.connection import find_stack, kafka_properties, open_client, topics_of
from tidewire.client.packed_deliveries import PACKED_KEY, unpack_deliveries
from tidewire.client.records import PROGRESS_KEY
from tidewire.options import BootstrapOption, ConfigOption, DataDirOption, JsonOption, PrefixOption
from tidewire.record_text import describe, to_json
from tidewire.terminal import Terminal


def tail(
    topic: Annotated[
        str, typer.Argument(help="deliveries, acks, batches, …, a table, or a topic's own name.")
    ] = "deliveries",
    from_beginning: Annotated[
        bool, typer.Option("--from-beginning", help="Begin with the oldest record kept.")
    ] = False,
    follow: Annotated[bool, typer.Option(help="Go on until Ctrl-C, or stop at the end.")] = True,
    progress: Annotated[bool, typer.Option("--progress", help="Print @progress records, too.")] = False,
    limit: Annotated[int | None, typer.Option("--limit", "-n", min=1, help="Stop after so many records.")] = None,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    bootstrap: BootstrapOption = None,
    prefix: PrefixOption = None,
    json: JsonOption = False,
) -> None:
    """Print the committed records of TOPIC: a table, or one of tidewire's own topics without its prefix.

    Of `deliveries` the @progress records, one a second and partition, are left out unless --progress is given. Packed
    deliveries are printed one by one.
    """
    settings = find_stack(config, data_dir, bootstrap, prefix)
    with open_client(settings) as client:
        name = _resolve(topic, topics_of(settings), client)
    terminal = Terminal(json)
    records = _records(Reader(kafka_properties(settings)), name, from_beginning, follow)
    wanted = (one for record in records if progress or record.key != PROGRESS_KEY for one in _apart(record))
    for number, record in enumerate(wanted, 1):
        terminal.answer(to_json(record), describe(record))
        if number == limit:
            return


def _apart(record: KafkaRecord) -> Iterator[KafkaRecord]:
    """Yield the deliveries of a packed record as if each had come by itself; any other record as it is."""
    if record.key != PACKED_KEY or record.value is None:
        yield record
        return
    for told in unpack_deliveries(record.value):
        yield replace(record, key=told["id"].encode(), value=msgspec.json.encode(told))


def _records(reader: Reader, topic: str, from_beginning: bool, follow: bool) -> Iterator[KafkaRecord]:
    """Yield what is there now, then what comes: a tail alone starts now, a listing alone ends now."""
    if not follow:
        yield from reader.read_to_end(topic) if from_beginning else ()
        return
    start = reader.admin.begin_offsets(topic) if from_beginning else None
    yield from (record for record in reader.tail(topic, start) if record is not None)


def _resolve(name: str, topics: Topics, client: Client) -> str:
    """Return the topic that `name` means. Raises UserError."""
    own = {spec.name.removeprefix(topics.prefix): spec.name for spec in topics.specs()}
    if name in own:
        return own[name]
    catalog = client.catalog()
    relations = catalog.relations
    if name in catalog.views:
        hint = f'Ask it: tidewire subscribe "SELECT * FROM {quoted(name)}".'
        raise UserError(f"`{name}` is a view, whose rows are made of those of tables; no topic has them. {hint}")
    if name in relations:
        return relations[name].topic
    known: dict[str, Any] = own | {r.topic: r for r in relations.values()} | {t: t for t in own.values()}
    if name in known:
        return name
    raise UserError(f"there is no topic or table `{name}`; there are {', '.join(sorted(own | dict(relations)))}.")
