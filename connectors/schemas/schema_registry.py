"""The schema registry over HTTP: what a schema's number stands for, as Confluent's API says it (Apicurio's, too).

    GET /schemas/ids/7?format=serialized            the schema; `references` name those that it uses
    GET /subjects/S/versions/V?format=serialized    one of these

What comes back is the text that a table could list as 'schema.7': an Avro schema, or descriptors in base64, whole in
itself. A number never changes its meaning, so a text is kept for as long as the process lives, and a batch that is
replayed reads the same. Two things must not look alike:

- The registry says that it has no such schema (a 404 with one of its own codes, also a moment later: a follower may be
  late): `NoSchema`, and the record is at fault.
- It says nothing, or something else: asked again for `patience` seconds, then `RegistryFailure`: the batch
  fails as a whole.
"""

from __future__ import annotations

import base64
import http.client
import json
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from urllib.parse import quote

from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, stop_after_delay, wait_random_exponential

from state.errors import TidewireError

_MOST_BYTES = 8_000_000
_SECONDS = 5.0
_LATE_ATTEMPTS = 4
_UNKNOWN_SECONDS = 30.0
_MANY_UNKNOWN = 20
_NOT_FOUND = (40401, 40402, 40403)
_PASSING = (408, 425, 429, 500, 502, 503, 504)
_ACCEPT = "application/vnd.schemaregistry.v1+json, application/json"


class RegistryFailure(TidewireError):
    """The registry has not said what a schema is, so records cannot be read now."""

    code = "registry"
    retry_helps = True


class NoSchema(Exception):
    """The registry has no such schema, or what it has is none of the table's format."""


@dataclass(frozen=True, slots=True)
class Registry:
    """Where the registry is. `credentials` are `user:password`; `patience` in seconds."""

    url: str
    credentials: str = field(default="", repr=False)
    patience: float = 30.0

    def schema(self, number: int) -> dict[str, Any]:
        """Return the answer about a schema's number. Raises NoSchema, RegistryFailure."""
        return _late(self, f"schemas/ids/{number}")

    def version(self, reference: dict[str, Any]) -> dict[str, Any]:
        """Return the answer about a schema that another one names. Raises NoSchema, RegistryFailure."""
        subject, version = quote(str(reference.get("subject")), safe=""), quote(str(reference.get("version")), safe="")
        return _late(self, f"subjects/{subject}/versions/{version}")


_in_use: Registry | None = None


def use_registry(registry: Registry | None) -> None:
    """Say which registry this process asks: there is one for all tables, by the settings."""
    global _in_use
    _in_use = registry


def registry_in_use() -> Registry | None:
    """Return the registry that this process asks."""
    return _in_use


class _Passing(Exception):
    """Worth asking again."""


class _NotRedirected(urllib.request.HTTPRedirectHandler):
    """Credentials go to the address that was set, and to no other."""

    def redirect_request(self, *args: Any) -> None:
        return None


_OPENER = urllib.request.build_opener(_NotRedirected)
_unknown: dict[tuple[Registry, str], tuple[float, str]] = {}


def _late(registry: Registry, path: str) -> dict[str, Any]:
    """Believe that something is unknown only when it is so for a moment; remember that for a while.

    Where many numbers are unknown, records are not of this registry, and nothing is waited for.
    """
    now = time.monotonic()
    until, why = _unknown.get((registry, path), (now, ""))
    if now < until:
        raise NoSchema(why)
    for key in [key for key, (until, _) in _unknown.items() if until <= now]:
        del _unknown[key]
    attempts = Retrying(
        retry=retry_if_exception_type(NoSchema),
        stop=stop_after_attempt(_LATE_ATTEMPTS if len(_unknown) < _MANY_UNKNOWN else 1),
        wait=wait_random_exponential(0.1, max=1.0),
        reraise=True,
    )
    try:
        return attempts(_answer, registry, path)
    except NoSchema as error:
        _unknown[registry, path] = time.monotonic() + _UNKNOWN_SECONDS, str(error)
        raise


@lru_cache(maxsize=4096)
def _answer(registry: Registry, path: str) -> dict[str, Any]:
    attempts = Retrying(
        retry=retry_if_exception_type(_Passing),
        stop=stop_after_delay(registry.patience),
        wait=wait_random_exponential(0.1, max=5.0),
        reraise=True,
    )
    try:
        return attempts(_ask, registry, path)
    except _Passing as error:
        raise _failure(registry, path, f"{error}, for {registry.patience:g} s") from None


def _ask(registry: Registry, path: str) -> dict[str, Any]:
    request = urllib.request.Request(f"{registry.url.rstrip('/')}/{path}?format=serialized")
    request.add_header("Accept", _ACCEPT)
    if registry.credentials:
        request.add_header("Authorization", f"Basic {base64.b64encode(registry.credentials.encode()).decode()}")
    try:
        with _OPENER.open(request, timeout=_SECONDS) as response:
            return _document(registry, path, response.read(_MOST_BYTES + 1))
    except urllib.error.HTTPError as error:
        raise _refusal(registry, path, error) from None
    except (OSError, http.client.HTTPException) as error:
        raise _Passing(f"{getattr(error, 'reason', error) or type(error).__name__}") from None


def _refusal(registry: Registry, path: str, error: urllib.error.HTTPError) -> Exception:
    if error.code in _PASSING:
        return _Passing(f"it answers {error.code}")
    if error.code == 404:
        try:
            document = json.loads(error.read(_MOST_BYTES))
        except (ValueError, RecursionError, OSError, http.client.HTTPException):
            document = None
        if isinstance(document, dict) and document.get("error_code") in _NOT_FOUND:
            return NoSchema(f"the registry does not know it ({path})")
        return _failure(registry, path, "it answers 404, but not as a schema registry does. Correct `registry`")
    hint = ". Correct `registry_credentials`" if error.code in (401, 403) else ""
    return _failure(registry, path, f"it answers {error.code}{hint}")


def _document(registry: Registry, path: str, data: bytes) -> dict[str, Any]:
    try:
        document = json.loads(data) if len(data) <= _MOST_BYTES else None
    except (ValueError, RecursionError):
        document = None
    if isinstance(document, dict) and isinstance(document.get("schema"), str):
        uses = document.get("references") or []
        if isinstance(uses, list) and all(isinstance(one, dict) for one in uses):
            return document | {"references": uses}
    raise _failure(registry, path, "its answer holds no schema. Correct `registry`")


def _failure(registry: Registry, path: str, what: str) -> RegistryFailure:
    return RegistryFailure(
        f"the schema registry {registry.url} does not say what {path} is: {what}. No record is lost."
    )
