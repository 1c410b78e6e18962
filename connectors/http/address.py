"""Where an HTTP server is: scheme, host and port, and the path that a proxy puts before ours.

    edge-1:8085                             plain HTTP; how edges have always named themselves to each other
    http://[::1]:8085
    https://edge-1.example.org:8443/base    behind a proxy that speaks TLS and takes `/base` away

Hosts are compared as a browser compares origins: letters of either case are the same, an IP address is the same however
it is written in full, and nothing else is: `127.1` is a name like any other.
"""

from __future__ import annotations

import ipaddress
import re
from contextlib import suppress
from dataclasses import dataclass

_PORTS = {"http": 80, "https": 443}
_AUTHORITY = re.compile(r"(?:\[([0-9a-f:.]{2,45})\]|([a-z0-9_][a-z0-9._-]{0,252}))(?::([0-9]{0,5}))?", re.ASCII)
_LARGEST_PORT = 65_535
_PATH = re.compile(r"(/[A-Za-z0-9._~-]+)*", re.ASCII)


@dataclass(frozen=True, slots=True)
class HttpAddress:
    """An address. `port` is None where none is written, which means the scheme's own."""

    scheme: str
    host: str
    port: int | None
    path: str = ""

    @property
    def place(self) -> tuple[str, int]:
        """Host and port, the scheme's own where none is written."""
        return self.host, self.port or _PORTS[self.scheme]

    @property
    def origin(self) -> tuple[str, str, int]:
        """What a browser compares."""
        return self.scheme, *self.place

    @property
    def authority(self) -> str:
        """`host` or `host:port`, as in a URL."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port is None else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """The URL, without a slash at the end."""
        return f"{self.scheme}://{self.authority}{self.path}"

    @property
    def label(self) -> str:
        """`host:port` where that says all, else the URL."""
        return self.authority if self.scheme == "http" and not self.path else self.url


def parse_address(text: str) -> HttpAddress:
    """Return the address that `text` writes, as a URL or without a scheme, which means `http`.

    Raises:
        ValueError: it is neither; user names, queries and percent-encoded hosts are refused, too.
    """
    scheme, mark, rest = text.partition("://")
    if not mark:
        scheme, rest = "http", text
    authority, slash, path = rest.partition("/")
    place, path = parse_authority(authority), (slash + path).rstrip("/")
    if scheme.lower() not in _PORTS or place is None or not _PATH.fullmatch(path):
        raise ValueError(f"{text!r} is no address of an HTTP server")
    return HttpAddress(scheme.lower(), *place, path)


def parse_authority(text: str) -> tuple[str, int | None] | None:
    """Return host and port of `host[:port]`, as in a `Host` header; None where that is not what `text` is."""
    found = _AUTHORITY.fullmatch(text.lower())
    if found is None:
        return None
    six, name, digits = found.groups()
    if six is not None and not _is_ipv6(six):
        return None
    port = int(digits) if digits else None
    if port is not None and not 0 < port <= _LARGEST_PORT:
        return None
    return canonical_host(six or name), port


def origin_of(text: str) -> tuple[str, str, int] | str:
    """Return scheme, host and port of an origin; what is none of a web page as it is, in small letters.

    >>> origin_of("https://Example.org:443"), origin_of("null")
    (('https', 'example.org', 443), 'null')
    """
    with suppress(ValueError):
        if "://" in text and not text.endswith("/"):
            address = parse_address(text)
            return text.lower() if address.path else address.origin
    return text.lower()


def as_browsers_write(origin: str) -> str:
    """Return an origin as a browser sends it: in small letters, without the port that its scheme means.

    >>> as_browsers_write("https://Example.org:443"), as_browsers_write("http://a:8085"), as_browsers_write("*")
    ('https://example.org', 'http://a:8085', '*')
    """
    found = origin_of(origin)
    if isinstance(found, str):
        return found
    scheme, host, port = found
    return HttpAddress(scheme, host, None if port == _PORTS[scheme] else port).url


def canonical_host(text: str) -> str:
    """Return a name in small letters or an IP address in its one form; an IPv4 address within IPv6 as IPv4."""
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return text.lower()
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(mapped or address)


def _is_ipv6(text: str) -> bool:
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return True
