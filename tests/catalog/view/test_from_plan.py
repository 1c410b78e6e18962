"""FROM: chains of joins, what their columns are called, and which rows of theirs have which key."""

import pytest

from catalog.schema.view import Joined
from tests.catalog.viewed import declared


def joins(query: str) -> list[Joined]:
    return [s.operator for s in declared(query).stages if isinstance(s.operator, Joined)]


def test_a_chain_is_a_stage_for_each_join() -> None:
    query = (
        "SELECT a.flight, t.paid, c.n FROM seat a LEFT JOIN taken t ON t.flight = a.flight"
        " JOIN booked c ON c.flight = a.flight AND t.n = c.n"
    )
    first, second = joins(query)
    assert first == Joined("seat", "taken", (("flight", "flight"),), outer=True, lookup=True)
    assert second.equal == (("0.flight", "flight"), ("1.n", "n"))
    assert (second.left, second.right, second.outer, second.lookup) == ("stage/v/0", "booked", False, False)
    stage = declared(query).stages[1].relation
    assert stage.key == ("0.flight", "2.booking")
    assert [c.nullable for c in stage.columns if c.name.startswith("1.")] == [True, True, True]


@pytest.mark.parametrize(
    ("query", "key", "lookup"),
    [
        ("SELECT a.flight, b.booking FROM seat a JOIN booked b ON a.flight = b.flight", ("flight", "booking"), False),
        ("SELECT a.flight FROM seat a JOIN booked b ON a.flight = b.flight", (), False),
        ("SELECT b.booking FROM booked b JOIN seat a ON a.flight = b.flight", ("booking",), True),
        ("SELECT b.booking FROM booked b JOIN low l ON l.dest = b.flight AND l.n = b.n", ("booking",), True),
        (
            "SELECT a.id, a.symbol FROM trade a JOIN trade b ON a.symbol = b.symbol AND a.id = b.id",
            ("symbol", "id"),
            True,
        ),
    ],
)
def test_a_lookup_keeps_the_key_of_the_left_side(query: str, key: tuple[str, ...], lookup: bool) -> None:
    assert declared(query).relation.key == key
    assert joins(query)[0].lookup is lookup


def test_names_are_written_with_their_table_where_there_are_several() -> None:
    view = declared("SELECT dest, paid FROM seat JOIN taken t ON seat.flight = t.flight WHERE fare > t.n")
    assert view.sql == (
        "SELECT seat.dest, t.paid FROM seat JOIN taken AS t ON seat.flight = t.flight WHERE seat.fare > t.n"
    )
    assert declared("SELECT q.dest FROM seat q").sql == "SELECT dest FROM seat"


def test_stars_are_written_out() -> None:
    assert declared("SELECT * FROM low").sql == "SELECT dest, low, n FROM low"
    both = declared("SELECT l.*, s.flight FROM seat s JOIN low l ON s.dest = l.dest")
    assert both.sql.startswith("SELECT l.dest, l.low, l.n, s.flight FROM seat AS s")
