"""`tidewire token`: make a bearer token for an edge's HTTP side."""

from __future__ import annotations

import re
from typing import Annotated

import msgspec
import typer

from connectors.http.bearer_token import hash_of, new_token
from state.errors import UserError
from tidewire.options import JsonOption

_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}|\*")


class TenantName(UserError):
    """A tenant cannot have this name."""

    code = "tenant_name"


def token(
    tenant: Annotated[str, typer.Argument(help="Its subscriptions' ids begin with `TENANT/`; `*` may see all.")],
    json: JsonOption = False,
) -> None:
    """Make a token for a tenant, and the line that lets edges know it.

    The token is shown once and kept nowhere.
    """
    if not _NAME.fullmatch(tenant):
        raise TenantName(f"a tenant's name has 1 to 64 of A-Z a-z 0-9 . _ -, or is `*`; got {tenant!r}. Name another.")
    made = new_token()
    if json:
        typer.echo(msgspec.json.encode({"tenant": tenant, "token": made, "sha256": hash_of(made)}))
        return
    typer.echo(f"token, for {tenant} alone: {made}")
    typer.echo(f'line for the table [tenants] of the settings: "{tenant}" = "{hash_of(made)}"')
