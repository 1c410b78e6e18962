from __future__ import annotations

from state.errors import TidewireError
from state.lattices.lattice import Contradiction
from state.lattices.row import Row
from state.lattices.tick import Tick
from tests.state.lattices.law import contradicts


def test_a_contradiction_says_which_statements_and_what_to_do() -> None:
    error = Contradiction(Tick.of(1), Tick.of(2))
    assert isinstance(error, TidewireError) and error.code == "contradiction"
    assert "`Tick(known=True, value=1)` and `Tick(known=True, value=2)` cannot both be true" in str(error)


def test_nothing_has_changed_where_a_later_part_contradicts() -> None:
    contradicts(Row((Tick(), Tick.of(1))), Row((Tick.of(5), Tick.of(2))))


def test_what_is_merged_in_stays_its_own() -> None:
    one, other = Row((Tick(),)), Row((Tick(),))
    assert not one.merge(other)
    assert one.merge(Row((Tick.of(1),)))
    assert other.now == (None,) and one.now == (1,)


def test_values_of_other_types_are_not_equal() -> None:
    assert Tick() != Row(())
    assert Tick() != 0
