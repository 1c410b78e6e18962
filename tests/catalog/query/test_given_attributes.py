"""What is known of a subscriber goes into its statement, and cannot be said otherwise in it."""

from __future__ import annotations

import pytest

from catalog.query.compiler import Compiler
from catalog.query.given_attributes import with_attributes
from catalog.sql.errors import SubscriptionError
from tests.catalog.chosen import CATALOG

KNOWN = {"region": "no'rth", "other": True}


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT k FROM plain", "SELECT k FROM plain"),
        ("SELECT id FROM offer", "SELECT id FROM offer ATTRIBUTES (region = 'no''rth')"),
        (
            "select id FROM Offer o; NOTIFY LATEST;",
            "select id FROM Offer o ATTRIBUTES (region = 'no''rth'); NOTIFY LATEST;",
        ),
        (
            "SELECT id FROM offer -- ATTRIBUTES (",
            "SELECT id FROM offer ATTRIBUTES (region = 'no''rth') -- ATTRIBUTES (",
        ),
        (
            "SELECT id FROM offer WHERE v > 1 attributes (AGE = 3) TTL 5",
            "SELECT id FROM offer WHERE v > 1 attributes (AGE = 3, region = 'no''rth') TTL 5",
        ),
        ("SELECT 'open", "SELECT 'open"),
        ("SELECT id FROM offer TTL 0", "SELECT id FROM offer TTL 0"),
    ],
)
def test_a_statement_gets_what_its_table_asks_for(sql: str, expected: str) -> None:
    assert with_attributes(CATALOG, sql, KNOWN) == (expected, [])


def test_holes_get_their_values() -> None:
    template = "SELECT id FROM offer WHERE v > ? ATTRIBUTES (age = ?)"
    made, values = with_attributes(CATALOG, template, KNOWN, holes=True)
    assert (made, values) == ("SELECT id FROM offer WHERE v > ? ATTRIBUTES (age = ?, region = ?)", ["no'rth"])
    assert Compiler(CATALOG).compile_template(made, [1, 2, *values]).sql.endswith("(age = 2, region = 'no''rth')")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id FROM offer ATTRIBUTES (region = 'south', age = 3)",
        "SELECT id FROM offer ATTRIBUTES (age = 3, REGION = 'south')",
        "SELECT id FROM offer ATTRIBUTES (age = 3, \"region\" = 'south')",
        "SELECT id FROM offer ATTRIBUTES ((region) = 'south', age = 3)",
        "SELECT id FROM offer ATTRIBUTES (offer.region = 'south', age = 3)",
        "(SELECT id FROM offer ATTRIBUTES (region = 'south', age = 3))",
        "SELECT id FROM (offer) ATTRIBUTES (region = 'south', age = 3)",
        "SELECT id FROM ONLY offer ATTRIBUTES (region = 'south', age = 3)",
        "SELECT id FROM plain.offer ATTRIBUTES (region = 'south', age = 3)",
        "SELECT id FROM plain, offer ATTRIBUTES (region = 'south', age = 3)",
        "SELECT id FROM nothing ATTRIBUTES (region = 'south', age = 3)",
        "SELECT id ATTRIBUTES (region = 'south', age = 3)",
        "WITH o AS (SELECT * FROM plain) SELECT id FROM offer ATTRIBUTES (region = 'south', age = 3)",
        "SELECT id FROM plain; SELECT id FROM offer ATTRIBUTES (region = 'south', age = 3)",
        "SELECT id FROM /* FROM plain */ offer ATTRIBUTES (region = 'south', age = 3)",
    ],
)
def test_nothing_else_can_be_said_of_what_is_known(sql: str) -> None:
    with pytest.raises(SubscriptionError):
        Compiler(CATALOG).compile(with_attributes(CATALOG, sql, KNOWN)[0])


def test_a_value_is_a_scalar() -> None:
    with pytest.raises(SubscriptionError, match="attribute `region`: expected null, a boolean"):
        with_attributes(CATALOG, "SELECT id FROM offer", {"region": ["north"]})
