"""A schema registry, asked over HTTP by Confluent's API: what a number stands for, and what that uses.

    GET /schemas/ids/7?format=serialized
    GET /subjects/S/versions/V?format=serialized

What it said once is kept. Where it says nothing for `patience` seconds, or that it may not, it is not asked again.
"""

from __future__ import annotations

import base64
import http.client
import json
import urllib.error
import urllib.request
from typing import Any, NamedTuple
from urllib.parse import quote

from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_random_exponential

from tidewire.verification.schemas.schema_fault import NoSchema

_SECONDS = 5.0
_MOST_BYTES = 8_000_000
_PASSING = {408, 425, 429, 500, 502, 503, 504}
_UNKNOWN = {40401, 40402, 40403}


class Silent(Exception):
    """Why nobody has said what a schema is, so that records cannot be judged."""


class Use(NamedTuple):
    """Another schema, by the name that one uses it by."""

    name: str
    subject: str
    version: str


class Answer(NamedTuple):
    """A schema: `kind` is AVRO, PROTOBUF or JSON."""

    kind: str
    text: str
    uses: list[Use]


class _Away(Exception):
    """Worth asking again."""


class _Staying(urllib.request.HTTPRedirectHandler):
    """Credentials go nowhere else."""

    def redirect_request(self, *args: Any) -> None:
        return None


_OPENER = urllib.request.build_opener(_Staying)


class Registry:
    """The registry at `url`; `credentials` are `user:password`."""

    def __init__(self, url: str, credentials: str = "", patience: float = 10.0) -> None:
        self._url, self._credentials, self._patience = url.rstrip("/"), credentials, patience
        self._said: dict[str, Answer] = {}
        self._silent: str | None = None

    def schema(self, number: int) -> Answer:
        """Return the schema of a number. Raises NoSchema, Silent."""
        return self._answer(f"schemas/ids/{number}")

    def version(self, use: Use) -> Answer:
        """Return a schema that another one uses. Raises NoSchema, Silent."""
        return self._answer(f"subjects/{quote(use.subject, safe='')}/versions/{quote(use.version, safe='')}")

    def _answer(self, path: str) -> Answer:
        if path not in self._said:
            if self._silent is not None:
                raise Silent(self._silent)
            try:
                self._said[path] = self._asked(path)
            except (_Away, Silent) as why:
                self._silent = f"the schema registry {self._url} does not say what {path} is: {why}"
                raise Silent(self._silent) from None
        return self._said[path]

    def _asked(self, path: str) -> Answer:
        attempts = Retrying(
            retry=retry_if_exception_type(_Away),
            stop=stop_after_delay(self._patience),
            wait=wait_random_exponential(0.1, max=2.0),
            reraise=True,
        )
        return attempts(self._ask, path)

    def _ask(self, path: str) -> Answer:
        request = urllib.request.Request(f"{self._url}/{path}?format=serialized")
        request.add_header("Accept", "application/vnd.schemaregistry.v1+json, application/json")
        if self._credentials:
            request.add_header("Authorization", f"Basic {base64.b64encode(self._credentials.encode()).decode()}")
        try:
            with _OPENER.open(request, timeout=_SECONDS) as response:
                return _read(response.read(_MOST_BYTES))
        except urllib.error.HTTPError as error:
            raise _refusal(error) from None
        except (OSError, http.client.HTTPException) as error:
            raise _Away(str(error) or type(error).__name__) from None


def _refusal(error: urllib.error.HTTPError) -> Exception:
    """Return what an answer means that is no schema. Only a registry's own codes say that there is none."""
    if error.code in _PASSING:
        return _Away(f"it answers {error.code}")
    if error.code == 404 and _code(error) in _UNKNOWN:
        return NoSchema("the registry does not know it")
    return Silent(f"it answers {error.code}")


def _code(error: urllib.error.HTTPError) -> object:
    try:
        return json.loads(error.read(_MOST_BYTES))["error_code"]
    except (ValueError, KeyError, TypeError, RecursionError, OSError, http.client.HTTPException):
        return None


def _read(data: bytes) -> Answer:
    try:
        document = json.loads(data)
        uses = [Use(*(str(one.get(part)) for part in Use._fields)) for one in document.get("references") or ()]
        text = document["schema"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        text = None
    if not isinstance(text, str):
        raise Silent("its answer is no schema")
    return Answer(str(document.get("schemaType") or "AVRO"), text, uses)
