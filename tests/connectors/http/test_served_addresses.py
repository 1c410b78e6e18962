"""At which addresses an edge is at home, against an enumeration of every text that names one of them."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from connectors.http.address import origin_of, parse_address, parse_authority
from connectors.http.served_addresses import ServedAddresses

HOSTS = ("localhost", "127.0.0.1", "[::1]", "edge-1", "[fd00::1]", "10.0.0.7", "evil.example", "0.0.0.0", "127.1")
PORTS = (80, 443, 8085, 8086)
hosts, ports = st.sampled_from(HOSTS), st.sampled_from(PORTS)
said_ports = st.none() | ports
entries = st.tuples(st.sampled_from(["", "http://", "https://"]), hosts, said_ports)
Entry = tuple[str, str, int | None]


def text(host: str, port: int | None) -> str:
    return host if port is None else f"{host}:{port}"


def naive_origins(home: str, own: tuple[str, int], listed: list[Entry]) -> set[str]:
    """Return every origin with its port written out."""
    found = {f"http://{host}:{own[1]}" for host in ("localhost", "127.0.0.1", "[::1]", home, own[0])}
    for scheme, host, port in listed:
        if scheme == "https://":
            found.add(f"https://{host}:{port or 443}")
        elif port is None:
            found |= {f"http://{host}:80", f"http://{host}:{own[1]}"}
        else:
            found.add(f"http://{host}:{port}")
    return found


def naive_hosts(origins: set[str]) -> set[str]:
    """Return every `Host` that names one of `origins`."""
    found = set()
    for origin in origins:
        scheme, _, place = origin.partition("://")
        found.add(place)
        default = {"http": ":80", "https": ":443"}[scheme]
        if place.endswith(default):
            found.add(place.removesuffix(default))
    return found


@given(hosts, hosts, ports, st.lists(entries, max_size=3), st.none() | entries)
def test_it_serves_what_the_naive_twin_does(
    home: str, here: str, port: int, names: list[Entry], advertised: Entry | None
) -> None:
    parsed = [parse_address(scheme + text(host, at)) for scheme, host, at in names]
    told = parse_address(advertised[0] + text(*advertised[1:])) if advertised else None
    served = ServedAddresses(home.strip("[]"), tuple(parsed), told)
    own = (here.strip("[]"), port)
    origins = naive_origins(home, (here, port), [*names, *([advertised] if advertised else [])])
    for host, said in product(HOSTS, (None, *PORTS)):
        asked = parse_authority(text(host, said))
        assert asked is not None
        assert served.serves(*asked, own) == (text(host, said) in naive_hosts(origins)), (host, said)
        for scheme in ("http", "https"):
            full = f"{scheme}://{host}:{said or {'http': 80, 'https': 443}[scheme]}"
            assert (origin_of(f"{scheme}://{text(host, said)}") in served.origins(own)) == (full in origins)


def test_what_is_named_in_a_message_is_served() -> None:
    own = ("127.0.0.1", 8085)
    assert ServedAddresses().example(own) == "http://localhost:8085"
    assert ServedAddresses(advertised=parse_address("https://e:1/b")).example(own) == "https://e:1/b"
    assert ServedAddresses().base == ""
    assert ServedAddresses(advertised=parse_address("e:1")).base == "http://e:1"
