"""`tidewire subscribe`: register a standing question and follow its answer, or a file of many."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from catalog.types.column_type import JsonValue
from connectors.json.reader import UnreadableJson, read_json
from connectors.kafka.producer import Producer
from connectors.kafka.reader import Reader
from overlay.process.ownership import edge_group
from state.errors import UserError
from tidewire.bulk.bulk_progress import BulkProgress, lines_of, summary
from tidewire.bulk.bulk_subscription import BulkSubscription
from tidewire.bulk.resume_point import ResumePoint, source_of
from tidewire.bulk.subscription_file import Defaults, SubscriptionFile
from tidewire.client.client import Client, subscription_value
from tidewire.client.connection import find_stack, kafka_properties, open_client, reach, topics_of
from tidewire.client.failures import NotAnswered
from tidewire.client.pushed_answers import PushedAnswers, edge_addresses, is_pushed
from tidewire.client.records import Ack, Answer, Delivery, Member, Progress, Refused
from tidewire.client.subscription_record import record_key
from tidewire.history.as_of import AsOf, check_joint
from tidewire.history.backtest import Told, tables_of, views_of
from tidewire.history.log_moment import parse_moment
from tidewire.history.open_log import open_log
from tidewire.options import (
    BootstrapOption,
    ConfigOption,
    DataDirOption,
    JsonOption,
    LogTableOption,
    PrefixOption,
    path_of,
)
from tidewire.settings import Settings
from tidewire.terminal import Terminal
from tidewire.waiting import waiting_for

_SHOWN_CHARACTERS = 80
_SHOWN_ROWS = 20


def subscribe(
    id: Annotated[str | None, typer.Argument(help="The subscription's id; one that exists is replaced.")] = None,
    sql: Annotated[str | None, typer.Argument(help="The question, e.g. SELECT MIN(price) FROM stock.")] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--file", parser=path_of, metavar="PATH", help="Instead of ID: a .jsonl, .csv or .parquet file of many."
        ),
    ] = None,
    template: Annotated[str | None, typer.Option(help="Instead of SQL: SQL with ? for the constants.")] = None,
    params: Annotated[str, typer.Option(help="The template's constants, a JSON array.")] = "[]",
    notify: Annotated[
        str | None, typer.Option(help="When to tell: EVERY CHANGE (default), LATEST, MIN CHANGE 0.5, MIN CHANGE 5 %.")
    ] = None,
    ttl: Annotated[int | None, typer.Option(min=1, help="Seconds after which the subscription ends.")] = None,
    as_of: Annotated[
        str | None, typer.Option("--as-of", help="Tell first what would have been told since: a version, or a moment.")
    ] = None,
    deliver: Annotated[
        str | None,
        typer.Option(help="How: records (default), packed: many deliveries in one record, or push: over HTTP alone."),
    ] = None,
    follow: Annotated[bool, typer.Option("--follow", help="Print every delivery until Ctrl-C.")] = False,
    progress: Annotated[bool, typer.Option("--progress", help="With --follow, print progress too.")] = False,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="With --file: until all are live or refused.")] = True,
    resume: Annotated[
        Path | None,
        typer.Option(
            parser=path_of, metavar="PATH", help="With --file: where to note how far it is; FILE.resume without it."
        ),
    ] = None,
    timeout: Annotated[float, typer.Option(help="Seconds to wait for an answer to become live.")] = 60,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    bootstrap: BootstrapOption = None,
    prefix: PrefixOption = None,
    log_table: LogTableOption = None,
    json: JsonOption = False,
) -> None:
    """Register a question under ID and wait until its answer is live; exit 2 with the reason if it is refused.

    With --file, register all that stand in it. Refusals are counted and do not stop the rest. One that was interrupted
    goes on when it is called again.
    """
    terminal = Terminal(json)
    if file is not None:
        if id is not None or follow or as_of is not None:
            raise UserError("--file registers what stands in the file; leave out ID, SQL, --as-of and --follow.")
        settings = find_stack(config, data_dir, bootstrap, prefix)
        entries = SubscriptionFile(file, Defaults(template, notify, ttl, deliver))
        _subscribe_file(entries, settings, resume, timeout if wait else None, terminal)
        return
    if id is None:
        raise UserError("name an ID and a question, or a --file of many.")
    record_key(id)
    settings = find_stack(config, data_dir, bootstrap, prefix, log_table=log_table)
    with open_client(settings) as client:
        value = subscription_value(sql, template, read_params(params), notify=notify, ttl=ttl, deliver=deliver)
        pushed = is_pushed(value)
        stream = client.deliveries([id], progress=progress) if follow and not pushed else None
        past = None if as_of is None else _past(settings, client, value, as_of)
        ack = _subscribe(client, id, value, timeout, terminal)
        terminal.answer(msgspec.to_builtins(ack), _describe(ack))
        if past is not None:
            _tell_past(past, settings, client, ack, timeout, terminal)
        if follow and pushed:
            with _pushed_answers(settings, ack, timeout) as answers:
                _tell((one for one in answers if progress or isinstance(one, Delivery)), ack, terminal)
        if stream is not None:
            with stream:
                _tell(stream, ack, terminal)


def _tell(records: Iterable[Delivery | Progress], ack: Ack, terminal: Terminal) -> None:
    """Print what is told of the version that `ack` is about, and of later ones."""
    for record in records:
        if isinstance(record, Progress) or record.version >= ack.version:
            terminal.answer(msgspec.to_builtins(record), describe_delivery(record))


def _pushed_answers(settings: Settings, ack: Ack, timeout: float) -> PushedAnswers:
    """Follow a subscription at the edges. They are found as they find each other: by the group on the broker."""
    admin = Reader(kafka_properties(settings)).admin
    group = edge_group(topics_of(settings))

    def edges() -> list[str]:
        return edge_addresses(admin.members(group))

    return PushedAnswers(ack.id, edges, ack.version, settings.http_token, timeout)


def _past(settings: Settings, client: Client, value: bytes, as_of: str) -> AsOf:
    """Open the log at the place asked for. Raises TooOld and NoLog: nothing has been registered then."""
    catalog, moment = client.catalog(), parse_moment(as_of)
    tables, views = tables_of(catalog, value), views_of(catalog, value)
    return AsOf(open_log(settings), tables, value, moment, settings.bounds, views)


def _tell_past(past: AsOf, settings: Settings, client: Client, ack: Ack, timeout: float, terminal: Terminal) -> None:
    """Print what would have been told up to the live snapshot, and check that both fit. Raises HistoryDiffers."""
    if ack.at is None:
        return
    with client.deliveries([ack.id], follow=False, from_beginning=True) as stream:
        known = [one for one in stream if isinstance(one, Delivery) and one.version == ack.version]
    test, history = past.history(Reader(kafka_properties(settings)), topics_of(settings), ack.at, timeout)
    told = -1
    for one in history:
        told += 1
        terminal.answer({"told": msgspec.to_builtins(one)}, describe_told(one))
    for snapshot in known[:1]:
        check_joint(test, snapshot)
    summary = {"deliveries": told, "publications": test.publications, "answer": test.answer}
    text = f"{told:,} deliveries there would have been, from {test.publications:,} publications; live from here on"
    terminal.answer({"summary": summary}, text)


def _subscribe_file(
    file: SubscriptionFile, settings: Settings, resume: Path | None, timeout: float | None, terminal: Terminal
) -> None:
    """Register a file's subscriptions; with a `timeout`, wait for them. Raises NotAnswered."""
    reach(settings)
    point = ResumePoint(resume or file.path.with_name(file.path.name + ".resume"))
    kafka = kafka_properties(settings)
    with BulkProgress(terminal, file) as bar:
        bulk = BulkSubscription(Producer(kafka), Reader(kafka), topics_of(settings), bar, timeout)
        done = bulk.run(file, point, source_of(file.path, settings.address, settings.prefix, file.defaults))
    if done:
        point.remove()
    terminal.answer(summary(bulk.tally, done, timeout is not None), lines_of(bulk.tally, timeout is not None))
    if not done:
        raise NotAnswered(
            f"{bulk.tally.waiting:,} subscriptions have no answer, and none has come for {timeout:g} s. They stay "
            "registered; see `tidewire status` for what is running, and call this again to go on with this file."
        )


