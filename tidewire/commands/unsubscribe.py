"""`tidewire unsubscribe`: end a subscription."""

from __future__ import annotations

from typing import Annotated

import typer

from tidewire.connection import find_stack, open_client
from tidewire.options import BootstrapOption, ConfigOption, DataDirOption, JsonOption, PrefixOption
from tidewire.terminal import Terminal


def unsubscribe(
    id: Annotated[str, typer.Argument(help="The subscription's id.")],
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    bootstrap: BootstrapOption = None,
    prefix: PrefixOption = None,
    json: JsonOption = False,
) -> None:
    """End the subscription ID; its last delivery says `ended`. An id that is unknown changes nothing."""
    with open_client(find_stack(config, data_dir, bootstrap, prefix)) as client:
        client.unsubscribe(id)
    Terminal(json).answer({"id": id, "status": "unsubscribing"}, f"{id}: asked to end; its last delivery says so")
