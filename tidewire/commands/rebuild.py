"""`tidewire rebuild`: have the engine's state made anew from the log."""

from __future__ import annotations

from typing import Annotated

import typer

from connectors.log.publication_log import PublicationLog
from state.errors import UserError
from streaming.checkpoint.files import LocalFiles, is_local_path, local_folder
from streaming.checkpoint.generation import Generations
from tidewire.options import CheckpointOption, ConfigOption, DataDirOption, JsonOption, LogTableOption
from tidewire.settings import load_settings
from tidewire.terminal import Terminal


def rebuild(
    relation: Annotated[str, typer.Argument(help="The table whose state is lost or damaged, or a view of it.")],
    checkpoint: CheckpointOption = None,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    log_table: LogTableOption = None,
    json: JsonOption = False,
) -> None:
    """Ask the engine to rebuild RELATION, and with it all tables, from the log when it starts; a running one does so.

    A new epoch begins. Subscribers hear only of answers that differ. What the state was stays where it is.
    """
    settings = load_settings(config, checkpoint=checkpoint, data_dir=data_dir, log_table=log_table)
    where = settings.checkpoint_location
    if not is_local_path(where):
        raise UserError(
            f"the checkpoint `{where}` is not on this machine: expected a path. Start the engine with a new "
            "`--checkpoint` and `--take-over` instead; it reads what the topics still hold."
        )
    newest = PublicationLog(settings.log_location).newest
    generations = Generations(LocalFiles(local_folder(where)), where)
    generations.ask(relation.lower())
    next_one = generations.location(generations.read().number + 1)
    record = {"table": relation.lower(), "log_version": newest.version, "checkpoint": next_one}
    text = (
        f"asked for: the engine rebuilds `{relation.lower()}` from the log (now at version {newest.version}) into "
        f"{next_one}.\nOne that runs under `tidewire up` starts again by itself; otherwise start it."
    )
    Terminal(json).answer(record, text)