def _subscribe(client: Client, id: str, value: bytes, timeout: float, terminal: Terminal) -> Ack:
    with waiting_for(f"an edge and the engine to make `{id}` live, for {timeout:g} s at most", terminal.say):
        ack = client.subscribe_all({id: value}, timeout)[id]
    if ack.status == "refused":
        if terminal.as_json:
            terminal.answer(msgspec.to_builtins(ack))
        raise Refused(ack)
    return ack


def read_params(text: str) -> list[JsonValue]:
    """Return the constants of a template, numbers exactly. Raises UserError if the text is no JSON array."""
    got = repr(text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…")
    try:
        params = read_json(text.encode(errors="surrogateescape"))
    except (UnreadableJson, UnicodeEncodeError) as error:
        raise UserError(f"--params: expected a JSON array, got {got} ({error}). Correct it.") from None
    if not isinstance(params, list):
        raise UserError(f"--params: expected a JSON array, got {got}. Put the constants in brackets.")
    return params


def describe_delivery(record: Delivery | Progress) -> str:
    """Return one line for a person."""
    if isinstance(record, Progress):
        return f"progress  epoch {record.epoch} batch {record.batch}"
    said = _difference(record)
    if record.changes > 1:
        said += f" ({record.changes} changes)"
    where = f"epoch {record.at.epoch} batch {record.at.batch}"
    if record.at.topic is not None:
        where += f" {record.at.topic}/{record.at.partition}/{record.at.offset}"
    reason = f" ({record.reason})" if record.reason else ""
    return f"{record.id}  {record.kind} {record.n}: {said}{reason}  {where}"


def describe_told(one: Told) -> str:
    """Return one line for a person, of a delivery that there would have been."""
    said = _difference(one)
    said += f" ({one.changes} changes)" if one.changes > 1 else ""
    cause = f"  {one.time} {one.topic}/{one.partition}/{one.offset}" if one.topic else ""
    return f"would have been told: {one.kind} {one.n}: {said}{cause}"


def _difference(told: Delivery | Told) -> str:
    """Return what a delivery says of the answer; of many rows that come or go at once the first."""
    if told.added is None:
        return f"{_shown(told.old)} -> {_shown(told.new)}"
    if told.snapshot or (isinstance(told, Delivery) and (told.same or told.whole == "look")):
        return "the same rows" if isinstance(told, Delivery) and told.same else "rows to be looked up"
    members = [f"+{_shown(v)}" for v in told.added] + [f"-{_shown(v)}" for v in told.removed or ()]
    rows = isinstance(next(iter(told.added or told.removed or ()), None), tuple)
    if rows and len(members) > _SHOWN_ROWS:
        members[_SHOWN_ROWS:] = [f"… ({len(members) - _SHOWN_ROWS:,} more)"]
    return " ".join(members)


def _describe(ack: Ack) -> str:
    at = f" from epoch {ack.at.epoch} batch {ack.at.batch} on" if ack.at else ""
    return f"{ack.id} is {ack.status}{at} (version {ack.version}, {ack.cost or 'no cost class'})"


def _shown(value: Answer | Member) -> str:
    return msgspec.json.encode(value).decode()
