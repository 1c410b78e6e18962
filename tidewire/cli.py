"""The command line: `tidewire COMMAND`, and what becomes of an error.

A command is a file of `tidewire/commands` with a function of its name (or a typer app called `app`). It is imported
when it is called, so that `tidewire --help` is fast and a command whose extra is not installed disturbs no other.
Exit codes: see `tidewire.stack.failure`.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from state.errors import TidewireError, UserError
from tidewire.stack.loading import loading

COMMANDS = {
    "up": "Run broker, engine and edges on this machine until Ctrl-C.",
    "doctor": "Check beforehand what `up` needs, and fetch the jars.",
    "demo": "See it at work, and every delivery verified.",
    "apply": "Declare tables (and drop them) while everything runs.",
    "publish": "Publish rows of a table.",
    "silence": "Say that a stream has no more rows from before a time.",
    "subscribe": "Register a standing question, and follow its answer.",
    "unsubscribe": "End a subscription.",
    "subscriptions": "List subscriptions, with their answers' state.",
    "explain": "Show what a subscription is compiled to and what it costs.",
    "status": "Show tables, lag, warnings, engine and edges.",
    "tail": "Print a topic's records as they come.",
    "rows": "Show a table's rows, now or as they were.",
    "rebuild": "Have a lost or damaged state made anew from the log.",
    "backtest": "See what a question would have told, from the log.",
    "log": "Show how far the log of all publications reaches.",
    "replay": "Publish again what the log holds, into another prefix.",
    "verify": "Recompute every delivery independently and compare.",
    "scenario": "Run scenario files: steps and expected answers.",
    "engine": "Run the engine alone, on any Spark master.",
    "edge": "Run one edge alone.",
    "token": "Make a token for the edges' HTTP side.",
}


class LazyCommands(TyperGroup):
    """The commands of `COMMANDS`, each imported when it is called."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names, in the order in which a newcomer needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import a command; None when there is no such."""
        if cmd_name not in COMMANDS:
            return None
        with loading():
            module = importlib.import_module(f"tidewire.commands.{cmd_name}")
        app = getattr(module, "app", None)
        if app is None:
            app = typer.Typer(add_completion=False, rich_markup_mode=None)
            app.command(name=cmd_name)(getattr(module, cmd_name))
        command = get_command(app)
        command.name = cmd_name
        return command

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list for `--help` without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"tidewire {version('tidewire')}")
        raise typer.Exit


application = typer.Typer(cls=LazyCommands, add_completion=False, rich_markup_mode=None, no_args_is_help=True)


@application.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Standing SQL questions over changing data: declare tables, publish rows, hear when your answer changes."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and end the process with the exit code."""
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code; every error becomes one message on standard error."""
    try:
        result = get_command(application).main(
            args=None if arguments is None else list(arguments), prog_name="tidewire", standalone_mode=False
        )
    except (typer.Abort, KeyboardInterrupt):
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except Exception as error:
        return report(error)
    return result if isinstance(result, int) else 0


def report(error: Exception) -> int:
    """Print an error for a person and return the exit code. With TIDEWIRE_DEBUG set it is raised instead."""
    if hasattr(error, "show") and hasattr(error, "exit_code"):  # a usage error of typer, which has no public class
        error.show()
        return int(error.exit_code)
    if os.environ.get("TIDEWIRE_DEBUG"):
        raise error
    if isinstance(error, TidewireError):
        print(f"tidewire: {error}", file=sys.stderr)
        return int(getattr(error, "exit_code", 2 if isinstance(error, UserError) else 1))
    print(f"tidewire: {type(error).__name__}: {error}", file=sys.stderr)
    print("This is not one of the errors we foresee; TIDEWIRE_DEBUG=1 shows where it comes from.", file=sys.stderr)
    return 1


if __name__ == "__main__":
    main()
