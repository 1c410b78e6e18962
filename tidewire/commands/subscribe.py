"""`tidewire subscribe`: register a standing question, and follow its answer."""

from __future__ import annotations

import json as json_text
from typing import Annotated

import msgspec
import typer

from catalog.column_type import JsonValue
from state.errors import UserError
from tidewire.client import Client, subscription_value
from tidewire.connection import open_client
from tidewire.options import BootstrapOption, ConfigOption, JsonOption, PrefixOption
from tidewire.records import Ack, Answer, Delivery, Progress, Refused
from tidewire.terminal import Terminal


def subscribe(
    id: Annotated[str, typer.Argument(help="The subscription's id; one that exists is replaced.")],
    sql: Annotated[str | None, typer.Argument(help="The question, e.g. SELECT MIN(price) FROM stock.")] = None,
    template: Annotated[str | None, typer.Option(help="Instead of SQL: SQL with ? for the constants.")] = None,
    params: Annotated[str, typer.Option(help="The template's constants, a JSON array.")] = "[]",
    notify: Annotated[
        str | None, typer.Option(help="When to tell: EVERY CHANGE (default), LATEST, MIN CHANGE 0.5, MIN CHANGE 5 %.")
    ] = None,
    ttl: Annotated[int | None, typer.Option(min=1, help="Seconds after which the subscription ends.")] = None,
    follow: Annotated[bool, typer.Option("--follow", help="Print every delivery until Ctrl-C.")] = False,
    progress: Annotated[bool, typer.Option("--progress", help="With --follow, print progress too.")] = False,
    timeout: Annotated[float, typer.Option(help="Seconds to wait for the answer to be live.")] = 60,
    config: ConfigOption = None,
    bootstrap: BootstrapOption = None,
    prefix: PrefixOption = None,
    json: JsonOption = False,
) -> None:
    """Register a question under ID and wait until its answer is live; exit 2 with the reason if it is refused."""
    terminal = Terminal(json)
    with open_client(config, bootstrap, prefix) as client:
        stream = client.deliveries([id], progress=progress) if follow else None
        value = subscription_value(sql, template, read_params(params), notify=notify, ttl=ttl)
        ack = _subscribe(client, id, value, timeout, terminal)
        terminal.answer(msgspec.to_builtins(ack), _describe(ack))
        if stream is None:
            return
        with stream:
            for record in stream:
                if isinstance(record, Progress) or record.version >= ack.version:
                    terminal.answer(msgspec.to_builtins(record), describe_delivery(record))


def _subscribe(client: Client, id: str, value: bytes, timeout: float, terminal: Terminal) -> Ack:
    ack = client.subscribe_all({id: value}, timeout)[id]
    if ack.status == "refused":
        if terminal.as_json:
            terminal.answer(msgspec.to_builtins(ack))
        raise Refused(ack)
    return ack


def read_params(text: str) -> list[JsonValue]:
    """Return the constants of a template. Raises UserError if the text is no JSON array."""
    try:
        params = json_text.loads(text)
    except ValueError as error:
        raise UserError(f"--params: expected a JSON array, got {text!r} ({error}). Correct it.") from None
    if not isinstance(params, list):
        raise UserError(f"--params: expected a JSON array, got {text!r}. Put the constants in brackets.")
    return params


def describe_delivery(record: Delivery | Progress) -> str:
    """Return one line for a person."""
    if isinstance(record, Progress):
        return f"progress  epoch {record.epoch} batch {record.batch}"
    said = f"{_shown(record.old)} -> {_shown(record.new)}"
    if record.added is not None:
        said = " ".join([f"+{_shown(v)}" for v in record.added] + [f"-{_shown(v)}" for v in record.removed or ()])
    if record.changes > 1:
        said += f" ({record.changes} changes)"
    where = f"epoch {record.at.epoch} batch {record.at.batch}"
    if record.at.topic is not None:
        where += f" {record.at.topic}/{record.at.partition}/{record.at.offset}"
    reason = f" ({record.reason})" if record.reason else ""
    return f"{record.id}  {record.kind} {record.n}: {said}{reason}  {where}"


def _describe(ack: Ack) -> str:
    at = f" from epoch {ack.at.epoch} batch {ack.at.batch} on" if ack.at else ""
    return f"{ack.id} is {ack.status}{at} (version {ack.version}, {ack.cost or 'no cost class'})"


def _shown(value: Answer) -> str:
    return msgspec.json.encode(value).decode()
