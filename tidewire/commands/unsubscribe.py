"""`tidewire unsubscribe`: end a subscription."""

from __future__ import annotations

from typing import Annotated

import typer

from connectors.kafka.reader import Reader
from state.errors import UserError
from tidewire.client.connection import find_stack, kafka_properties, open_client, topics_of
from tidewire.client.registry import Registry
from tidewire.client.subscription_record import ending_key
from tidewire.options import BootstrapOption, ConfigOption, DataDirOption, JsonOption, PrefixOption
from tidewire.terminal import Terminal


class NoSubscription(UserError):
    """What is to be ended does not exist, or has ended by itself: `reason`."""

    code = "unknown_subscription"

    def __init__(self, id: str, reason: str | None) -> None:
        over = "" if reason is None else f" any more, it has ended ({reason})"
        super().__init__(
            f"there is no such subscription{over}: `{id}`. `tidewire subscriptions` lists those there are."
        )


def unsubscribe(
    id: Annotated[str, typer.Argument(help="The subscription's id.")],
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    bootstrap: BootstrapOption = None,
    prefix: PrefixOption = None,
    json: JsonOption = False,
) -> None:
    """End the subscription ID; its last delivery says `ended`. Exit 2, and nothing is written, where there is none."""
    ending_key(id)
    settings = find_stack(config, data_dir, bootstrap, prefix)
    with open_client(settings) as client:
        found = Registry(Reader(kafka_properties(settings)), topics_of(settings)).find(id)
        if found is None or found.status == "ended":
            raise NoSubscription(id, None if found is None else found.reason)
        client.unsubscribe(id)
    Terminal(json).answer({"id": id, "status": "unsubscribing"}, f"{id}: asked to end; its last delivery says so")
