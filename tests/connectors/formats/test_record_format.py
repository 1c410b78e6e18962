from __future__ import annotations

from dataclasses import replace

import pytest

from connectors.formats.record_format import RecordFormatError, format_of
from connectors.json.format import JsonFormat
from tests.connectors.relations import STOCK


def test_the_format_of_a_relation():
    found = format_of(STOCK)
    assert isinstance(found, JsonFormat)
    assert not found.keyless
    assert format_of(STOCK, keyless=True).keyless


def test_an_unknown_format_names_the_known_ones():
    with pytest.raises(RecordFormatError, match=r"table `stock`.*'json'.*got 'xml'") as error:
        format_of(replace(STOCK, format="xml"))
    assert error.value.code == "unknown_format"
