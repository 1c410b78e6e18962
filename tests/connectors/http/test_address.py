"""Addresses of HTTP servers as people, edges and requests write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.http.address import canonical_host, origin_of, parse_address, parse_authority


@pytest.mark.parametrize(
    ("text", "label", "url"),
    [
        ("edge-1:8085", "edge-1:8085", "http://edge-1:8085"),
        ("EDGE_1", "edge_1", "http://edge_1"),
        ("http://a:1/", "a:1", "http://a:1"),
        ("[::1]:8085", "[::1]:8085", "http://[::1]:8085"),
        ("[0:0:0:0:0:0:0:1]:8085", "[::1]:8085", "http://[::1]:8085"),
        ("https://Edge-1.example.org", "https://edge-1.example.org", "https://edge-1.example.org"),
        ("https://edge-1:8443/base/", "https://edge-1:8443/base", "https://edge-1:8443/base"),
        ("http://edge-1:80/a/b", "http://edge-1:80/a/b", "http://edge-1:80/a/b"),
    ],
)
def test_what_is_an_address(text: str, label: str, url: str) -> None:
    address = parse_address(text)
    assert (address.label, address.url) == (label, url)
    assert parse_address(address.label) == parse_address(address.url) == address


@pytest.mark.parametrize(
    "text",
    ["", "a b", "a:b", "a:0", "a:65536", "a:-1", "u@a", "ftp://a", "//a", "https://", "https://a?x", "https://a#x",
     "https://a/b c", "https://a/%2e", "a\r\nb", "[::1", "::1", "[1.2.3.4]", "[v1.x]", "[::1%25lo]", "é", "-a", "a:1:2",
     "https://a//b", "http://http://a", "\u212a\u212a:b"],
)  # fmt: skip
def test_what_is_none(text: str) -> None:
    with pytest.raises(ValueError, match="no address"):
        parse_address(text)


@pytest.mark.parametrize("written", ["1.2.3.4", "[::ffff:1.2.3.4]", "[::FFFF:102:304]"])
def test_an_ip_address_is_the_same_however_it_is_written(written: str) -> None:
    assert parse_authority(written + ":5") == ("1.2.3.4", 5)


@pytest.mark.parametrize("written", ["127.1", "0x7f.0.0.1", "2130706433", "127.0.0.01", "localhost.", "127.0.0.1."])
def test_short_forms_are_names_like_any_other(written: str) -> None:
    host, _ = parse_authority(written) or ("", None)
    assert host not in ("127.0.0.1", "localhost")


def test_a_zone_is_no_part_of_an_address() -> None:
    assert canonical_host("fe80::1%eth0") == "fe80::1"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("https://a", "https://A:443", True),
        ("http://a:80", "http://a", True),
        ("https://a", "http://a", False),
        ("https://a:444", "https://a", False),
        ("http://a:443", "https://a:443", False),
        ("chrome-extension://abc", "chrome-extension://abc", True),
        ("https://a/", "https://a", False),
        ("a", "http://a", False),
        ("null", "http://null", False),
    ],
)
def test_origins(one: str, other: str, same: bool) -> None:
    assert (origin_of(one) == origin_of(other)) is same


@given(st.text(max_size=30) | st.text("aA1:/[].%@\\? \r\n", max_size=12))
def test_any_text_is_an_address_or_is_refused(text: str) -> None:
    try:
        address = parse_address(text)
    except ValueError:
        return
    assert parse_address(address.url) == address
    assert all("!" <= character <= "~" for character in address.url)
