"""Which subscription a request names, in its path or its query: the bytes that were sent, and no others.

A server decodes percent-escapes leniently: bytes that are no UTF-8 become U+FFFD, so that `%ff` and `%fe` would name
one subscription. Here they become halves of characters, which `catalog/query/subscription_id.py` refuses.
"""

from __future__ import annotations

from urllib.parse import parse_qsl, unquote

from starlette.convertors import Convertor, register_url_convertor
from starlette.requests import HTTPConnection

IN_PATH = "/subscriptions/{identifier:identifier}"
"""The route; `register_identifiers` must have been called."""
_BEFORE = "/subscriptions/"


class _AnyCharacters(Convertor[str]):
    """All characters, also line ends: what is wrong with an id is for its rule to say."""

    regex = "(?s:.*)"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


def register_identifiers() -> None:
    """Let routes have identifiers. Doing it again changes nothing."""
    register_url_convertor("identifier", _AnyCharacters())


def identifier_in_path(asked: HTTPConnection, below: str = "") -> str:
    """Return the id in `/subscriptions/{id}{below}`; a `below` that is percent-escaped belongs to the id."""
    raw: bytes = asked.scope["raw_path"]
    path = raw.decode("latin-1").removeprefix(_BEFORE).removesuffix(below)
    return unquote(path, errors="surrogateescape")


def identifiers_in_query(asked: HTTPConnection) -> list[str]:
    """Return the ids of `?id=a&id=b`, each once, in their order."""
    query: bytes = asked.scope["query_string"]
    pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True, errors="surrogateescape")
    return list(dict.fromkeys(value for name, value in pairs if name == "id"))
