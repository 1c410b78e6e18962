"""How many columns a `SELECT *` shows."""

from typing import Any

import pytest

from tidewire.verification.records.forms import Delivery, Where
from tidewire.verification.records.lifetimes import Life
from tidewire.verification.records.width import width_of


def life(ack: dict[str, Any] | None, *added: Any) -> Life:
    return Life(
        "s", 0, 0, delivered=[Delivery("s", "snapshot", 0, 1, Where(0, 0), removed=[], added=list(added))], ack=ack
    )


def test_the_ack_names_them() -> None:
    assert width_of(life({"shape": '["t",["a","b"],[],["a"],[],[0]]'}, ["x"])) == 2


@pytest.mark.parametrize("ack", [None, {}, {"shape": None}, {"shape": "["}, {"shape": '["t"]'}, {"shape": '["t","x"]'}])
def test_else_the_first_row_shows_them(ack: dict[str, Any] | None) -> None:
    assert width_of(life(ack, ["x", "y", None], ["z"])) == 3
    assert width_of(life(ack, [0, ["x", "y"]], [1, ["x", "z"]])) == 2
    assert width_of(life(ack)) is None
